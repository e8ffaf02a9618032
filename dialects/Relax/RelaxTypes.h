//===- RelaxTypes.h - types of the relax dialect ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXTYPES_H
#define RELAX_RELAXTYPES_H

#include "Relax/RelaxAttrs.h"
#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "Relax/RelaxTypes.h.inc"

#endif // RELAX_RELAXTYPES_H
