//===- Normalization.cpp - softmax and norms ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Normalization.cpp.inc"

void RelaxDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Normalization.cpp.inc"
      >();
}
