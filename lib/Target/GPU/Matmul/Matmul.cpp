//===- Matmul.cpp - matches matmuls and their operands --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Matmul.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

/// The number of the body argument that `factor` is, possibly extended; none
/// otherwise.
static std::optional<unsigned> argumentOf(Value factor, Block *body) {
  if (auto extend = factor.getDefiningOp<arith::ExtFOp>())
    factor = extend.getIn();
  auto argument = dyn_cast<BlockArgument>(factor);
  if (!argument || argument.getOwner() != body)
    return std::nullopt;
  return argument.getArgNumber();
}

bool relax::addsProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return false;
  Block *body = op.getBody();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return false;
  Value before = body->getArgument(2);
  Value other = sum.getLhs() == before   ? sum.getRhs()
                : sum.getRhs() == before ? sum.getLhs()
                                         : Value();
  auto product = other ? other.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!product)
    return false;
  auto lhs = argumentOf(product.getLhs(), body);
  auto rhs = argumentOf(product.getRhs(), body);
  return lhs && rhs && *lhs + *rhs == 1;
}

std::optional<Matmul> Matmul::match(const Nest &nest) {
  Matmul matmul;
  matmul.nest = &nest;
  const Stage &stage = nest.stages.front();
  linalg::GenericOp op = stage.op;
  if (!addsProduct(op) || op.getNumReductionLoops() == 0)
    return std::nullopt;
  for (const Stage &other : nest.stages)
    if ((&other != &stage && other.isReduction()) ||
        llvm::any_of(llvm::enumerate(other.axes), [&](auto axis) {
          return other.isParallel(axis.index()) && !nest.isOuter(axis.value());
        }))
      return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  for (auto [loop, axis] : llvm::enumerate(stage.axes)) {
    bool inA = maps[0].isFunctionOfDim(loop);
    bool inB = maps[1].isFunctionOfDim(loop);
    if (!stage.isParallel(loop)) {
      if (!inA || !inB)
        return std::nullopt;
      matmul.depth.push_back(axis);
      continue;
    }
    if ((!inA && !inB) || !maps[2].isFunctionOfDim(loop))
      return std::nullopt;
    (inA && inB ? matmul.batch
     : inA      ? matmul.rows
                : matmul.columns)
        .push_back(axis);
  }
  // Swap the operands if needed, so that results are contiguous along the
  // columns.
  AffineMap out = maps[2];
  if (out.getNumResults() == 0)
    return std::nullopt;
  Axis last = stage.axes[out.getDimPosition(out.getNumResults() - 1)];
  if (llvm::is_contained(matmul.rows, last)) {
    std::swap(matmul.rows, matmul.columns);
    std::swap(matmul.a, matmul.b);
  }
  if (matmul.rows.empty() || matmul.columns.empty())
    return std::nullopt;
  // Order axes as in memory.
  auto sort = [&](SmallVector<Axis> &axes, unsigned number) {
    SmallVector<Axis> sorted;
    for (unsigned dim = 0; dim < maps[number].getNumResults(); ++dim)
      if (Axis axis = stage.axes[maps[number].getDimPosition(dim)];
          llvm::is_contained(axes, axis))
        sorted.push_back(axis);
    axes = sorted;
  };
  sort(matmul.rows, matmul.a);
  sort(matmul.columns, matmul.b);
  sort(matmul.depth, matmul.b);
  return matmul;
}

/// The buffer that a tensor is an element-wise view of.
static Value bufferOf(Value tensor, const DenseMap<Value, Storage> &storage) {
  if (linalg::GenericOp source = KernelGraph::producer(tensor))
    for (OpResult result : source->getResults())
      if (auto found = storage.find(result);
          found != storage.end() && source->getNumResults() == 1 &&
          found->second.dims.size() ==
              size_t(cast<RankedTensorType>(result.getType()).getRank()))
        return found->second.buffer;
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            op)) {
      tensor = op->getOperand(0);
      continue;
    }
    auto view = dyn_cast<bufferization::ToTensorOp>(op);
    if (!view)
      return {};
    auto type = dyn_cast<MemRefType>(view.getBuffer().getType());
    return type && type.getLayout().isIdentity() ? view.getBuffer() : Value();
  }
  return {};
}

std::optional<Panel> Panel::match(const Matmul &matmul, unsigned number,
                                  ArrayRef<Axis> outer,
                                  const DenseMap<Value, Storage> &storage) {
  Panel panel;
  const Stage &stage = matmul.stage();
  panel.buffer = bufferOf(matmul.operand(number), storage);
  if (!panel.buffer)
    return std::nullopt;
  auto type = cast<RankedTensorType>(matmul.operand(number).getType());
  panel.shape = llvm::to_vector(type.getShape());
  AffineMap map =
      stage.op.getMatchingIndexingMap(&stage.op->getOpOperand(number));
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    panel.dims.push_back(stage.axes[map.getDimPosition(dim)]);
  // Axes of each kind must be adjacent and in order.
  for (ArrayRef<Axis> axes : {outer, ArrayRef<Axis>(matmul.depth)}) {
    auto *first = llvm::find(panel.dims, axes.front());
    for (Axis axis : axes) {
      if (first == panel.dims.end() || *first != axis)
        return std::nullopt;
      ++first;
    }
  }
  panel.alongDepth = panel.dims.back() == matmul.depth.back();
  if (!panel.alongDepth &&
      (panel.dims.back() != outer.back() || outer.size() > 1))
    return std::nullopt;
  size_t inLine = panel.alongDepth ? matmul.depth.size() : 1;
  for (int64_t size : ArrayRef(panel.shape).take_back(inLine)) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    panel.line *= size;
  }
  while (panel.width < 8 && panel.line % (2 * panel.width) == 0)
    panel.width *= 2;
  return panel;
}
