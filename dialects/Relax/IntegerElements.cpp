//===- IntegerElements.cpp - integer tensors as expressions ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/IntegerElements.h"

#include "Relax/Ops/Core.h"
#include "Relax/Ops/Elementwise.h"
#include "Relax/Ops/Index.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Ops/Reduction.h"
#include "Relax/Ops/Slice.h"
#include "Relax/SymDirectives.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

using Expressions = std::optional<SymDims>;

/// Follows the defining ops up to a fixed depth.
class ElementReader {
public:
  explicit ElementReader(MLIRContext *context) : math(context) {}

  Expressions read(Value value, unsigned depth = 0);

private:
  static constexpr unsigned kMaxDepth = 32;

  Expressions readConstant(ElementsAttr value);
  Expressions readTake(TakeOp op, unsigned depth);
  Expressions readSlice(StridedSliceOp op, unsigned depth);
  Expressions readConcat(ConcatOp op, unsigned depth);
  Expressions readProduct(ProdOp op, unsigned depth);
  template <typename Fn>
  Expressions combine(Value lhs, Value rhs, unsigned depth, Fn fn);

  SymBuilder math;
};

} // namespace

/// The number of elements, if the type gives it. Only for rank zero and one,
/// and only for i64, whose arithmetic matches expressions.
static std::optional<int64_t> countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() > 1 || !type.getElementType().isInteger(64) ||
      !type.hasStaticShape() || type.getNumElements() > kMaxShapeRank)
    return std::nullopt;
  return type.getNumElements();
}

Expressions ElementReader::read(Value value, unsigned depth) {
  std::optional<int64_t> count = countElements(value);
  Operation *op = value.getDefiningOp();
  if (!count)
    return std::nullopt;
  if (!op || depth > kMaxDepth)
    return SymDims(*count);
  Expressions elements =
      llvm::TypeSwitch<Operation *, Expressions>(op)
          .Case([&](ShapeToTensorOp op) -> Expressions {
            return SymDims(op.getInput().getType().getDims());
          })
          .Case([&](ConstantOp op) {
            return readConstant(dyn_cast<ElementsAttr>(op.getValue()));
          })
          // These ops only change the shape.
          .Case<ExpandDimsOp, SqueezeOp, FlattenOp, ReshapeOp, MatchCastOp>(
              [&](auto op) { return read(op->getOperand(0), depth + 1); })
          .Case([&](TakeOp op) { return readTake(op, depth + 1); })
          .Case([&](StridedSliceOp op) { return readSlice(op, depth + 1); })
          .Case([&](ConcatOp op) { return readConcat(op, depth + 1); })
          .Case([&](ProdOp op) { return readProduct(op, depth + 1); })
          .Case([&](AddOp op) {
            return combine(op.getLhs(), op.getRhs(), depth + 1,
                           [&](auto l, auto r) { return math.add(l, r); });
          })
          .Case([&](SubtractOp op) {
            return combine(op.getLhs(), op.getRhs(), depth + 1,
                           [&](auto l, auto r) { return math.sub(l, r); });
          })
          .Case([&](MultiplyOp op) {
            return combine(op.getLhs(), op.getRhs(), depth + 1,
                           [&](auto l, auto r) { return math.mul(l, r); });
          })
          .Default([](Operation *) { return std::nullopt; });
  if (!elements || static_cast<int64_t>(elements->size()) != *count)
    return SymDims(*count);
  return elements;
}

Expressions ElementReader::readConstant(ElementsAttr value) {
  auto integers = dyn_cast_or_null<DenseIntElementsAttr>(value);
  if (!integers)
    return std::nullopt;
  SymDims elements;
  for (const APInt &element : integers.getValues<APInt>()) {
    int64_t number = element.getSExtValue(); // i64, by countElements
    elements.push_back(number == INT64_MIN ? SymExprAttr()
                                           : math.constant(number));
  }
  return elements;
}

/// Elements at constant positions; negative ones count from the end.
Expressions ElementReader::readTake(TakeOp op, unsigned depth) {
  Expressions from = read(op.getX(), depth);
  DenseIntElementsAttr indices;
  if (!from || op.getMode() != "raise" || !op.getIndices().getDefiningOp() ||
      !matchPattern(op.getIndices(), m_Constant(&indices)) ||
      indices.getNumElements() > kMaxShapeRank)
    return std::nullopt;
  int64_t size = from->size();
  SymDims elements;
  for (const APInt &index : indices.getValues<APInt>()) {
    int64_t position = index.getSExtValue();
    if (position < -size || position >= size)
      return std::nullopt;
    elements.push_back((*from)[position < 0 ? position + size : position]);
  }
  return elements;
}

/// A slice with constant positions.
Expressions ElementReader::readSlice(StridedSliceOp op, unsigned depth) {
  Expressions from = read(op.getX(), depth);
  if (!from || op.getAxes().size() != 1)
    return std::nullopt;
  auto constant = [](ArrayAttr exprs) -> std::optional<int64_t> {
    SmallVector<SymExprAttr> values = getSymExprs(exprs);
    return values.size() == 1 && values[0] ? values[0].getConstantValue()
                                           : std::nullopt;
  };
  std::optional<int64_t> begin = constant(op.getBegin()),
                         end = constant(op.getEnd());
  std::optional<int64_t> stride =
      op.getStrides() ? constant(*op.getStrides()) : 1;
  if (!begin || !end || !stride || *stride < 1)
    return std::nullopt;
  int64_t size = from->size();
  auto clamp = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + size : position, 0,
                               size);
  };
  SymDims elements;
  int64_t last = clamp(*end), step = std::min(*stride, size + 1);
  for (int64_t position = clamp(*begin); position < last; position += step)
    elements.push_back((*from)[position]);
  return elements;
}

Expressions ElementReader::readConcat(ConcatOp op, unsigned depth) {
  SymDims elements;
  for (Value tensor : op.getTensors()) {
    Expressions part = read(tensor, depth);
    if (!part)
      return std::nullopt;
    elements.append(*part);
  }
  return elements;
}

/// The product of all elements.
Expressions ElementReader::readProduct(ProdOp op, unsigned depth) {
  Expressions factors = read(op.getX(), depth);
  if (!factors)
    return std::nullopt;
  return SymDims{math.product(*factors)};
}

/// Element-wise; a single element is broadcast.
template <typename Fn>
Expressions ElementReader::combine(Value lhs, Value rhs, unsigned depth,
                                   Fn fn) {
  Expressions left = read(lhs, depth), right = read(rhs, depth);
  if (!left || !right)
    return std::nullopt;
  size_t size = left->size() == 1 ? right->size() : left->size();
  if (right->size() != size && right->size() != 1)
    return std::nullopt;
  SymDims elements;
  for (size_t index = 0; index < size; ++index)
    elements.push_back(fn((*left)[left->size() == 1 ? 0 : index],
                          (*right)[right->size() == 1 ? 0 : index]));
  return elements;
}

std::optional<SymDims> relax::getIntegerElements(Value value) {
  return ElementReader(value.getContext()).read(value);
}
