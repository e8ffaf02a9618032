//===- Functions.cpp - math functions as arithmetic -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

using Predicate = arith::CmpFPredicate;

Value Functions::constant(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}
Value Functions::integer(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(bitsType, value));
}
Value Functions::add(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}
Value Functions::sub(Value lhs, Value rhs) {
  return arith::SubFOp::create(builder, loc, lhs, rhs);
}
Value Functions::mul(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}
Value Functions::div(Value lhs, Value rhs) {
  return arith::DivFOp::create(builder, loc, lhs, rhs);
}
Value Functions::abs(Value x) { return math::AbsFOp::create(builder, loc, x); }
Value Functions::sqrt(Value x) { return math::SqrtOp::create(builder, loc, x); }
Value Functions::floor(Value x) {
  return math::FloorOp::create(builder, loc, x);
}
Value Functions::withSign(Value size, Value sign) {
  return math::CopySignOp::create(builder, loc, size, sign);
}
Value Functions::bits(Value x) {
  return arith::BitcastOp::create(builder, loc, bitsType, x);
}
Value Functions::fromBits(Value x) {
  return arith::BitcastOp::create(builder, loc, type, x);
}
Value Functions::compare(Predicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
}
Value Functions::less(Value lhs, Value rhs) {
  return compare(Predicate::OLT, lhs, rhs);
}
Value Functions::equal(Value lhs, Value rhs) {
  return compare(Predicate::OEQ, lhs, rhs);
}
Value Functions::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

Value Functions::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = add(mul(sum, x), constant(coefficient));
  return sum;
}

/// 1.5 * 2^52, or 1.5 * 2^23 for f32: adding it to a number leaves the rounded
/// value in the low bits.
static double magicOf(Type type) {
  return type.isF64() ? 6755399441055744.0 : 12582912.0;
}

Value Functions::nearest(Value x) {
  Value magic = constant(magicOf(type));
  return sub(add(x, magic), magic);
}

Value Functions::roundEven(Value x) {
  // Larger numbers are already whole.
  Value size = abs(x), whole = constant(isDouble() ? 0x1p52 : 0x1p23);
  Value rounded = withSign(sub(add(size, whole), whole), x);
  return select(less(size, whole), rounded, x);
}

Value Functions::toInteger(Value whole) {
  Value magic = constant(magicOf(type));
  return arith::SubIOp::create(builder, loc, bits(add(whole, magic)),
                               bits(magic));
}

Value Functions::powerOfTwo(Value n) {
  int64_t bias = isDouble() ? 1023 : 127, digits = isDouble() ? 52 : 23;
  Value exponent = arith::AddIOp::create(builder, loc, n, integer(bias));
  return fromBits(
      arith::ShLIOp::create(builder, loc, exponent, integer(digits)));
}

Value Functions::limit(Value x, double low, double high) {
  Value most = constant(high), least = constant(low);
  Value limited = select(less(most, x), most, x);
  return select(less(limited, least), least, limited);
}

Value Functions::timesPowerOfTwo(Value p, Value n) {
  Value half = arith::ShRSIOp::create(builder, loc, n, integer(1));
  Value rest = arith::SubIOp::create(builder, loc, n, half);
  return mul(mul(p, powerOfTwo(half)), powerOfTwo(rest));
}

SmallVector<double> Functions::inverseFactorials(int from) {
  SmallVector<double> all;
  double factorial = 1;
  for (int n = 1; n <= from; ++n)
    all.push_back(1 / (factorial *= n));
  std::reverse(all.begin(), all.end());
  return all;
}

Value Functions::reduceExp(Value x, Value &n) {
  Value whole = nearest(mul(x, constant(M_LOG2E)));
  n = toInteger(whole);
  // ln 2 is split in two parts, the first with few bits.
  Value r = sub(x, mul(whole, constant(0x1.62e42fee00000p-1)));
  r = sub(r, mul(whole, constant(0x1.a39ef35793c76p-33)));
  return mul(polynomial(r, inverseFactorials(14)), r);
}

