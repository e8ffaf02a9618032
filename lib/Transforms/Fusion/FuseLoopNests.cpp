//===- FuseLoopNests.cpp - one pass over the data -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's patterns for the same replace destinations that are not read by
// empty tensors, which a kernel must not lose; so only the rewrite of two nests
// is taken from there.
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

/// Whether each element costs less to compute again than to load.
static bool isCheap(GenericOp nest) {
  return llvm::all_of(nest.getBody()->without_terminator(), [](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) &&
           !isa<arith::DivFOp, arith::RemFOp>(op);
  });
}

/// Whether the producer of `operand` should go into the nest that reads it.
static bool shouldFuse(OpOperand &operand) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  auto producer = operand.get().getDefiningOp<GenericOp>();
  if (!producer || !linalg::areElementwiseOpsFusable(&operand))
    return false;
  // An update of what is there needs that to be in memory.
  if (llvm::any_of(producer.getDpsInitsMutable(), [&](OpOperand &init) {
        return producer.payloadUsesValueFromOperand(&init);
      }))
    return false;
  // Used by nobody else, so that nothing is computed twice.
  if (llvm::any_of(producer->getUsers(),
                   [&](Operation *user) { return user != consumer; }))
    return false;
  // Each element is read once; else it is computed again for each read, which
  // a contraction does too often.
  if (consumer.getMatchingIndexingMap(&operand).isPermutation())
    return true;
  return consumer.getNumReductionLoops() == 0 && isCheap(producer);
}

/// Fuses one pair of nests.
static bool fuseOnePair(func::FuncOp kernel, IRRewriter &rewriter) {
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
      return true;
    }
  return false;
}

/// Static sizes through casts, dimensions of results, repeated operands.
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
  // What does not converge is right all the same.
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

void relax::fuseLoopNests(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  simplify(kernel, rewriter);
  bool changed = false;
  while (fuseOnePair(kernel, rewriter))
    changed = true;
  if (changed)
    simplify(kernel, rewriter);
}
