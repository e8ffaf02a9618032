//===- LaunchLoops.cpp - launches unscheduled loops on the GPU ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LAUNCHLOOPSPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Turns small buffers on the host's stack, where a launch cannot reach them,
/// into ordinary allocations.
static void moveOffStack(func::FuncOp kernel) {
  for (auto place :
       llvm::to_vector(kernel.getBody().front().getOps<memref::AllocaOp>())) {
    OpBuilder builder(place);
    Value buffer = memref::AllocOp::create(
        builder, place.getLoc(), place.getType(), place.getDynamicSizes(),
        place.getSymbolOperands(), place.getAlignmentAttr());
    builder.setInsertionPoint(place->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, place.getLoc(), buffer);
    place.replaceAllUsesWith(buffer);
    place.erase();
  }
}

/// Kernels only have buffers and scalars as parameters; host code also has
/// addresses.
static bool isKernel(func::FuncOp function) {
  return !function.isExternal() && llvm::hasSingleElement(function.getBody()) &&
         function.getNumResults() == 0 &&
         llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<MemRefType>) &&
         llvm::all_of(function.getArgumentTypes(), [](Type type) {
           return isa<MemRefType>(type) || type.isIntOrIndexOrFloat();
         });
}

/// Whether a branch contains nothing but launches and host code.
static bool onlyLaunches(Operation &op) {
  if (!isa<scf::IfOp>(op) || op.getNumResults())
    return false;
  for (Region &region : op.getRegions())
    for (Operation &inner : region.getOps())
      if (!isa<gpu::LaunchOp, scf::YieldOp>(inner) && !onlyLaunches(inner) &&
          (inner.getNumRegions() || !isMemoryEffectFree(&inner)))
        return false;
  return true;
}

/// Whether host code in `op` needs any of `values`.
static bool needs(Operation &op, const llvm::SmallDenseSet<Value> &values) {
  WalkResult walk = op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (values.contains(operand))
        return WalkResult::interrupt();
    return isa<gpu::LaunchOp>(inner) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Whether a loop runs on the host because it contains parallel loops or
/// launches, such as consecutive passes over all elements.
static bool isHostLoop(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getNumResults() == 0 &&
         llvm::any_of(loop.getBody()->without_terminator(), [](Operation &op) {
           return isa<scf::ParallelOp, gpu::LaunchOp>(op) || isHostLoop(op);
         });
}

/// The buffer underlying a view.
static Value viewedBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether `op` may write to `buffer`. Parameters of a kernel neither overlap
/// each other nor buffers that the kernel allocates.
static bool mayWrite(Operation *op, Value buffer) {
  WalkResult walk = op->walk([&](Operation *inner) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!interface)
      return inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                     isMemoryEffectFree(inner)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (isa<MemoryEffects::Write>(effect.getEffect()) &&
          (!effect.getValue() || viewedBuffer(effect.getValue()) == buffer))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// The ops, in order, that compute the values of `onDevice` that `user` needs,
/// if they can be recomputed in the launch of `user`: they must compute
/// scalars, and only from elements that are not written before `end`. Ops in
/// `present` are already in the launch.
static FailureOr<SmallVector<Operation *>>
scalarsBefore(Operation *user, Operation *end,
              const llvm::SmallDenseSet<Value> &onDevice,
              ArrayRef<Operation *> present) {
  llvm::SetVector<Operation *> found;
  auto need = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (onDevice.contains(operand) &&
            !llvm::is_contained(present, operand.getDefiningOp()))
          found.insert(operand.getDefiningOp());
    });
  };
  auto canRepeat = [&](Operation *op) {
    WalkResult walk = op->walk([&](Operation *inner) {
      if (auto load = dyn_cast<memref::LoadOp>(inner)) {
        Value buffer = viewedBuffer(load.getMemRef());
        for (Operation *later = op; later != end; later = later->getNextNode())
          if (mayWrite(later, buffer))
            return WalkResult::interrupt();
        return WalkResult::advance();
      }
      return inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                     isMemoryEffectFree(inner)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    return !walk.wasInterrupted() && op->getBlock() == user->getBlock() &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
  };
  need(user);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!canRepeat(found[i]))
      return failure();
    need(found[i]);
  }
  SmallVector<Operation *> ordered = found.takeVector();
  llvm::sort(ordered, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return ordered;
}

/// Clones `scalars` at the insertion point; only uses in `user` see the clones.
static SmallVector<Operation *>
repeatFor(Operation *user, ArrayRef<Operation *> scalars, OpBuilder &builder) {
  SmallVector<Operation *> clones;
  IRMapping mapping;
  for (Operation *op : scalars) {
    clones.push_back(builder.clone(*op, mapping));
    for (auto [before, after] :
         llvm::zip(op->getResults(), clones.back()->getResults()))
      before.replaceUsesWithIf(after, [&](OpOperand &use) {
        return user->isAncestor(use.getOwner());
      });
  }
  return clones;
}

