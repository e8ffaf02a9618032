//===- Pipelines.cpp - pass pipelines for Vulkan --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"
#include "Target/GPU/Lowering/DeviceImages.h"
#include "Target/GPU/Passes.h"
#include "Target/SPIRV/Image.h"
#include "Target/SPIRV/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::relax;

void relax::buildSPIRVPipeline(OpPassManager &manager,
                               const SPIRVOptions &options) {
  manager.addPass(createOutlineLaunchesPass());
  if (options.overlap) {
    OverlapLaunchesPassOptions overlap;
    overlap.together = true;
    manager.addPass(createOverlapLaunchesPass(overlap));
    manager.addPass(createGridStridePass());
  }
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  // Lower views to arithmetic on offsets.
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  // Indices within a block fit in 32 bits, which devices handle natively.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(arith::createArithUnsignedWhenEquivalentPass());
  arith::ArithIntRangeNarrowingOptions narrow;
  narrow.bitwidthsSupported = {32};
  kernels.addPass(arith::createArithIntRangeNarrowing(narrow));
  kernels.addPass(createExpandMathPass());
  // 8-bit floats and bf16 are only stored; computations use f32.
  ExpandSmallFloatsPassOptions bytes;
  bytes.onlyNormal = true;
  kernels.addPass(createExpandSmallFloatsPass(bytes));
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16"};
  floats.targetTypeStr = "f32";
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  LowerKernelsPassOptions lowering;
  lowering.bound = options.bound;
  lowering.narrow = options.narrow;
  lowering.pushed = options.pushed;
  manager.addPass(createLowerKernelsPass(lowering));
}

void relax::buildVulkanToLLVMPipeline(OpPassManager &manager,
                                      const SPIRVOptions &options) {
  buildSPIRVPipeline(manager, options);
  manager.addPass(createLowerLaunchesPass());
  buildKernelToLLVMPipeline(manager);
}

void relax::registerRelaxSPIRVPipelines() {
  auto find = [](ModuleOp module) {
    return llvm::map_to_vector(
        getSPIRVKernels(module),
        [](spirv::ModuleOp kernel) { return kernel.getOperation(); });
  };
  registerDeviceImage({kVulkan, find, makeSPIRVImage});
  PassPipelineRegistration<SPIRVOptions>(
      "relax-gpu-to-spirv", "launches to SPIR-V", buildSPIRVPipeline);
  PassPipelineRegistration<SPIRVOptions>(
      "relax-vulkan-to-llvm",
      "launches to SPIR-V, and host code to the LLVM dialect",
      buildVulkanToLLVMPipeline);
}
