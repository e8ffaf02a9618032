//===- DepthUnits.cpp - units of the depth of a matmul --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Matmul.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

std::optional<DepthUnits> DepthUnits::choose(const KernelGraph &graph,
                                             const Matmul &matmul,
                                             const Nest *prepared) {
  DepthUnits units;
  Axis last = matmul.depth.back();
  int64_t narrowest = 16;
  bool isRegular = true;
  // The depth axes that some tensor from which the matrix is computed does not
  // depend on.
  llvm::SmallDenseSet<Axis> missed;
  // Tensors in memory that have the vectorized axis.
  struct Read {
    bool ofMatrix;
    int64_t bytes;
    llvm::SmallDenseSet<Axis> axes;
  };
  SmallVector<Read> reads;
  DenseMap<Axis, int64_t> sizes;
  auto see = [&](linalg::GenericOp op, OpOperand &operand, bool isMatrix) {
    auto tensor = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!tensor)
      return;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    llvm::SmallDenseSet<Axis> found;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      expr.walk([&, dim = dim, expr = expr](AffineExpr part) {
        auto loop = dyn_cast<AffineDimExpr>(part);
        if (!loop)
          return;
        Axis axis = graph.axisOf(op, loop.getPosition());
        found.insert(axis);
        if (expr == part && !tensor.isDynamicDim(dim))
          sizes[axis] = tensor.getDimSize(dim);
        if (axis != last)
          return;
        // The vectorized axis may only run along contiguous memory.
        isRegular &= expr == part && dim + 1 == map.getNumResults();
        narrowest = std::min<int64_t>(
            narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
      });
    if (KernelGraph::producer(operand.get()))
      return;
    for (Axis axis : matmul.depth)
      if (isMatrix && !found.contains(axis))
        missed.insert(axis);
    if (found.contains(last))
      reads.push_back({isMatrix,
                       llvm::divideCeil(tensor.getElementTypeBitWidth(), 8),
                       found});
  };
  linalg::GenericOp product = matmul.stage().op;
  auto visit = [&](unsigned number, bool isMatrix) {
    see(product, product->getOpOperand(number), isMatrix);
    linalg::GenericOp source =
        KernelGraph::producer(product->getOperand(number));
    bool isPrepared =
        !isMatrix && prepared && source && source == prepared->stages.back().op;
    if (!source || (graph.isStage(source) && !isPrepared))
      return;
    graph.visitInlined(source, [&](linalg::GenericOp op) {
      op.getBody()->walk([&](Operation *inner) {
        isRegular &= !isa<tensor::ExtractOp>(inner) && !inner->getNumRegions();
      });
      for (OpOperand *input : op.getDpsInputOperands())
        see(op, *input, isMatrix);
    });
  };
  visit(matmul.a, /*isMatrix=*/false);
  visit(matmul.b, /*isMatrix=*/true);
  if (!isRegular || !sizes.count(last))
    return std::nullopt;
  units.lanes = 16 / narrowest;
  while (units.lanes > 1 && sizes[last] % units.lanes)
    units.lanes /= 2;
  if (units.lanes == 1)
    return std::nullopt;
  for (Axis axis : matmul.depth)
    (missed.contains(axis) ? units.within : units.across).push_back(axis);
  for (const Read &read : reads) {
    int64_t elements = missed.contains(last) ? 1 : units.lanes;
    for (Axis axis : units.within)
      if (read.axes.contains(axis))
        elements *= sizes.lookup(axis);
    (read.ofMatrix ? units.matrixBytes : units.vectorBytes) +=
        elements * read.bytes;
  }
  if (!units.matrixBytes)
    return std::nullopt;
  return units;
}
