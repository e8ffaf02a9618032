//===- Passes.cpp - what makes a program smaller --------------------------===//
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
  // Bodies of private functions see the types of their callers.
  manager.addPass(createInlinePass());
  // As fine as they can be: what follows decides by types.
  manager.addPass(createDeduceShapesPass());
  // Shape computations become expressions, casts that are proved go.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createSimplifyShapesPass());
  // Simpler expressions prove more, and fold more.
  manager.addPass(createDeduceShapesPass());
  manager.addPass(createCanonicalizerPass());
  // Equal types make equal ops.
  manager.addPass(createCSEPass());
  manager.addPass(createDCEPass());
}
