//===- Normalization.h - normalization and softmax --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_NORMALIZATION_H
#define RELAX_OPS_NORMALIZATION_H

#include "Relax/RelaxOpBase.h"

#define GET_OP_CLASSES
#include "Relax/Ops/Normalization.h.inc"

#endif // RELAX_OPS_NORMALIZATION_H
