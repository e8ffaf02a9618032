//===- UnitLoops.cpp - drops loops of one iteration -----------------------===//
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
//===----------------------------------------------------------------------===//

#include "Target/CPU/UnitLoops.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::relax;

void relax::dropUnitLoops(func::FuncOp kernel) {
  auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
  if (llvm::none_of(ops, [](linalg::GenericOp op) {
        return op.getNumReductionLoops() &&
               llvm::is_contained(op.getStaticLoopRanges(), 1);
      }))
    return;
  IRRewriter rewriter(kernel.getContext());
  linalg::ControlDropUnitDims control;
  for (linalg::GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    auto dropped = linalg::dropUnitDims(rewriter, op, control);
    if (succeeded(dropped))
      rewriter.replaceOp(op, dropped->replacements);
  }
  // Between two ops, an expansion is followed by the same collapse.
  RewritePatternSet patterns(kernel.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       kernel.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     kernel.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, kernel.getContext());
  (void)applyPatternsGreedily(kernel, std::move(patterns));
}
