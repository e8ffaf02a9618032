//===- Core.h - shapes, casts, constants, tuples ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CORE_H
#define RELAX_OPS_CORE_H

#include "Relax/RelaxOpBase.h"

#define GET_OP_CLASSES
#include "Relax/Ops/Core.h.inc"

#endif // RELAX_OPS_CORE_H
