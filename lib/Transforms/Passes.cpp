//===- Passes.cpp - registration of passes and pipelines ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "Conversion/Passes.h"
#include "Target/CPU/Passes.h"
#include "Target/GPU/Passes.h"
#include "Target/SPIRV/Passes.h"
#include "Transforms/Devices/Passes.h"
#include "Transforms/Dispatch/Passes.h"
#include "Transforms/Fusion/Passes.h"
#include "Transforms/Legalize/Passes.h"
#include "Transforms/Memory/Passes.h"

#include "mlir/Pass/PassRegistry.h"
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

void relax::registerRelaxPasses() {
  registerRelaxShapesPasses();
  registerRelaxSimplifyPasses();
  registerRelaxDispatchPasses();
  registerRelaxDevicesPasses();
  registerRelaxLegalizePasses();
  registerRelaxFusionPasses();
  registerRelaxMemoryPasses();
  registerRelaxConversionPasses();
  registerRelaxCPUPasses();
  registerRelaxCPUPipelines();
  registerRelaxGPUPasses();
  registerRelaxGPUPipelines();
  registerRelaxSPIRVPasses();
  registerRelaxSPIRVPipelines();
  PassPipelineRegistration<>(
      "relax-simplify",
      "inline, deduce, canonicalise, simplify shapes, merge and remove code",
      buildSimplifyPipeline);
}
