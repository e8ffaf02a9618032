//===- Slice.cpp - slices ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Slice.cpp.inc"

void RelaxDialect::registerSliceOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Slice.cpp.inc"
      >();
}
