//===- OverlapLaunches.cpp - overlaps consecutive kernels -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of a decoding step are short, and much of their time passes
// before the first load. Each kernel therefore starts while the previous one
// finishes, and waits when it first needs memory. Since all kernels wait,
// everything before the awaited kernel has finished as well. Memory that is
// never written, such as weights, is read before the wait.
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Target/GPU/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Whether `op` reads memory that is never written.
static bool isInvariantLoad(Operation &op) {
  Value buffer;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    buffer = load.getMemRef();
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    buffer = load.getBase();
  else if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op))
    buffer = copy.getSrc();
  else
    return false;
  auto argument = dyn_cast<BlockArgument>(
      memref::skipViewLikeOps(cast<MemrefValue>(buffer)));
  auto kernel = dyn_cast_if_present<gpu::GPUFuncOp>(
      argument ? argument.getOwner()->getParentOp() : nullptr);
  // Block arguments after the parameters are shared memory buffers.
  return kernel && argument.getArgNumber() < kernel.getNumArguments() &&
         kernel.getArgAttr(argument.getArgNumber(), notes::kInvariant);
}

/// Whether `op` does not depend on the completion of other kernels.
static bool isIndependent(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         (isMemoryEffectFree(&op) || isInvariantLoad(op));
}

/// Moves loads of memory that is never written, and their operands, before
/// `place`. Asynchronous copies to shared memory only move if the threads of
/// the block do nothing there before.
static void loadBefore(Operation &place) {
  Block *block = place.getBlock();
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == block && !op->isBeforeInBlock(&place);
  };
  SmallVector<Operation *> loads;
  bool isAtStart = true;
  for (Operation *op = &place; op; op = op->getNextNode()) {
    isAtStart &= !isa<gpu::BarrierOp, scf::ForOp>(op);
    if (isInvariantLoad(*op) &&
        (isAtStart || !isa<nvgpu::DeviceAsyncCopyOp>(op)))
      loads.push_back(op);
  }
  for (Operation *load : loads) {
    llvm::SetVector<Operation *> needed;
    if (failed(getBackwardSlice(load, &needed, options)) ||
        !llvm::all_of(needed, [](Operation *op) {
          return isIndependent(*op) && !op->getNumRegions();
        }))
      continue;
    for (Operation *op : needed)
      if (!op->isBeforeInBlock(&place))
        op->moveBefore(&place);
  }
}

/// Whether `value` is the same for all threads of a block.
static bool isOfBlock(Value value) {
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  return succeeded(getBackwardSlice(value, &needed, options)) &&
         llvm::all_of(needed, [](Operation *op) {
           return isa<gpu::GPUFuncOp>(op) ||
                  (isMemoryEffectFree(op) && !op->getNumRegions() &&
                   !isa<gpu::ThreadIdOp, gpu::LaneIdOp, gpu::ShuffleOp>(op));
         });
}

/// Inserts a wait in `block` before the first access to memory that other
/// kernels write. If a block must wait `together`, does not insert it where
/// threads may have diverged.
static void waitIn(Block &block, bool together) {
  Operation &first = *llvm::find_if_not(block, isIndependent);
  if (auto branch = dyn_cast<scf::IfOp>(first);
      branch && branch.elseBlock() && !branch.getNumResults() &&
      (!together || isOfBlock(branch.getCondition()))) {
    waitIn(*branch.thenBlock(), together);
    waitIn(*branch.elseBlock(), together);
    return;
  }
  OpBuilder builder(&first);
  auto wait = NVVM::GriddepcontrolOp::create(builder, first.getLoc(),
                                             NVVM::GridDepActionKind::wait);
  loadBefore(*wait);
}

/// Lets the next kernel start immediately. Kernels with tiles are an exception:
/// they have few blocks, and an SM that finishes early would get more than its
/// share of the next kernel's blocks, so the next kernel starts after the
/// products.
static void letNextBegin(gpu::GPUFuncOp kernel) {
  auto create = [&](OpBuilder builder) {
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                   NVVM::GridDepActionKind::launch_dependents);
  };
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    auto walk = loop.getBody()->walk(
        [](nvgpu::DeviceAsyncCopyOp) { return WalkResult::interrupt(); });
    if (walk.wasInterrupted())
      loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForOp loop : loops) {
    OpBuilder builder(loop);
    builder.setInsertionPointAfter(loop);
    create(builder);
  }
  if (loops.empty())
    create(OpBuilder::atBlockBegin(&kernel.getBody().front()));
}

/// Whether a kernel multiplies cooperative matrices. It has few blocks, and an
/// SM that finishes early would get more than its share of the next kernel's
/// blocks.
static bool hasMatrices(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](spirv::KHRCooperativeMatrixMulAddOp) {
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

namespace {

struct OverlapLaunches : relax::impl::OverlapLaunchesPassBase<OverlapLaunches> {
  using OverlapLaunchesPassBase::OverlapLaunchesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel() || (together && hasMatrices(kernel)))
        return;
      Block &entry = kernel.getBody().front();
      waitIn(entry, together);
      letNextBegin(kernel);
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
        kernel.removeArgAttr(i, notes::kInvariant);
    });
    module.walk([](gpu::LaunchFuncOp launch) {
      launch->setDiscardableAttr(kOverlapsAttr,
                                 UnitAttr::get(launch.getContext()));
    });
  }
};

} // namespace
