//===- Pipelines.cpp - the order of the passes for the CPU ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Passes.h"
#include "Target/Common/Passes.h"
#include "Transforms/Legalize/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::relax;

void relax::buildKernelBufferizePipeline(OpPassManager &manager,
                                         const KernelOptions &options) {
  // Kernels in tensor form become ones on buffers.
  manager.addPass(createConvertKernelBoundaryPass());
  // What a kernel may not add to the module by itself.
  manager.addPass(createOutlineConstantsPass());
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  // Schedules divide sizes, so none of them is 0.
  kernels.addPass(createFoldEmptyTensorsPass());
  if (options.schedule) {
    ScheduleKernelsPassOptions schedule;
    schedule.vectorBits = options.vectorBits;
    kernels.addPass(createScheduleKernelsPass(schedule));
  }
  // Whatever no schedule took, and the temporaries of what one did.
  kernels.addPass(createBufferizeKernelsPass());
  OutlineParallelPassOptions parallel;
  parallel.sequential = !options.parallel;
  manager.addPass(createOutlineParallelPass(parallel));
}

void relax::registerRelaxCPUPipelines() {
  PassPipelineRegistration<KernelOptions>("relax-cpu-bufferize",
                                          "kernels to loops on buffers",
                                          buildKernelBufferizePipeline);
}
