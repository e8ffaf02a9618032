//===- Passes.cpp - the simplification pipeline ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::relax;

void relax::buildSimplifyPipeline(OpPassManager &manager) {
  // Inlined bodies of private functions see the argument types of the call.
  manager.addPass(createInlinePass());
  // Make types as fine as possible: the following passes rely on them.
  manager.addPass(createDeduceShapesPass());
  // Turns shape computations into expressions and folds proved casts.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createSimplifyShapesPass());
  // Simpler expressions allow more proofs and folds.
  manager.addPass(createDeduceShapesPass());
  manager.addPass(createCanonicalizerPass());
  // Ops must have equal types to be merged.
  manager.addPass(createCSEPass());
  manager.addPass(createDCEPass());
}
