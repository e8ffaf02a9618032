//===- Passes.cpp - registers all passes and pipelines --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration/Passes.h"

#include "Conversion/Passes.h"
#include "Target/CPU/Passes.h"
#include "Target/Common/Passes.h"
#include "Target/GPU/Passes.h"
#include "Target/SPIRV/Passes.h"
#include "Transforms/Devices/Passes.h"
#include "Transforms/Dispatch/Passes.h"
#include "Transforms/Fusion/Passes.h"
#include "Transforms/Legalize/Passes.h"
#include "Transforms/Memory/Passes.h"
#include "Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::relax;

void relax::registerRelaxPasses() {
  registerRelaxShapesPasses();
  registerRelaxSimplifyPasses();
  registerRelaxDispatchPasses();
  registerRelaxDevicesPasses();
  registerRelaxLegalizePasses();
  registerRelaxFusionPasses();
  registerRelaxMemoryPasses();
  registerRelaxConversionPasses();
  registerRelaxCommonPasses();
  registerRelaxCommonPipelines();
  registerRelaxCPUPasses();
  registerRelaxCPUPipelines();
  registerRelaxGPUPasses();
  registerRelaxGPUPipelines();
  registerRelaxSPIRVPasses();
  registerRelaxSPIRVPipelines();
  PassPipelineRegistration<>(
      "relax-simplify",
      "inline, deduce, canonicalize, simplify shapes, merge and remove code",
      buildSimplifyPipeline);
}
