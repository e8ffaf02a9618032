//===- ScheduleLaunches.cpp - structured ops to launches of a GPU ---------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NormalForm.h"
#include "Target/GPU/MatmulEmitter.h"
#include "Target/GPU/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_SCHEDULELAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static LogicalResult schedule(func::FuncOp kernel, unsigned subgroupSize,
                              bool asVectors) {
  if (failed(bringToNormalForm(kernel)))
    return failure();
  collapseLoops(kernel);
  FailureOr<KernelGraph> graph = KernelGraph::read(kernel, /*rowBlocks=*/false);
  if (failed(graph))
    return failure();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  DenseMap<Value, Storage> storage;
  for (const Nest &nest : graph->nests) {
    if (succeeded(emitMatmul(*graph, nest, builder, kernel.getLoc(), storage,
                             subgroupSize, asVectors)))
      continue;
    int64_t lanes = asVectors ? LaunchEmitter::chooseWidth(*graph, nest) : 1;
    if (failed(LaunchEmitter(*graph, nest, builder, kernel.getLoc(), storage,
                             subgroupSize, lanes)
                   .emit()))
      return failure();
  }
  // What was computed is gone; sizes of it may be left.
  for (bufferization::MaterializeInDestinationOp root : graph->roots)
    root.erase();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

namespace {

struct ScheduleLaunches
    : relax::impl::ScheduleLaunchesPassBase<ScheduleLaunches> {
  using ScheduleLaunchesPassBase::ScheduleLaunchesPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal() || kernel.getNumResults() ||
        kernel.getOps<bufferization::MaterializeInDestinationOp>().empty())
      return;
    for (bool asVectors : {true, false}) {
      OwningOpRef<func::FuncOp> copy = kernel.clone();
      if (succeeded(schedule(kernel, subgroupSize, asVectors)))
        return;
      kernel.getBody().takeBody(copy->getBody());
    }
  }
};

} // namespace
