//===- Create.h - creation of tensors ---------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CREATE_H
#define RELAX_OPS_CREATE_H

#include "Relax/RelaxOpBase.h"

#define GET_OP_CLASSES
#include "Relax/Ops/Create.h.inc"

#endif // RELAX_OPS_CREATE_H
