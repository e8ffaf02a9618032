//===- Index.cpp - gather and scatter ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Index.cpp.inc"

void RelaxDialect::registerIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Index.cpp.inc"
      >();
}