Value Functions::exp(Value x) {
  if (!isDouble())
    return math::ExpOp::create(builder, loc, x);
  Value n;
  Value p = add(reduceExp(limit(x, -746, 710), n), constant(1));
  return select(compare(Predicate::UNO, x, x), x, timesPowerOfTwo(p, n));
}

Value Functions::limitExponent(Value x) {
  return isDouble() ? limit(x, -1080, 1025) : limit(x, -155, 129);
}

Value Functions::exp2(Value x) {
  Value limited = limitExponent(x);
  Value whole = nearest(limited);
  Value p = exp(mul(sub(limited, whole), constant(M_LN2)));
  Value result = timesPowerOfTwo(p, toInteger(whole));
  return select(compare(Predicate::UNO, x, x), x, result);
}

Value Functions::expm1(Value x) {
  if (!isDouble())
    return math::ExpM1Op::create(builder, loc, x);
  constexpr double most = 709;
  Value n;
  Value p = reduceExp(limit(x, -50, most), n);
  Value scale = powerOfTwo(n);
  Value result = add(mul(scale, p), sub(scale, constant(1)));
  result = select(less(constant(most), x), exp(x), result);
  Value isTiny = less(abs(x), constant(1e-17));
  return select(
      arith::OrIOp::create(builder, loc, isTiny, compare(Predicate::UNO, x, x)),
      x, result);
}

std::pair<Value, Value> Functions::splitExponent(Value x) {
  int64_t digits = isDouble() ? 52 : 23, shift = digits + 2;
  Value isSmall = less(x, constant(isDouble() ? 0x1p-1022 : 0x1p-126));
  Value raw = bits(select(isSmall, mul(x, constant(std::ldexp(1, shift))), x));
  Value root = integer(isDouble() ? 0x3FE6A09E667F3BCD : 0x3F3504F3);
  Value offset = arith::SubIOp::create(builder, loc, raw, root);
  Value exponent =
      arith::ShRSIOp::create(builder, loc, offset, integer(digits));
  Value mantissa = fromBits(arith::SubIOp::create(
      builder, loc, raw,
      arith::ShLIOp::create(builder, loc, exponent, integer(digits))));
  Value e = arith::SIToFPOp::create(builder, loc, type, exponent);
  return {mantissa, sub(e, select(isSmall, constant(shift), constant(0)))};
}

Value Functions::log(Value x) {
  if (!isDouble())
    return math::LogOp::create(builder, loc, x);
  auto [mantissa, e] = splitExponent(x);
  // log m = 2 artanh s, s = (m - 1) / (m + 1).
  Value f = sub(mantissa, constant(1));
  Value s = div(f, add(f, constant(2)));
  Value z = mul(s, s);
  SmallVector<double> series;
  for (int n = 23; n >= 3; n -= 2)
    series.push_back(2.0 / n);
  // 2s = f - s f, which is exact if the mantissa is near one.
  Value tail = mul(s, sub(mul(polynomial(z, series), z), f));
  Value result = add(add(mul(e, constant(0x1.a39ef35793c76p-33)), tail), f);
  result = add(result, mul(e, constant(0x1.62e42fee00000p-1)));
  result = select(less(x, constant(INFINITY)), result, x);
  result = select(equal(x, constant(0)), constant(-INFINITY), result);
  return select(less(x, constant(0)), constant(NAN), result);
}

Value Functions::log1p(Value x) {
  if (!isDouble())
    return math::Log1pOp::create(builder, loc, x);
  // A correction factor for the rounding of 1 + x.
  Value sum = add(x, constant(1));
  Value corrected = mul(log(sum), div(x, sub(sum, constant(1))));
  Value isLarge = less(constant(1e30), x);
  return select(equal(sum, constant(1)), x, select(isLarge, log(x), corrected));
}

