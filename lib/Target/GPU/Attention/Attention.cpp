//===- Attention.cpp - recognizes attention -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/Attention.h"

#include "Target/GPU/Matmul/Matmul.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::optional<Stored> Stored::match(const Stage &stage, unsigned number) {
  Stored region;
  OpOperand &operand = stage.op->getOpOperand(number);
  AffineMap map = stage.op.getMatchingIndexingMap(&operand);
  if (!map.isProjectedPermutation())
    return std::nullopt;
  MLIRContext *context = stage.op->getContext();
  OpFoldResult zero = IntegerAttr::get(IndexType::get(context), 0);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    region.axes.push_back(stage.axes[map.getDimPosition(dim)]);
    region.starts.push_back(zero);
  }
  Value tensor = operand.get();
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      tensor = cast.getSource();
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      // A single slice that starts at the origin: its position is known before
      // the kernel runs.
      if (!slice.hasUnitStride() ||
          llvm::any_of(region.starts, [](OpFoldResult start) {
            return !isConstantIntValue(start, 0);
          }))
        return std::nullopt;
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      SmallVector<std::optional<Axis>> axes;
      unsigned next = 0;
      for (unsigned dim = 0; dim < dropped.size(); ++dim)
        axes.push_back(dropped.test(dim) ? std::optional<Axis>()
                                         : region.axes[next++]);
      region.axes = axes;
      region.starts = slice.getMixedOffsets();
      tensor = slice.getSource();
    } else {
      break;
    }
  }
  auto view = tensor.getDefiningOp<bufferization::ToTensorOp>();
  auto type =
      view ? dyn_cast<MemRefType>(view.getBuffer().getType()) : MemRefType();
  if (!type || !type.getLayout().isIdentity() || region.axes.empty() ||
      !region.axes.back() || !isConstantIntValue(region.starts.back(), 0))
    return std::nullopt;
  region.buffer = view.getBuffer();
  return region;
}

std::optional<int64_t> Stored::width() const {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t width = 128 / type.getElementTypeBitWidth();
  int64_t size = type.getShape().back();
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  while (size % width)
    width /= 2;
  return width;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static bool startsFromZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

/// Whether the result of `op` is f32.
static bool isSingle(linalg::GenericOp op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

/// The axis that a contraction sums over; none if it sums over several axes or
/// is not a sum of products.
static std::optional<Axis> summedBy(const Stage &stage) {
  if (!addsProduct(stage.op) || !startsFromZero(stage.op) ||
      stage.op.getNumReductionLoops() != 1)
    return std::nullopt;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop))
      return axis;
  return std::nullopt;
}

/// The static size of an axis of an operand.
static std::optional<int64_t> sizeOf(const Stage &stage, unsigned number,
                                     Axis axis) {
  OpOperand &operand = stage.op->getOpOperand(number);
  AffineMap map = stage.op.getMatchingIndexingMap(&operand);
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    if (stage.axes[map.getDimPosition(dim)] == axis && !type.isDynamicDim(dim))
      return type.getDimSize(dim);
  return std::nullopt;
}