namespace {

struct LaunchLoops : relax::impl::LaunchLoopsPassBase<LaunchLoops> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    moveOffStack(kernel);
    IRRewriter rewriter(kernel.getContext());
    SmallVector<scf::ForallOp> loops;
    kernel.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForallOp loop : loops)
      if (failed(scf::forallToParallelLoop(rewriter, loop)))
        return signalPassFailure();
    // Free buffers at the end, since launches may move past the original
    // position.
    Block &body = kernel.getBody().front();
    for (auto dealloc : llvm::to_vector(body.getOps<memref::DeallocOp>()))
      dealloc->moveBefore(body.getTerminator());
    llvm::SmallDenseSet<Value> onDevice;
    if (failed(launch(body, onDevice)))
      signalPassFailure();
  }

  /// Creates launches for a block that runs on the host.
  LogicalResult launch(Block &body, llvm::SmallDenseSet<Value> &onDevice) {
    // Groups of device ops, separated by host operations.
    SmallVector<SmallVector<Operation *>> runs(1);
    SmallVector<scf::ParallelOp> parallel;
    for (Operation &op : body.without_terminator()) {
      bool dependsOnDevice = needs(op, onDevice);
      bool launches = isa<gpu::LaunchOp>(op) || onlyLaunches(op);
      if (launches || isa<memref::AllocOp, memref::DeallocOp>(op)) {
        if (dependsOnDevice)
          return op.emitOpError("depends on what the GPU computes, which the "
                                "host does not know when it launches");
        if (launches && !runs.back().empty())
          runs.emplace_back();
        continue;
      }
      if (!dependsOnDevice && !op.getNumRegions() && isMemoryEffectFree(&op))
        continue;
      if (auto loop = dyn_cast<scf::ParallelOp>(op);
          loop && !loop.getNumResults() &&
          (!dependsOnDevice || succeeded(takeScalarsAlong(loop, onDevice)))) {
        parallel.push_back(loop);
        if (!runs.back().empty())
          runs.emplace_back();
        continue;
      }
      if (isHostLoop(op) && !dependsOnDevice) {
        if (failed(launch(op.getRegion(0).front(), onDevice)))
          return failure();
        if (!runs.back().empty())
          runs.emplace_back();
        continue;
      }
      if (failed(addTo(runs.back(), op, onDevice)))
        return failure();
    }
    for (SmallVector<Operation *> &run : runs) {
      // Erase scalars that the iterations recompute.
      for (Operation *&op : llvm::reverse(run))
        if (isOpTriviallyDead(op)) {
          op->erase();
          op = nullptr;
        }
      llvm::erase(run, nullptr);
      if (!run.empty())
        launch(run);
    }
    for (scf::ParallelOp loop : parallel)
      launch(loop);
    return success();
  }

  /// Makes each iteration recompute the scalars that it needs from other
  /// launches.
  LogicalResult takeScalarsAlong(scf::ParallelOp loop,
                                 const llvm::SmallDenseSet<Value> &onDevice) {
    if (llvm::any_of(loop->getOperands(),
                     [&](Value bound) { return onDevice.contains(bound); }))
      return failure();
    FailureOr<SmallVector<Operation *>> scalars =
        scalarsBefore(loop, loop->getNextNode(), onDevice, /*present=*/{});
    if (failed(scalars))
      return failure();
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    repeatFor(loop, *scalars, builder);
    return success();
  }

  /// Adds an op to a single-thread launch, along with clones of the scalars
  /// that it needs from other launches.
  LogicalResult addTo(SmallVector<Operation *> &run, Operation &op,
                      llvm::SmallDenseSet<Value> &onDevice) {
    FailureOr<SmallVector<Operation *>> scalars =
        scalarsBefore(&op, &op, onDevice, run);
    if (failed(scalars))
      return op.emitOpError("needs a number of another launch that cannot be "
                            "computed again, since its operands may be "
                            "overwritten before");
    OpBuilder builder(&op);
    for (Operation *clone : repeatFor(&op, *scalars, builder)) {
      run.push_back(clone);
      onDevice.insert(clone->result_begin(), clone->result_end());
    }
    run.push_back(&op);
    onDevice.insert(op.result_begin(), op.result_end());
    return success();
  }

  /// Launches a thread for each iteration.
  void launch(scf::ParallelOp loop) {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    SmallVector<Value> counts;
    Value one = arith::ConstantIndexOp::create(builder, loc, 1), total = one;
    for (auto [from, to, step] : llvm::zip(
             loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
      Value size = builder.createOrFold<arith::SubIOp>(loc, to, from);
      counts.push_back(
          builder.createOrFold<arith::CeilDivSIOp>(loc, size, step));
      total = builder.createOrFold<arith::MulIOp>(loc, total, counts.back());
    }
    Value threads = arith::ConstantIndexOp::create(builder, loc, 256);
    Value blocks =
        builder.createOrFold<arith::CeilDivSIOp>(loc, total, threads);
    auto op = gpu::LaunchOp::create(builder, loc, blocks, one, one, threads,
                                    one, one);
    builder.setInsertionPointToStart(&op.getBody().front());
    gpu::TerminatorOp::create(builder, loc);
    builder.setInsertionPointToStart(&op.getBody().front());
    Value number = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, op.getBlockIds().x, threads),
        op.getThreadIds().x);
    auto inside = scf::IfOp::create(
        builder, loc,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number,
                              total));
    builder.setInsertionPoint(inside.thenBlock()->getTerminator());
    for (size_t i = counts.size(); i-- > 0;) {
      Value at = number;
      if (i > 0) {
        at = arith::RemUIOp::create(builder, loc, number, counts[i]);
        number = arith::DivUIOp::create(builder, loc, number, counts[i]);
      }
      at = builder.createOrFold<arith::MulIOp>(loc, at, loop.getStep()[i]);
      at =
          builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound()[i], at);
      loop.getInductionVars()[i].replaceAllUsesWith(at);
    }
    for (Operation &inner :
         llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      inner.moveBefore(inside.thenBlock()->getTerminator());
    loop.erase();
  }

  void launch(ArrayRef<Operation *> run) {
    // Launch after all host code in between.
    OpBuilder builder(run.back());
    Location loc = run.front()->getLoc();
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto op = gpu::LaunchOp::create(builder, loc, one, one, one, one, one, one);
    builder.setInsertionPointToStart(&op.getBody().front());
    auto end = gpu::TerminatorOp::create(builder, loc);
    for (Operation *member : run)
      member->moveBefore(end);
  }
};

} // namespace
