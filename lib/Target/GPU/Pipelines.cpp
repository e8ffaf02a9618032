//===- Pipelines.cpp - pass pipelines for GPUs ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"
#include "Target/GPU/Chip.h"
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

/// The PTX version required for an NVIDIA GPU.
static StringRef ptxOf(const Chip &chip) {
  if (chip.isFrom(110) && !chip.isFrom(120))
    return "+ptx90";
  if (chip.suffix == 'f' || chip.version == 103 || chip.isFrom(121))
    return "+ptx88";
  if (chip.isFrom(100))
    return chip.isFrom(120) ? "+ptx87" : "+ptx86";
  return chip.isFrom(89) ? "+ptx81" : "+ptx80";
}

static void addDevicePasses(OpPassManager &manager, StringRef name) {
  // The first pass refuses other names.
  Chip chip = Chip::parse(name).value_or(Chip());
  // Kernels can wait for earlier kernels, and prefetch.
  bool canOverlap = chip.isFrom(90);
  if (canOverlap)
    manager.addPass(createOverlapLaunchesPass());
  GpuNVVMAttachTargetOptions target;
  // Including features that are specific to the chip.
  target.chip = name.str();
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
  floats.nvidia = chip.isFrom(89);
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
  if (canOverlap)
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