std::optional<Attention> Attention::match(const KernelGraph &graph,
                                          const Nest &nest) {
  if (nest.rows.empty())
    return std::nullopt;
  Attention attention;
  attention.nest = &nest;
  attention.columns = *nest.columns;
  // The first contraction computes the scores; the last one sums over them.
  for (const Stage &stage : nest.stages)
    if (stage.isContraction())
      (attention.products ? attention.mixture : attention.products) = &stage;
  const Stage &products = *attention.products, &mixture = *attention.mixture;
  std::optional<Axis> depth = summedBy(products);
  if (!depth || summedBy(mixture) != nest.columns)
    return std::nullopt;
  attention.depth = *depth;
  for (auto [loop, axis] : llvm::enumerate(mixture.axes))
    if (mixture.isParallel(loop) && !nest.isOuter(axis))
      attention.inner = axis;
  for (Axis axis : nest.outer)
    if (!llvm::is_contained(nest.rows, axis))
      attention.batch.push_back(axis);
  // All axes must be known.
  auto isKnown = [&](const Stage &stage, Axis own, Axis other) {
    return llvm::all_of(stage.axes, [&](Axis axis) {
      return nest.isOuter(axis) || axis == own || axis == other;
    });
  };
  if (!isKnown(products, *depth, attention.columns) ||
      !isKnown(mixture, attention.columns, attention.inner))
    return std::nullopt;

  // Match the stages in between.
  auto hasColumns = [&](const Stage &stage) {
    return stage.loopOf(attention.columns).has_value();
  };
  for (const Stage &stage : nest.stages) {
    if (!stage.isReduction() || stage.isContraction() || !hasColumns(stage))
      continue;
    for (auto [tensor, map] : KernelGraph::reads(stage.op))
      if (linalg::GenericOp source = KernelGraph::producer(tensor))
        if (auto softmax = Softmax::match(source);
            softmax && softmax->maximum == stage.op)
          attention.softmax = *softmax;
  }
  Softmax &softmax = attention.softmax;
  if (!softmax.scores || softmax.sums.size() != 2 ||
      !isSingle(softmax.scores) || !isSingle(softmax.powers))
    return std::nullopt;
  attention.total = softmax.total();
  bool isSummed = llvm::is_contained(softmax.sums, mixture.op);
  if (!attention.total || !isSummed || attention.total == mixture.op ||
      !startsFromZero(attention.total) ||
      !graph.readsAtPoint(softmax.maximum, softmax.scores->getResult(0)) ||
      !graph.readsAtPoint(softmax.powers, softmax.scores->getResult(0)) ||
      !graph.readsAtPoint(softmax.powers, softmax.maximum->getResult(0)))
    return std::nullopt;
  for (linalg::GenericOp sum : softmax.sums)
    if (!graph.readsAtPoint(sum, softmax.powers->getResult(0)))
      return std::nullopt;
  // Other stages must come before the maximum or after the sums.
  bool isBefore = true;
  for (const Stage &stage : nest.stages) {
    isBefore &= stage.op != softmax.maximum;
    bool isReadLater =
        llvm::any_of(stage.op->getResults(), [&](OpResult result) {
          return graph.isReadLater(result, nest);
        });
    bool isOutput = llvm::any_of(graph.outputs, [&](const Output &output) {
      return output.value.getOwner() == stage.op;
    });
    if (isReadLater)
      return std::nullopt;
    bool isPart = &stage == &products || &stage == &mixture ||
                  stage.op == softmax.maximum || stage.op == softmax.powers ||
                  stage.op == attention.total;
    if (isPart && isOutput)
      return std::nullopt;
    if (isPart)
      continue;
    if (stage.isReduction() || hasColumns(stage) != isBefore ||
        (isBefore && isOutput) || (isBefore && &stage < &products))
      return std::nullopt;
    bool isInside = llvm::all_of(stage.axes, [&](Axis axis) {
      return nest.isOuter(axis) ||
             axis == (isBefore ? attention.columns : attention.inner);
    });
    if (!isInside)
      return std::nullopt;
    if (!isBefore)
      attention.ends.push_back(&stage);
  }

  // Match the operands. Neither keys nor values may depend on the rows.
  AffineMap first = products.op.getIndexingMapsArray()[0];
  attention.query =
      first.isFunctionOfDim(*products.loopOf(attention.columns)) ? 1 : 0;
  unsigned weights =
      KernelGraph::producer(mixture.op->getOperand(0)) == softmax.powers ? 0
                                                                         : 1;
  unsigned keys = 1 - attention.query, values = 1 - weights;
  auto key = Stored::match(products, keys);
  auto value = Stored::match(mixture, values);
  auto depthSize = sizeOf(products, keys, attention.depth);
  auto innerSize = sizeOf(mixture, values, attention.inner);
  if (!key || !value || !depthSize || !innerSize || *innerSize == 0 ||
      *depthSize == 0)
    return std::nullopt;
  if (value->along() != attention.inner ||
      (key->along() != attention.depth && key->along() != attention.columns))
    return std::nullopt;
  attention.key = *key;
  attention.value = *value;
  attention.depthSize = *depthSize;
  attention.innerSize = *innerSize;
  attention.hidden = HiddenColumns::match(nest, [](OpResult) { return false; });
  return attention;
}
