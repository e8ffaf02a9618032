//===- BufferizeKernels.cpp - bufferizes kernels --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-shot bufferization decides what is updated in place. The buffers that it
// allocates are then placed here. Since no buffer leaves a kernel, a rule that
// is simpler than the upstream passes is enough:
//
//   a buffer whose aliases are all in its own block ("local") is hoisted out of
//   loops as far as its sizes allow. If it is small and static, it is placed on
//   the stack; otherwise, it is freed after its last use.
//
// Buffers that leave their block, carried by a loop or yielded by a branch, are
// left to upstream's ownership-based deallocation.
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Booleans.h"
#include "Target/Common/Passes.h"
#include "Target/Common/ReducedViews.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::relax {
#define GEN_PASS_DEF_BUFFERIZEKERNELSPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Temporaries up to this size, in bytes, live on the stack.
static constexpr int64_t maxStackBytes = 64 << 10;
/// Alignment that suits cache lines and vector registers.
static constexpr int64_t bufferAlignment = 64;

/// Rewrites ops that bufferization does not support.
static LogicalResult decompose(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  return applyPatternsGreedily(kernel, std::move(patterns));
}

static LogicalResult bufferize(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = bufferAlignment;
  options.allowReturnAllocsFromLoops = true;
  bufferization::BufferizationState state;
  return bufferization::runOneShotBufferize(kernel, options, state);
}

/// Canonicalizes with the patterns of all dialects that a bufferized kernel
/// uses.
static void canonicalize(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    if (dialect->getNamespace() != "relax")
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() != "relax")
      op.getCanonicalizationPatterns(patterns, context);
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  IRRewriter rewriter(context);
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Lowers copies to loops, except for contiguous ones, which become memcpy
/// calls. Also lowers ops that no schedule handled.
static LogicalResult lowerToLoops(func::FuncOp kernel, bool parallel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp, memref::CopyOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      // The iteration already wrote the result in place.
      if (copy.getSource() == copy.getTarget()) {
        rewriter.eraseOp(copy);
        continue;
      }
      auto source = cast<MemRefType>(copy.getSource().getType());
      auto target = cast<MemRefType>(copy.getTarget().getType());
      if (memref::isStaticShapeAndContiguousRowMajor(source) &&
          memref::isStaticShapeAndContiguousRowMajor(target))
        continue;
      if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
        continue;
      op = linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                                    copy.getTarget());
      rewriter.eraseOp(copy);
    }
    auto structured = cast<linalg::LinalgOp>(op);
    if (failed(parallel ? linalg::linalgOpToParallelLoops(rewriter, structured)
                        : linalg::linalgOpToLoops(rewriter, structured)))
      return op->emitError("cannot be turned into loops");
    rewriter.eraseOp(op);
  }
  return success();
}

static bool isSmall(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return false;
  int64_t bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return type.getNumElements() <=
         maxStackBytes * 8 / std::max<int64_t>(bits, 8);
}

/// The last op in the block of `alloc` that uses the buffer or an alias of it.
static Operation *getLastUser(memref::AllocOp alloc,
                              const BufferViewFlowAnalysis &aliases) {
  Operation *last = alloc;
  for (Value alias : aliases.resolve(alloc.getMemref()))
    for (Operation *user : alias.getUsers())
      if (Operation *op = alloc->getBlock()->findAncestorOpInBlock(*user);
          op && last->isBeforeInBlock(op))
        last = op;
  return last;
}

/// Hoists buffers, moves them to the stack or frees them; returns false if a
/// buffer leaves its block.
static bool placeBuffers(func::FuncOp kernel) {
  SmallVector<memref::AllocOp> allocs;
  kernel.walk([&](memref::AllocOp alloc) {
    if (llvm::none_of(alloc->getUsers(), llvm::IsaPred<memref::DeallocOp>))
      allocs.push_back(alloc);
  });
  if (allocs.empty())
    return true;
  BufferViewFlowAnalysis aliases(kernel);
  bool allLocal = true;
  for (memref::AllocOp alloc : allocs) {
    Block *block = alloc->getBlock();
    bool isLocal =
        llvm::all_of(aliases.resolve(alloc.getMemref()), [&](Value alias) {
          return block->findAncestorOpInBlock(
                     *(alias.getDefiningOp()
                           ? alias.getDefiningOp()
                           : alias.getParentBlock()->getParentOp())) &&
                 (alias.getDefiningOp() || alias.getParentBlock() != block);
        });
    if (!isLocal) {
      allLocal = false;
      continue;
    }
    // Each iteration of a parallel loop needs its own buffer.
    Operation *scope = alloc;
    while (auto loop = dyn_cast<LoopLikeOpInterface>(scope->getParentOp())) {
      if (isa<scf::ForallOp, scf::ParallelOp>(loop) ||
          !llvm::all_of(alloc->getOperands(), [&](Value operand) {
            return loop.isDefinedOutsideOfLoop(operand);
          }))
        break;
      scope = loop;
    }
    if (scope != alloc)
      alloc->moveBefore(scope);
    OpBuilder builder(alloc);
    if (isSmall(alloc.getType())) {
      // Hoist out of branches as well, so that the stack grows once.
      Operation *frame = alloc;
      while (!isa<func::FuncOp, scf::ForallOp, scf::ParallelOp>(
          frame->getParentOp()))
        frame = frame->getParentOp();
      builder.setInsertionPointToStart(frame->getBlock());
      auto place = memref::AllocaOp::create(
          builder, alloc.getLoc(), alloc.getType(), alloc.getDynamicSizes(),
          alloc.getSymbolOperands(), alloc.getAlignmentAttr());
      alloc.replaceAllUsesWith(place.getMemref());
      alloc.erase();
      continue;
    }
    builder.setInsertionPointAfter(getLastUser(alloc, aliases));
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  }
  return allLocal;
}

namespace {

struct BufferizeKernels
    : relax::impl::BufferizeKernelsPassBase<BufferizeKernels> {
  using BufferizeKernelsPassBase::BufferizeKernelsPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal())
      return;
    bool hasTensors = false;
    kernel.walk([&](Operation *op) {
      hasTensors |=
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
    });
    if (hasTensors) {
      if (failed(decompose(kernel)) || failed(bufferize(kernel)))
        return signalPassFailure();
      canonicalize(kernel);
    }
    expandReducedViews(kernel);
    if (!placeBuffers(kernel) && failed(freeEscapingBuffers()))
      return signalPassFailure();
    if (failed(lowerToLoops(kernel, parallelLoops)))
      return signalPassFailure();
    storeBooleansAsBytes(kernel);
    kernel.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  }

  LogicalResult freeEscapingBuffers() {
    OpPassManager pipeline(func::FuncOp::getOperationName());
    pipeline.addPass(
        bufferization::createOwnershipBasedBufferDeallocationPass());
    pipeline.addPass(
        bufferization::createBufferDeallocationSimplificationPass());
    pipeline.addPass(bufferization::createLowerDeallocationsPass());
    return runPipeline(pipeline, getOperation());
  }
};

} // namespace
