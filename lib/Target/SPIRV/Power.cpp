//===- Power.cpp - powers as arithmetic -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x^y = 2^(y log2 x). Only the fractional part of the exponent determines the
// digits of the result, and up to ten bits come before the binary point, so the
// exponent is computed with twice the precision. Exact results, such as 3^2,
// are exact.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

using Predicate = arith::CmpFPredicate;

Functions::Pair Functions::pairOf(double hi, double lo) {
  if (isDouble())
    return {constant(hi), constant(lo)};
  float rounded = static_cast<float>(hi);
  return {constant(rounded), constant(hi - rounded)};
}

Functions::Pair Functions::sumOf(Value large, Value small) {
  Value sum = add(large, small);
  return {sum, sub(small, sub(sum, large))};
}

Functions::Pair Functions::productOf(Value lhs, Value rhs) {
  // Split the factors, so that products of the halves are exact.
  int64_t low = isDouble() ? 27 : 12;
  auto halve = [&](Value x) -> Pair {
    Value hi = fromBits(arith::AndIOp::create(builder, loc, bits(x),
                                              integer(-(int64_t(1) << low))));
    return {hi, sub(x, hi)};
  };
  Pair a = halve(lhs), b = halve(rhs);
  Value product = mul(lhs, rhs);
  Value lost = sub(mul(a.hi, b.hi), product);
  lost = add(add(lost, mul(a.hi, b.lo)), mul(a.lo, b.hi));
  return {product, add(lost, mul(a.lo, b.lo))};
}

Functions::Pair Functions::mul(Pair lhs, Pair rhs) {
  Pair product = productOf(lhs.hi, rhs.hi);
  Value rest = add(mul(lhs.hi, rhs.lo), mul(lhs.lo, rhs.hi));
  return sumOf(product.hi, add(product.lo, rest));
}

Functions::Pair Functions::log2Pair(Value x) {
  auto [m, e] = splitExponent(x);
  // log2 m = 2/ln 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1).
  Value f = sub(m, constant(1));
  Pair divisor = sumOf(constant(2), f);
  Value quotient = div(f, divisor.hi);
  Pair taken = productOf(quotient, divisor.hi);
  Value left = sub(sub(sub(f, taken.hi), taken.lo), mul(quotient, divisor.lo));
  Pair s = sumOf(quotient, div(left, divisor.hi));
  Pair square = mul(s, s);
  SmallVector<double> series;
  for (int n = isDouble() ? 27 : 13; n >= 5; n -= 2)
    series.push_back(1.0 / n);
  Value tail = mul(mul(square.hi, square.hi), polynomial(square.hi, series));
  Pair third = mul(square, pairOf(1.0 / 3, 0x1.5555555555555p-56));
  Pair factor = sumOf(constant(1), third.hi);
  factor.lo = add(factor.lo, add(third.lo, tail));
  Pair log =
      mul(mul(s, pairOf(0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55)), factor);
  Pair sum = sumOf(e, log.hi);
  return {sum.hi, add(sum.lo, log.lo)};
}

Value Functions::exp2(Pair x) {
  Value limited = limitExponent(x.hi);
  Value low = select(equal(limited, x.hi), x.lo, constant(0));
  Value whole = nearest(limited);
  Pair r = mul(sumOf(sub(limited, whole), low),
               pairOf(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56));
  SmallVector<double> series = inverseFactorials(isDouble() ? 15 : 9);
  series.pop_back();
  Value rest = mul(mul(r.hi, r.hi), polynomial(r.hi, series));
  rest = add(rest, mul(r.lo, add(r.hi, constant(1))));
  Pair sum = sumOf(constant(1), r.hi);
  return timesPowerOfTwo(add(sum.hi, add(sum.lo, rest)), toInteger(whole));
}

Value Functions::pow(Value x, Value y) {
  auto both = [&](Value lhs, Value rhs) {
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  };
  auto exclusive = [&](Value lhs, Value rhs) {
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  };
  Value one = constant(1), zero = constant(0), infinity = constant(INFINITY);
  Value size = abs(x), isZero = equal(size, zero);
  Value isOrdinary = both(less(zero, size), less(size, infinity));
  Pair log = log2Pair(select(isOrdinary, size, one));
  // Beyond this, powers of all numbers but 1 are infinite or zero.
  Value limited =
      isDouble() ? limit(y, -0x1p80, 0x1p80) : limit(y, -0x1p40, 0x1p40);
  Value result = exp2(mul(log, {limited, zero}));
  Value isSmall = exclusive(isZero, less(y, zero));
  result = select(isOrdinary, result, select(isSmall, zero, infinity));
  // A negative base: odd powers are negative, and non-integer powers are NaN.
  Value whole = floor(y), isWhole = equal(whole, y);
  Value half = mul(y, constant(0.5));
  Value isOdd = both(isWhole, compare(Predicate::UNE, floor(half), half));
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, bits(x), integer(0));
  result = select(both(isNegative, isOdd), sub(zero, result), result);
  Value isBelow = both(less(x, zero), less(constant(-INFINITY), x));
  Value isBroken = both(isBelow, compare(Predicate::UNE, whole, y));
  Value isNone = arith::OrIOp::create(builder, loc, isBroken,
                                      compare(Predicate::UNO, x, y));
  result = select(isNone, constant(NAN), result);
  // |x| = 1 with an infinite power.
  result = select(both(equal(size, one), equal(abs(y), infinity)), one, result);
  result = select(equal(x, one), one, result);
  return select(equal(y, zero), one, result);
}
