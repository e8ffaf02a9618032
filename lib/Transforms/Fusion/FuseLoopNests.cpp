//===- FuseLoopNests.cpp - loop fusion within a kernel --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's fusion patterns replace destinations that are not read by empty
// tensors, but a kernel must keep its destinations; so only the rewrite of two
// nests is reused.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Fusion/MergeKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::relax;
using linalg::GenericOp;

/// Whether recomputing an element is cheaper than loading it.
static bool isCheap(GenericOp nest) {
  return llvm::all_of(nest.getBody()->without_terminator(), [](Operation &op) {
    return isa_and_nonnull<arith::ArithDialect>(op.getDialect()) &&
           !isa<arith::DivFOp, arith::RemFOp>(op);
  });
}

/// The most ops of a nest that may be duplicated when its reader reads it at
/// two places. Chains of such readers double the ops each time, so the limit is
/// low.
constexpr int64_t kMaxRecomputedOps = 8;

/// Whether the nest of `operand` also reads the same value through another
/// indexing map.
static bool readsElsewhere(OpOperand &operand) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  return llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
    return other->get() == operand.get() &&
           consumer.getMatchingIndexingMap(other) !=
               consumer.getMatchingIndexingMap(&operand);
  });
}

/// Whether to fuse the producer of `operand` into the nest that reads it.
static bool shouldFuse(OpOperand &operand) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  auto producer = operand.get().getDefiningOp<GenericOp>();
  if (!producer || !linalg::areElementwiseOpsFusable(&operand))
    return false;
  // Reductions and in-place updates read their initial value from memory.
  if (llvm::any_of(producer.getDpsInitsMutable(), [&](OpOperand &init) {
        return producer.payloadUsesValueFromOperand(&init);
      }))
    return false;
  // A single user, so that nothing is recomputed.
  if (llvm::any_of(producer->getUsers(),
                   [&](Operation *user) { return user != consumer; }))
    return false;
  // If read at two places, each element is computed twice.
  if (readsElsewhere(operand) &&
      (!isCheap(producer) ||
       llvm::range_size(producer.getBody()->without_terminator()) >
           kMaxRecomputedOps))
    return false;
  // Each element is read once. Otherwise it is recomputed for each read, which
  // is too often in a contraction.
  if (consumer.getMatchingIndexingMap(&operand).isPermutation())
    return true;
  return consumer.getNumReductionLoops() == 0 && isCheap(producer);
}

/// Merges inputs of a nest that read the same elements, so that their producer
/// is fused only once.
static void mergeEqualInputs(GenericOp nest,
                             const FrozenRewritePatternSet &patterns) {
  Operation *op = nest;
  (void)applyOpPatternsGreedily(
      op, patterns,
      GreedyRewriteConfig().setStrictness(
          GreedyRewriteStrictness::ExistingAndNewOps));
}

/// Fuses one pair of nests. `mergePatterns` merges equal inputs.
static bool fuseOnePair(func::FuncOp kernel, IRRewriter &rewriter,
                        const FrozenRewritePatternSet &mergePatterns) {
  for (auto consumer : kernel.getBody().front().getOps<GenericOp>())
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      if (!shouldFuse(*operand))
        continue;
      Operation *producer = operand->get().getDefiningOp();
      rewriter.setInsertionPoint(consumer);
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, operand);
      if (failed(fused))
        continue;
      for (auto [from, to] : fused->replacements)
        rewriter.replaceUsesWithIf(from, to, [&](OpOperand &use) {
          return use.getOwner() != producer;
        });
      rewriter.eraseOp(consumer);
      if (producer->use_empty())
        rewriter.eraseOp(producer);
      mergeEqualInputs(cast<GenericOp>(fused->fusedOp), mergePatterns);
      return true;
    }
  return false;
}

/// Propagates static sizes through casts, folds dimensions of results, and
/// merges repeated operands.
static void simplify(func::FuncOp kernel, IRRewriter &rewriter) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  context->getLoadedDialect<linalg::LinalgDialect>()
      ->getCanonicalizationPatterns(patterns);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  // The result is correct even if it does not converge.
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Generalizes named ops other than contractions, so that they fuse like any
/// nest.
static void generalize(func::FuncOp kernel, IRRewriter &rewriter) {
  for (auto nest : llvm::make_early_inc_range(
           kernel.getBody().front().getOps<linalg::LinalgOp>()))
    if (!isa<GenericOp, linalg::FillOp>(nest) &&
        nest.getNumReductionLoops() == 0) {
      rewriter.setInsertionPoint(nest);
      (void)linalg::generalizeNamedOp(rewriter, nest);
    }
}

void relax::fuseLoopNests(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  generalize(kernel, rewriter);
  simplify(kernel, rewriter);
  RewritePatternSet mergePatterns(kernel.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(mergePatterns);
  FrozenRewritePatternSet frozen(std::move(mergePatterns));
  for (auto nest :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<GenericOp>()))
    mergeEqualInputs(nest, frozen);
  bool changed = false;
  while (fuseOnePair(kernel, rewriter, frozen))
    changed = true;
  if (changed)
    simplify(kernel, rewriter);
}
