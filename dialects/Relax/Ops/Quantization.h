//===- Quantization.h - quantized tensors -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_QUANTIZATION_H
#define RELAX_OPS_QUANTIZATION_H

#include "Relax/RelaxOpBase.h"

#define GET_OP_CLASSES
#include "Relax/Ops/Quantization.h.inc"

#endif // RELAX_OPS_QUANTIZATION_H
