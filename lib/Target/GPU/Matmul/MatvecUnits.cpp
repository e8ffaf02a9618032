//===- MatvecUnits.cpp - inner loop of matrix-vector products -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatvecEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

LaunchEmitter::Point MatvecEmitter::columnAt(Value number, const Point &base) {
  Value columns = count(matmul.columns);
  std::optional<int64_t> known = getConstantIntValue(columns);
  if (!known || *known % width)
    number = arith::MinUIOp::create(
        builder, loc, number,
        builder.createOrFold<arith::SubIOp>(loc, columns, emitter.constant(1)));
  Point point = base;
  divide(number, matmul.columns, point);
  return point;
}

Value MatvecEmitter::multiplyAdd(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

LaunchEmitter::Point MatvecEmitter::pointOf(size_t product, Point point) const {
  for (auto [own, other] : llvm::zip(products[product].depth, matmul.depth))
    if (auto found = point.find(other); found != point.end() && own != other)
      point[own] = Lanes(found->second);
  return point;
}

FailureOr<Value> MatvecEmitter::operandAt(size_t product, unsigned number,
                                          const Point &point) {
  const Stage &stage = products[product].stage();
  FailureOr<Lanes> found = emitter.operand(
      stage.op, number, loopsAt(stage, pointOf(product, point)));
  if (failed(found))
    return failure();
  Value value = emitter.vector(*found);
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType().isF32())
    return value;
  // Use the value before it is rounded to a narrower type.
  if (auto narrow = value.getDefiningOp<arith::TruncFOp>())
    if (getElementTypeOrSelf(narrow.getIn().getType()).isF32())
      return narrow.getIn();
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  return Value(arith::ExtFOp::create(builder, loc,
                                     type.clone(builder.getF32Type()), value));
}

Scaled MatvecEmitter::takeApart(Value value) {
  Scaled parts = Scaled::takeApart(value);
  if (auto number = parts.core.getDefiningOp<arith::UIToFPOp>())
    if (isSmall(number.getIn())) {
      parts.core = addedTo128(builder, loc, number.getIn());
      parts.bias += 128;
    }
  return parts;
}

Value MatvecEmitter::sumOfProducts(Value x, Value core, Value sum) {
  for (int64_t lane = 0; lane < emitter.lanes; ++lane) {
    Value a = vector::ExtractOp::create(builder, loc, x, lane);
    Value b = vector::ExtractOp::create(builder, loc, core, lane);
    sum = sum ? multiplyAdd(a, b, sum)
              : Value(arith::MulFOp::create(builder, loc, a, b));
  }
  return sum;
}

Value MatvecEmitter::sumOfLanes(Value x) {
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD,
                                     x, arith::FastMathFlags::reassoc);
}

MatvecEmitter::Unit MatvecEmitter::readUnit(Value unit, const Point &base) {
  Point point = base;
  divide(unit, units.across, point);
  Unit read;
  int64_t vectors = *getConstantIntValue(count(units.within));
  for (int64_t i = 0; i < vectors; ++i) {
    Point part = point;
    int64_t rest = i;
    for (Axis axis : llvm::reverse(units.within)) {
      int64_t size = *getConstantIntValue(count(axis));
      int64_t step = isWide(axis) ? emitter.lanes : 1;
      part[axis] = {number(rest % size * step), isWide(axis) ? 1 : 0};
      rest /= size;
    }
    read.parts.push_back(part);
  }
  for (size_t product = 0; product < products.size(); ++product)
    for (int64_t index = 0; index < width; ++index) {
      Point column = columnAt(emitter.add(first, emitter.constant(index)), {});
      SmallVector<Value> &elements = read.elements.emplace_back();
      for (Point part : read.parts) {
        for (Axis axis : matmul.columns)
          part[axis] = column[axis];
        FailureOr<Value> element =
            operandAt(product, products[product].b, part);
        if (failed(element)) {
          fail();
          return read;
        }
        elements.push_back(*element);
      }
    }
  return read;
}

/// Adds the products of a unit to the sums.
SmallVector<Value> MatvecEmitter::addUnit(const Unit &unit, ValueRange before) {
  size_t vectors = unit.parts.size();
  SmallVector<Value> xs, totals(vectors);
  SmallVector<std::map<double, Value>> biases(vectors);
  SmallVector<Value> sums = llvm::to_vector(before);
  for (const Point &part : unit.parts) {
    FailureOr<Value> x = operandAt(0, matmul.a, part);
    if (failed(x))
      fail();
    if (hasFailed)
      return sums;
    xs.push_back(*x);
  }
  for (auto [sum, elements] : llvm::zip(sums, unit.elements)) {
    Value old = sum;
    for (auto [at, element] : llvm::enumerate(elements)) {
      Scaled scaled = takeApart(element);
      auto total = [&](Value &known, function_ref<Value()> make) {
        return known ? known : known = make();
      };
      auto totalOf = [&, at = at] {
        return total(totals[at], [&] { return sumOfLanes(xs[at]); });
      };
      Value start;
      if (scaled.bias)
        start = total(biases[at][scaled.bias], [&] {
          Value factor = arith::ConstantOp::create(
              builder, loc, builder.getF32FloatAttr(-scaled.bias));
          return Value(arith::MulFOp::create(builder, loc, totalOf(), factor));
        });
      else if (!scaled.scale)
        start = sum;
      Value product = sumOfProducts(xs[at], scaled.core, start);
      if (scaled.scale)
        sum = multiplyAdd(scaled.scale, product, sum);
      else if (scaled.bias)
        sum = arith::AddFOp::create(builder, loc, sum, product);
      else
        sum = product;
      if (scaled.offset)
        sum = multiplyAdd(scaled.offset, totalOf(), sum);
    }
    if (unit.isOn)
      sum = arith::SelectOp::create(builder, loc, unit.isOn, sum, old);
  }
  return sums;
}
