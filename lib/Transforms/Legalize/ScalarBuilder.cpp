//===- ScalarBuilder.cpp - arithmetic on elements -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/ScalarBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

Type relax::getKernelElementType(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  return integer ? IntegerType::get(integer.getContext(), integer.getWidth())
                 : elementType;
}

Type relax::getComputeType(Type elementType) {
  auto number = dyn_cast<FloatType>(elementType);
  return number && number.getWidth() < 32
             ? Float32Type::get(number.getContext())
             : elementType;
}

bool relax::isUnsignedElement(Type elementType) {
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Constants and positions
//===----------------------------------------------------------------------===//

Value ScalarBuilder::number(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(*this, getFloatAttr(type, value));
  return arith::ConstantOp::create(
      *this, getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value ScalarBuilder::number(Type type, const APInt &value) {
  return arith::ConstantOp::create(*this, getIntegerAttr(type, value));
}

Value ScalarBuilder::number(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return number(getKernelElementType(integer.getType()), integer.getValue());
  return arith::ConstantOp::create(*this, cast<TypedAttr>(value));
}

Value ScalarBuilder::position(int64_t loop) {
  return linalg::IndexOp::create(*this, loop);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::AddFOp::create(*this, lhs, rhs);
  return arith::AddIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::sub(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::SubFOp::create(*this, lhs, rhs);
  return arith::SubIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::mul(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::MulFOp::create(*this, lhs, rhs);
  return arith::MulIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::div(Value lhs, Value rhs) {
  return arith::DivFOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::max(Value lhs, Value rhs, bool isUnsigned) {
  if (isFloat(lhs))
    return arith::MaximumFOp::create(*this, lhs, rhs);
  if (isUnsigned)
    return arith::MaxUIOp::create(*this, lhs, rhs);
  return arith::MaxSIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::min(Value lhs, Value rhs, bool isUnsigned) {
  if (isFloat(lhs))
    return arith::MinimumFOp::create(*this, lhs, rhs);
  if (isUnsigned)
    return arith::MinUIOp::create(*this, lhs, rhs);
  return arith::MinSIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::compare(arith::CmpIPredicate predicate, Value lhs,
                             Value rhs) {
  return arith::CmpIOp::create(*this, predicate, lhs, rhs);
}

Value ScalarBuilder::compare(arith::CmpFPredicate predicate, Value lhs,
                             Value rhs) {
  return arith::CmpFOp::create(*this, predicate, lhs, rhs);
}

Value ScalarBuilder::select(Value condition, Value then, Value otherwise) {
  return arith::SelectOp::create(*this, condition, then, otherwise);
}

Value ScalarBuilder::both(Value lhs, Value rhs) {
  return arith::AndIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::either(Value lhs, Value rhs) {
  return arith::OrIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::negate(Value condition) {
  return arith::XOrIOp::create(*this, condition,
                               number(condition.getType(), 1));
}

//===----------------------------------------------------------------------===//
// Integer division
//===----------------------------------------------------------------------===//

Value ScalarBuilder::quotient(Value lhs, Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  Value zero = number(type, 0), one = number(type, 1);
  Value isZero = compare(arith::CmpIPredicate::eq, rhs, zero);
  if (isUnsigned) {
    Value safe = select(isZero, one, rhs);
    return select(isZero, zero, arith::DivUIOp::create(*this, lhs, safe));
  }
  Value isMinusOne = compare(arith::CmpIPredicate::eq, rhs, number(type, -1));
  Value safe = select(either(isZero, isMinusOne), one, rhs);
  Value result = arith::DivSIOp::create(*this, lhs, safe);
  result = select(isMinusOne, sub(zero, lhs), result);
  return select(isZero, zero, result);
}

Value ScalarBuilder::remainder(Value lhs, Value rhs, bool isUnsigned) {
  Value zero = number(rhs.getType(), 0);
  Value rest = sub(lhs, mul(quotient(lhs, rhs, isUnsigned), rhs));
  return select(compare(arith::CmpIPredicate::eq, rhs, zero), zero, rest);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// f64 to f32, inexact results with the last bit set: rounding again, to a
/// narrower format, is then as good as rounding once.
static Value roundToOdd(ScalarBuilder &s, Value value) {
  Type i32 = s.getI32Type();
  Value nearest = arith::TruncFOp::create(s, s.getF32Type(), value);
  Value back = arith::ExtFOp::create(s, value.getType(), nearest);
  Value bits = arith::BitcastOp::create(s, i32, nearest);
  Value lastBit = arith::AndIOp::create(s, bits, s.number(i32, 1));
  Value isInexact = s.compare(arith::CmpFPredicate::ONE, back, value);
  Value isEven = s.compare(arith::CmpIPredicate::eq, lastBit, s.number(i32, 0));
  Value isBelow =
      s.compare(arith::CmpFPredicate::OLT, math::AbsFOp::create(s, back),
                math::AbsFOp::create(s, value));
  Value step = s.select(isBelow, s.number(i32, 1), s.number(i32, -1));
  Value moved = s.select(s.both(isInexact, isEven), s.add(bits, step), bits);
  return arith::BitcastOp::create(s, s.getF32Type(), moved);
}

Value ScalarBuilder::convertFloat(Value value, Type to) {
  auto from = dyn_cast<FloatType>(value.getType());
  if (!from || from == to)
    return value;
  unsigned width = cast<FloatType>(to).getWidth();
  if (from.getWidth() < width)
    return arith::ExtFOp::create(*this, to, value);
  // Formats of one width convert through a wider one, which loses nothing.
  if (from.getWidth() == width)
    value = arith::ExtFOp::create(*this, getF32Type(), value);
  // No processor does it, and libraries often lack it.
  if (from.isF64() && width < 32)
    value = roundToOdd(*this, value);
  return arith::TruncFOp::create(*this, to, value);
}

Value ScalarBuilder::convert(Value value, Type from, Type to) {
  Type target = getKernelElementType(to);
  Type source = value.getType();
  if (isa<FloatType>(source) && isa<FloatType>(target))
    return convertFloat(value, target);
  if (target.isInteger(1)) {
    if (source == target)
      return value;
    if (isa<FloatType>(source))
      return compare(arith::CmpFPredicate::UNE, value, number(source, 0.0));
    return compare(arith::CmpIPredicate::ne, value, number(source, 0.0));
  }
  if (isa<FloatType>(source)) {
    if (isUnsignedElement(to))
      return arith::FPToUIOp::create(*this, target, value);
    return arith::FPToSIOp::create(*this, target, value);
  }
  if (isa<FloatType>(target)) {
    // f32 holds 24 bits, f64 holds 53; narrower floats round from these.
    unsigned width = source.getIntOrFloatBitWidth();
    Type wide = target;
    if (cast<FloatType>(target).getWidth() < 32)
      wide = width <= 24 ? Type(getF32Type()) : Type(getF64Type());
    Value number = isUnsignedElement(from)
                       ? Value(arith::UIToFPOp::create(*this, wide, value))
                       : Value(arith::SIToFPOp::create(*this, wide, value));
    return convertFloat(number, target);
  }
  unsigned sourceWidth = source.getIntOrFloatBitWidth(),
           targetWidth = target.getIntOrFloatBitWidth();
  if (sourceWidth == targetWidth)
    return value;
  if (sourceWidth > targetWidth)
    return arith::TruncIOp::create(*this, target, value);
  if (isUnsignedElement(from))
    return arith::ExtUIOp::create(*this, target, value);
  return arith::ExtSIOp::create(*this, target, value);
}

Value ScalarBuilder::saturate(Value value, Type to) {
  Type type = value.getType(), integer = getKernelElementType(to);
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(to);
  APInt least =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value low = number(type, least.roundToDouble(!isUnsigned));
  // The first number beyond is exact, unlike the last one within.
  Value beyond = number(type, std::ldexp(1.0, isUnsigned ? width : width - 1));
  Value isLow = compare(arith::CmpFPredicate::OLE, value, low);
  Value isHigh = compare(arith::CmpFPredicate::OGE, value, beyond);
  Value isNaN = compare(arith::CmpFPredicate::UNO, value, value);
  Value isOutside = either(isNaN, either(isLow, isHigh));
  Value inside = convert(select(isOutside, number(type, 0), value), type, to);
  Value result = select(isLow, number(integer, least), inside);
  return select(isHigh, number(integer, greatest), result);
}

Value ScalarBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(*this, getIndexType(), integer);
}
