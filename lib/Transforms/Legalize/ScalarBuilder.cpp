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

static bool isReal(Value value) { return isa<FloatType>(value.getType()); }

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
  if (isReal(lhs))
    return arith::AddFOp::create(*this, lhs, rhs);
  return arith::AddIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::sub(Value lhs, Value rhs) {
  if (isReal(lhs))
    return arith::SubFOp::create(*this, lhs, rhs);
  return arith::SubIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::mul(Value lhs, Value rhs) {
  if (isReal(lhs))
    return arith::MulFOp::create(*this, lhs, rhs);
  return arith::MulIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::div(Value lhs, Value rhs) {
  return arith::DivFOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::max(Value lhs, Value rhs, bool isUnsigned) {
  if (isReal(lhs))
    return arith::MaximumFOp::create(*this, lhs, rhs);
  if (isUnsigned)
    return arith::MaxUIOp::create(*this, lhs, rhs);
  return arith::MaxSIOp::create(*this, lhs, rhs);
}

Value ScalarBuilder::min(Value lhs, Value rhs, bool isUnsigned) {
  if (isReal(lhs))
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

/// f64 to f32, with the last bit set if inexact (round to odd): rounding again
/// to a narrower format is then as good as rounding once.
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

/// Prepares an integer with more bits than f64's significand, so that rounding
/// to f64 and then to a float of half that precision rounds like a single step:
/// for large integers, the lowest bits become one sticky bit.
static Value keepInexact(ScalarBuilder &s, Value value) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth(), dropped = width - 52;
  APInt mask = APInt::getLowBitsSet(width, dropped);
  Value last = arith::AndIOp::create(s, value, s.number(type, mask));
  Value isExact = s.compare(arith::CmpIPredicate::eq, last, s.number(type, 0));
  Value sticky = s.number(type, APInt::getOneBitSet(width, dropped - 1));
  Value rest = arith::AndIOp::create(s, value, s.number(type, ~mask));
  Value kept = s.select(isExact, rest, arith::OrIOp::create(s, rest, sticky));
  // Small integers of either sign are exact in f64.
  Value isSmall =
      s.compare(arith::CmpIPredicate::ult,
                s.add(value, s.number(type, APInt::getOneBitSet(width, 52))),
                s.number(type, APInt::getOneBitSet(width, 53)));
  return s.select(isSmall, value, kept);
}

Value ScalarBuilder::convertFloat(Value value, Type to) {
  auto from = dyn_cast<FloatType>(value.getType());
  if (!from || from == to)
    return value;
  unsigned width = cast<FloatType>(to).getWidth();
  if (from.getWidth() < width)
    return arith::ExtFOp::create(*this, to, value);
  // Formats of equal width convert through a wider one, which is lossless.
  if (from.getWidth() == width)
    value = arith::ExtFOp::create(*this, getF32Type(), value);
  // No processor supports this directly, and libraries often lack it.
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
  if (isa<FloatType>(source))
    return saturate(value, to);
  if (isa<FloatType>(target)) {
    // f32 represents 24 bits, f64 53; narrower floats are rounded from these.
    unsigned width = source.getIntOrFloatBitWidth();
    Type wide = target;
    if (cast<FloatType>(target).getWidth() < 32)
      wide = width <= 24 ? Type(getF32Type()) : Type(getF64Type());
    if (wide != target && width > 53)
      value = keepInexact(*this, value);
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
  value = convertFloat(value, getComputeType(value.getType()));
  auto type = cast<FloatType>(value.getType());
  Type integer = getKernelElementType(to);
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(to);
  unsigned digits = isUnsigned ? width : width - 1;
  APInt least =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  auto toInteger = [&](Value inside) -> Value {
    if (isUnsigned)
      return arith::FPToUIOp::create(*this, integer, inside);
    return arith::FPToSIOp::create(*this, integer, inside);
  };
  // With this order of comparison and selection, NaN passes through.
  Value low = number(type, least.roundToDouble(!isUnsigned));
  Value limited =
      select(compare(arith::CmpFPredicate::OLT, value, low), low, value);
  // If the float type represents both bounds exactly, clamp to them.
  if (digits <= APFloat::semanticsPrecision(type.getFloatSemantics())) {
    Value high = number(type, greatest.roundToDouble(!isUnsigned));
    limited = select(compare(arith::CmpFPredicate::OGT, limited, high), high,
                     limited);
    Value isNumber = compare(arith::CmpFPredicate::ORD, limited, limited);
    return toInteger(select(isNumber, limited, number(type, 0)));
  }
  // The first number out of range is exact, unlike the last one in range.
  Value beyond = number(type, std::ldexp(1.0, digits));
  Value isHigh = compare(arith::CmpFPredicate::OGE, limited, beyond);
  Value isInside = compare(arith::CmpFPredicate::OLT, limited, beyond);
  Value whole = toInteger(select(isInside, limited, number(type, 0)));
  return select(isHigh, number(integer, greatest), whole);
}

Value ScalarBuilder::shiftLeft(Value lhs, Value rhs) {
  Type type = lhs.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value isInside = compare(arith::CmpIPredicate::ult, rhs,
                           number(type, APInt(width, width)));
  Value amount =
      min(rhs, number(type, APInt(width, width - 1)), /*isUnsigned=*/true);
  Value shifted = arith::ShLIOp::create(*this, lhs, amount);
  return select(isInside, shifted, number(type, 0));
}

Value ScalarBuilder::shiftRight(Value lhs, Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value amount =
      min(rhs, number(type, APInt(width, width - 1)), /*isUnsigned=*/true);
  // Shift out all bits except the first, i.e. the sign, which fills the others.
  if (!isUnsigned)
    return arith::ShRSIOp::create(*this, lhs, amount);
  Value isInside = compare(arith::CmpIPredicate::ult, rhs,
                           number(type, APInt(width, width)));
  Value shifted = arith::ShRUIOp::create(*this, lhs, amount);
  return select(isInside, shifted, number(type, 0));
}

Value ScalarBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(*this, getIndexType(), integer);
}
