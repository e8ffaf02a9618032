//===- TwoSum.cpp - float sums with their rounding errors -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/TwoSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

LosslessSum LosslessSum::add(OpBuilder &builder, Location loc,
                             Value term) const {
  auto plus = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  };
  auto minus = [&](Value lhs, Value rhs) -> Value {
    return arith::SubFOp::create(builder, loc, lhs, rhs);
  };
  Value more = plus(term, lost);
  Value sum = plus(total, more);
  Value added = minus(sum, total);
  Value error = plus(minus(total, minus(sum, added)), minus(more, added));
  // The error of an infinite sum is NaN.
  Type type = error.getType();
  TypedAttr infinity = builder.getFloatAttr(
      getElementTypeOrSelf(type), std::numeric_limits<double>::infinity());
  if (auto vector = dyn_cast<VectorType>(type))
    infinity = DenseElementsAttr::get(vector, infinity);
  Value isFinite =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(builder, loc, error),
                            arith::ConstantOp::create(builder, loc, infinity));
  Value zero = arith::ConstantOp::create(
      builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  return {sum, arith::SelectOp::create(builder, loc, isFinite, error, zero)};
}

Value LosslessSum::value(OpBuilder &builder, Location loc) const {
  return arith::AddFOp::create(builder, loc, total, lost);
}
