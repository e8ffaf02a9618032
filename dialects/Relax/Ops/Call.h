//===- Call.h - calls across levels: tensor programs and --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CALL_H
#define RELAX_OPS_CALL_H

#include "Relax/RelaxOpBase.h"

#define GET_OP_CLASSES
#include "Relax/Ops/Call.h.inc"

#endif // RELAX_OPS_CALL_H
