//===- Pipelines.cpp - pass pipelines for GPUs ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"
#include "Target/GPU/Passes.h"
#include "Transforms/Legalize/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::relax;

void relax::buildKernelLaunchPipeline(OpPassManager &manager,
                                      const LaunchOptions &options) {
  if (!options.chip.empty())
    manager.addPass(createCheckChipPass(CheckChipPassOptions{options.chip}));
  manager.addPass(createConvertKernelBoundaryPass());
  manager.addPass(createOutlineConstantsPass());
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  // Schedules divide by sizes, so remove empty tensors first.
  kernels.addPass(createFoldEmptyTensorsPass());
  ScheduleLaunchesPassOptions schedule;
  schedule.chip = options.chip;
  kernels.addPass(createScheduleLaunchesPass(schedule));
  BufferizeKernelsPassOptions bufferize;
  bufferize.parallelLoops = true;
  kernels.addPass(createBufferizeKernelsPass(bufferize));
  kernels.addPass(createLaunchLoopsPass());
}

/// Whether a chip, such as "sm_90a", has at least this version.
static bool isFrom(unsigned least, StringRef chip) {
  unsigned version = 0;
  chip.consume_front("sm_");
  return !chip.consumeInteger(10, version) && version >= least;
}

/// The PTX version required for a chip.
static StringRef ptxOf(StringRef chip) {
  if (isFrom(110, chip) && !isFrom(120, chip))
    return "+ptx90";
  if (chip.ends_with("f") || chip.contains("103") || isFrom(121, chip))
    return "+ptx88";
  if (isFrom(100, chip))
    return isFrom(120, chip) ? "+ptx87" : "+ptx86";
  return isFrom(89, chip) ? "+ptx81" : "+ptx80";
}

/// Whether kernels of a chip can wait for earlier kernels, and prefetch.
static bool canOverlap(StringRef chip) { return isFrom(90, chip); }

/// Whether a chip can convert 8-bit floats.
static bool hasSmallFloats(StringRef chip) { return isFrom(89, chip); }

static void addDevicePasses(OpPassManager &manager, StringRef chip) {
  if (canOverlap(chip))
    manager.addPass(createOverlapLaunchesPass());
  GpuNVVMAttachTargetOptions target;
  // Including features that are specific to the chip.
  target.chip = chip.str();
  target.features = ptxOf(chip).str();
  target.optLevel = 3;
  manager.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  ExpandSmallFloatsPassOptions floats;
  floats.nvidia = hasSmallFloats(chip);
  kernels.addPass(createExpandSmallFloatsPass(floats));
  kernels.addPass(createExpandCastsPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions convert;
  convert.indexBitwidth = 64;
  kernels.addPass(createConvertGpuOpsToNVVMOps(convert));
  kernels.addPass(createConvertToLLVMPass());
  // LLVM drops prefetches for older chips.
  if (canOverlap(chip))
    kernels.addPass(createLowerPrefetchesPass());
  kernels.addPass(createKeepTensorMapsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  manager.addPass(createConvertNVVMToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = "isa";
  manager.addPass(createGpuModuleToBinaryPass(binary));
}

void relax::buildCUDAToLLVMPipeline(OpPassManager &manager,
                                    const CUDAOptions &options) {
  manager.addPass(createCheckChipPass(CheckChipPassOptions{options.chip}));
  manager.addPass(createOutlineLaunchesPass());
  if (options.chip == "emulated") {
    manager.addNestedPass<gpu::GPUModuleOp>(createExpandMatricesPass());
    manager.addPass(createEmulateLaunchesPass());
  } else {
    addDevicePasses(manager, options.chip);
  }
  manager.addPass(createLowerLaunchesPass());
  buildKernelToLLVMPipeline(manager);
}

void relax::registerRelaxGPUPipelines() {
  PassPipelineRegistration<LaunchOptions>("relax-gpu-bufferize",
                                          "kernels to launches on buffers",
                                          buildKernelLaunchPipeline);
  PassPipelineRegistration<CUDAOptions>(
      "relax-cuda-to-llvm",
      "launches to PTX, and host code to the LLVM dialect",
      buildCUDAToLLVMPipeline);
}