Value Functions::atan(Value x) {
  // Reduce to [0, 1], then to the nearest eighth: atan x = atan c +
  // atan((x-c)/(1+xc)).
  Value size = abs(x), one = constant(1);
  Value isLarge = less(one, size);
  Value t = select(isLarge, div(one, size), size);
  Value result = constant(0), center = constant(0);
  for (int i = 1; i <= 8; ++i) {
    Value isBeyond = less(constant((i - 0.5) / 8), t);
    center = select(isBeyond, constant(i / 8.0), center);
    result = select(isBeyond, constant(std::atan(i / 8.0)), result);
  }
  Value r = div(sub(t, center), add(one, mul(t, center)));
  Value square = mul(r, r);
  SmallVector<double> series;
  for (int n = 15; n >= 3; n -= 2)
    series.push_back((n / 2 % 2 ? -1.0 : 1.0) / n);
  r = add(mul(mul(polynomial(square, series), square), r), r);
  result = add(result, r);
  Value rest =
      add(sub(constant(M_PI_2), result), constant(6.123233995736766e-17));
  result = select(isLarge, rest, result);
  return withSign(result, x);
}

Value Functions::atan2(Value y, Value x) {
  Value zero = constant(0);
  Value isVertical = equal(x, zero);
  Value both =
      arith::AndIOp::create(builder, loc, equal(abs(x), constant(INFINITY)),
                            equal(abs(y), constant(INFINITY)));
  Value slope = select(both, constant(1), div(abs(y), abs(x)));
  Value angle = atan(slope);
  angle = select(isVertical, constant(M_PI_2), angle);
  angle = select(equal(y, zero), zero, angle);
  // Also true for a negative zero.
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       bits(x), integer(0));
  Value isPole = arith::AndIOp::create(builder, loc, isVertical,
                                       compare(Predicate::UNE, y, zero));
  Value left = select(isPole, angle, sub(constant(M_PI), angle));
  Value result = withSign(select(isLeft, left, angle), y);
  Value isNaN = compare(Predicate::UNO, x, y);
  return select(isNaN, constant(NAN), result);
}

Value Functions::asin(Value x) {
  // sqrt((1 - x)(1 + x)) is accurate near one.
  Value one = constant(1);
  Value root = sqrt(mul(sub(one, x), add(one, x)));
  Value result =
      select(equal(abs(x), one), constant(M_PI_2), atan(div(abs(x), root)));
  return withSign(result, x);
}

Value Functions::acos(Value x) {
  Value one = constant(1);
  Value root = sqrt(mul(sub(one, x), add(one, x)));
  return atan2(root, x);
}

Value Functions::sinh(Value x) {
  Value size = abs(x);
  Value e = expm1(size);
  Value small = mul(constant(0.5), add(e, div(e, add(e, constant(1)))));
  Value half = exp(mul(constant(0.5), size));
  Value large = mul(mul(constant(0.5), half), half);
  return withSign(select(less(constant(40), size), large, small), x);
}

Value Functions::cosh(Value x) {
  Value size = abs(x);
  Value half = exp(mul(constant(0.5), size));
  Value e = exp(size);
  Value small = mul(constant(0.5), add(e, div(constant(1), e)));
  return select(less(constant(40), size), mul(mul(constant(0.5), half), half),
                small);
}

Value Functions::tanh(Value x) {
  Value size = abs(x);
  Value limited = select(less(constant(30), size), constant(30), size);
  Value e = expm1(mul(constant(2), limited));
  return withSign(div(e, add(e, constant(2))), x);
}

Value Functions::asinh(Value x) {
  Value size = abs(x), one = constant(1);
  Value square = mul(size, size);
  Value root = sqrt(add(square, one));
  Value small = log1p(add(size, div(square, add(one, root))));
  Value large = add(log(size), constant(M_LN2));
  return withSign(
      select(less(constant(isDouble() ? 1e150 : 1e15), size), large, small), x);
}

