//===- DeduceShapes.cpp - deduce result types ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_DEDUCESHAPESPASS
#include "Transforms/Shapes/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {
struct DeduceShapes : relax::impl::DeduceShapesPassBase<DeduceShapes> {
  void runOnOperation() override {}
};
} // namespace
