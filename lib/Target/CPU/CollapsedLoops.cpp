//===- CollapsedLoops.cpp - fewer loops over the same elements ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution over data of width 1 has its rows, not its columns, next to
// each other in memory:
//
//   data : tensor<?x64x100x1xf32>, read at [n, c, h + kh, w + kw], w and kw = 0
//
// Schedules vectorize the loop that indexes the last dimension, which would be
// the loop of one iteration here. Without the dimensions of size 1, the last
// dimension is the one that data is contiguous along.
//
// A convolution with one weight per channel has its height and width next to
// each other in all tensors, and in the ops fused after it:
//
//   out[o, h, w] = relu(Σ_c weight[o, c] data[c, h, w] + bias[o])
//
// One loop over both has a single remainder, and not one for each row.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/CollapsedLoops.h"

#include "Analysis/KernelPattern.h"
#include "Target/Schedule/NormalForm.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::relax;

/// Removes each expansion of the result of an op that is followed by the same
/// collapse.
static void foldReshapesBetweenOps(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  (void)applyPatternsGreedily(kernel, std::move(patterns));
}

/// Whether an op reads a destination, which schedules take at the point of the
/// op alone, and not through a reshape.
static bool readsDestination(linalg::GenericOp op) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand))
      return false;
    auto view = lookThroughCasts(operand.get())
                    .getDefiningOp<bufferization::ToTensorOp>();
    return view && view.getWritable();
  });
}

/// Whether an op is a contraction only because of a loop of one iteration: the
/// only query of attention, for which blocks of rows still pay off.
static bool needsUnitLoops(linalg::GenericOp op) {
  if (!isContraction(op))
    return false;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  op.getParallelDims(loops);
  return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return llvm::any_of(loops, [&](unsigned loop) {
             return sizes[loop] != 1 && !map.isFunctionOfDim(loop);
           });
         }) < 2;
}

/// Whether only ops that reshapes pass through read a result.
static bool isUsedByNests(Value result) {
  return llvm::all_of(result.getUsers(), [](Operation *user) {
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            user))
      return isUsedByNests(user->getResult(0));
    return isa<linalg::GenericOp, bufferization::MaterializeInDestinationOp>(
        user);
  });
}

void relax::dropUnitLoops(func::FuncOp kernel) {
  auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
  if (llvm::none_of(ops,
                    [](linalg::GenericOp op) {
                      return op.getNumReductionLoops() &&
                             llvm::is_contained(op.getStaticLoopRanges(), 1);
                    }) ||
      llvm::any_of(ops, needsUnitLoops) || llvm::any_of(ops, readsDestination))
    return;
  IRRewriter rewriter(kernel.getContext());
  linalg::ControlDropUnitDims control;
  for (linalg::GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    auto dropped = linalg::dropUnitDims(rewriter, op, control);
    if (succeeded(dropped))
      rewriter.replaceOp(op, dropped->replacements);
  }
  foldReshapesBetweenOps(kernel);
}

/// Whether the loops of `op` may be merged at all, and its first `count` loops
/// are those of its results, in order.
static bool isPlain(linalg::GenericOp op, unsigned count) {
  if (op.hasIndexSemantics() || op.getNumLoops() < count)
    return false;
  auto maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  AffineMap own = AffineMap::getMultiDimIdentityMap(count, op.getContext());
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init).getResults() != own.getResults())
      return false;
  return !extractsElements(op);
}

/// Whether all elements of `tensor` are in memory in order, undefined, or
/// equal.
static bool isReshapable(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return true;
  tensor = lookThroughCasts(tensor);
  Operation *op = tensor.getDefiningOp();
  if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(op))
    return isReshapable(collapse.getSrc());
  DenseElementsAttr elements;
  return isa_and_nonnull<bufferization::ToTensorOp, tensor::EmptyOp,
                         linalg::FillOp>(op) ||
         (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat());
}

void relax::mergeLoopsOfContraction(func::FuncOp kernel) {
  auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
  if (ops.empty() || !isContraction(ops.front()) ||
      llvm::any_of(ops, readsDestination) ||
      !llvm::all_of(ops, [](linalg::GenericOp op) {
        return llvm::all_of(op->getResults(), isUsedByNests);
      }))
    return;
  unsigned count = ops.front().getNumParallelLoops();
  for (auto [number, op] : llvm::enumerate(ops)) {
    if (!isPlain(op, count) || (number > 0 && (op.getNumLoops() != count ||
                                               op.getNumReductionLoops())))
      return;
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp<linalg::GenericOp>() && !isReshapable(operand))
        return;
  }
  for (auto root : kernel.getOps<bufferization::MaterializeInDestinationOp>()) {
    auto type = dyn_cast<MemRefType>(root.getDest().getType());
    if (!type || !type.getLayout().isIdentity())
      return;
  }
  SmallVector<ReassociationIndices> groups = groupAdjacentLoops(ops, count);
  if (groups.size() == count)
    return;
  IRRewriter rewriter(kernel.getContext());
  for (linalg::GenericOp op : ops) {
    SmallVector<ReassociationIndices> all(groups);
    for (int64_t loop = count; loop < op.getNumLoops(); ++loop)
      all.push_back({loop});
    rewriter.setInsertionPoint(op);
    auto merged = linalg::collapseOpIterationDims(op, all, rewriter);
    if (succeeded(merged))
      rewriter.replaceOp(op, merged->results);
  }
  foldReshapesBetweenOps(kernel);
}
