//===- Passes.cpp - registration of passes and pipelines ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

void mlir::relax::registerRelaxPasses() {
  registerRelaxShapesPasses();
  registerRelaxSimplifyPasses();
}
