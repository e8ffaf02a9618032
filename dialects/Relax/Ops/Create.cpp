//===- Create.cpp - tensors from nothing ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Create.cpp.inc"

void RelaxDialect::registerCreateOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Create.cpp.inc"
      >();
}