Value Functions::acosh(Value x) {
  Value t = sub(x, constant(1));
  Value small = log1p(add(t, sqrt(add(mul(constant(2), t), mul(t, t)))));
  Value large = add(log(x), constant(M_LN2));
  Value result =
      select(less(constant(isDouble() ? 1e150 : 1e15), x), large, small);
  return select(less(x, constant(1)), constant(NAN), result);
}

Value Functions::atanh(Value x) {
  Value size = abs(x);
  Value ratio = div(mul(constant(2), size), sub(constant(1), size));
  return withSign(mul(constant(0.5), log1p(ratio)), x);
}

Value Functions::erf(Value x) {
  // Up to 3, the series of x e^(-x^2) (2x)^2n / (1 * 3 * 5 ...), all of whose
  // terms are positive; beyond, 1 - e^(-x^2) / (x sqrt(pi)) by a continued
  // fraction.
  Value size = abs(x);
  Value limited = select(less(constant(3), size), constant(3), size);
  Value square = mul(limited, limited);
  Value sum = constant(1);
  for (int n = 45; n >= 1; --n)
    sum = add(mul(mul(square, constant(2.0 / (2 * n + 1))), sum), constant(1));
  Value scale = mul(limited, constant(M_2_SQRTPI));
  Value small = mul(mul(scale, exp(sub(constant(0), square))), sum);
  Value beyond = select(less(size, constant(3)), constant(3), size);
  beyond = select(less(constant(7), beyond), constant(7), beyond);
  Value fraction = beyond;
  for (int n = 30; n >= 1; --n)
    fraction = add(beyond, div(constant(n / 2.0), fraction));
  Value rest = div(exp(sub(constant(0), mul(beyond, beyond))),
                   mul(fraction, constant(std::sqrt(M_PI))));
  Value large = sub(constant(1), rest);
  Value result = select(less(size, constant(3)), small, large);
  result = withSign(result, x);
  return select(compare(Predicate::UNO, x, x), x, result);
}

Value Functions::remainder(Value x, Value y) {
  // Long division: subtract power-of-two multiples of the divisor, starting
  // with the exponent of the remainder. Each step is exact.
  Value left = abs(x), divisor = abs(y);
  int64_t mantissaBits = isDouble() ? 52 : 23;
  Value mantissa = integer((int64_t(1) << mantissaBits) - 1);
  Value exponent =
      integer((isDouble() ? int64_t(0x7FF) : int64_t(0xFF)) << mantissaBits);
  auto both = [&](Value lhs, Value rhs) {
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  };
  Value infinity = constant(INFINITY);
  Value least = constant(isDouble() ? 0x1p-1022 : 0x1p-126);
  Value isOrdinary =
      both(less(left, infinity), compare(Predicate::OGE, divisor, least));
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange(type), ValueRange(left),
      [&](OpBuilder &inner, Location at, ValueRange args) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(),
                                  inner.getInsertionPoint());
        Value goesOn =
            both(isOrdinary, compare(Predicate::OGE, args[0], divisor));
        scf::ConditionOp::create(builder, at, goesOn, args);
      },
      [&](OpBuilder &inner, Location at, ValueRange args) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(),
                                  inner.getInsertionPoint());
        Value multiple = fromBits(
            arith::OrIOp::create(builder, at, both(bits(divisor), mantissa),
                                 both(bits(args[0]), exponent)));
        multiple = select(less(args[0], multiple), mul(multiple, constant(0.5)),
                          multiple);
        scf::YieldOp::create(builder, at, sub(args[0], multiple));
      });
  Value result = withSign(loop.getResult(0), x);
  // NaN for a zero divisor and for operands that are not finite numbers.
  Value isNone = arith::OrIOp::create(
      builder, loc, compare(Predicate::UEQ, divisor, constant(0)),
      arith::OrIOp::create(builder, loc,
                           compare(Predicate::UNE, divisor, divisor),
                           compare(Predicate::UGE, left, infinity)));
  return select(isNone, constant(NAN), result);
}
