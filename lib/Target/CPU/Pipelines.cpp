//===- Pipelines.cpp - pass pipelines for the CPU -------------------------===//
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
  // Switch the kernel interface from tensors to buffers.
  manager.addPass(createConvertKernelBoundaryPass());
  // Function passes must not add globals to the module, so do it here.
  manager.addPass(createOutlineConstantsPass());
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  // Schedules divide by sizes, so remove empty tensors first.
  kernels.addPass(createFoldEmptyTensorsPass());
  if (options.schedule) {
    ScheduleKernelsPassOptions schedule;
    schedule.vectorBits = options.vectorBits;
    kernels.addPass(createScheduleKernelsPass(schedule));
  }
  // Lower kernels without a schedule, and temporaries of scheduled ones.
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
