//===- Functions.h - functions of reals as arithmetic -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPIR-V for Vulkan has no functions of f64 beyond the root, and of f32 it has
// inexact ones. Arguments are reduced to where a series is short, and its terms
// summed up; errors are some units in the last place. Of f32, exponentials
// and logarithms stay as they are, for the CPU's polynomials. Infinities,
// NaN and signed zeros give what libm gives, as do denormal numbers where the
// device has them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_FUNCTIONS_H
#define RELAX_TARGET_SPIRV_FUNCTIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::relax {

/// Arithmetic on f64 or f32, and on integers for their bits.
class Functions {
public:
  Functions(OpBuilder &builder, Location loc, FloatType type)
      : builder(builder), loc(loc), type(type),
        bitsType(builder.getIntegerType(type.getWidth())) {}

  Value exp(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value exp2(Value x);
  Value log2(Value x) { return mul(log(x), constant(1.44269504088896341)); }
  Value log10(Value x) { return mul(log(x), constant(0.434294481903251828)); }
  Value sine(Value x, bool isCosine);
  Value tan(Value x);
  Value atan(Value x);
  Value atan2(Value y, Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value tanh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value erf(Value x);
  /// The nearest whole number, of two the even one.
  Value roundEven(Value x);
  Value pow(Value x, Value y);
  /// x - n y for the whole n next to x / y towards zero, exactly.
  Value remainder(Value x, Value y);

private:
  bool isDouble() const { return type.isF64(); }
  Value constant(double value);
  Value integer(int64_t value);
  Value add(Value lhs, Value rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  Value div(Value lhs, Value rhs);
  Value abs(Value x);
  Value sqrt(Value x);
  Value floor(Value x);
  Value withSign(Value size, Value sign);
  Value bits(Value x);
  Value fromBits(Value x);
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs);
  Value less(Value lhs, Value rhs);
  Value equal(Value lhs, Value rhs);
  Value select(Value condition, Value yes, Value no);
  /// Of coefficients from the highest power.
  Value polynomial(Value x, ArrayRef<double> coefficients);
  /// 1/n!, ..., 1/2!, 1.
  static SmallVector<double> inverseFactorials(int from);
  /// x = m 2^e, of a positive x: m, between the roots of 1/2 and of 2, and e.
  std::pair<Value, Value> splitExponent(Value x);
  /// A power of two that is infinite, or zero, if that of x is.
  Value limitExponent(Value x);
  /// 2^n for whole n from -1022 to 1023, as an integer.
  Value powerOfTwo(Value n);
  /// p 2^n, also where 2^n is no normal number.
  Value timesPowerOfTwo(Value p, Value n);
  /// A number within bounds; NaN stays.
  Value limit(Value x, double low, double high);
  /// The nearest whole number, of arguments up to 2^51, 2^22 of f32.
  Value nearest(Value x);
  Value toInteger(Value whole);
  /// x = n ln 2 + r, and e^r - 1.
  Value reduceExp(Value x, Value &n);

  // Power.cpp
  /// hi + lo: a number with about twice the digits.
  struct Pair {
    Value hi, lo;
  };
  /// A number that is hi + lo in f64, and has more digits than the type.
  Pair pairOf(double hi, double lo);
  /// The sum of numbers of which the first is the larger.
  Pair sumOf(Value large, Value small);
  Pair productOf(Value lhs, Value rhs);
  Pair mul(Pair lhs, Pair rhs);
  /// Of a positive number.
  Pair log2Pair(Value x);
  Value exp2(Pair x);

  // Angles.cpp
  /// |x| = quarter * pi/2 + r: sine and cosine of r. A quarter counts in i32,
  /// and whole turns may be missing.
  struct Angle {
    Value sine, cosine, quarter;
  };
  Angle reduceAngle(Value x);
  /// r and the quarter of a size.
  std::pair<Value, Value> subtractQuarters(Value size);
  std::pair<Value, Value> multiplyBits(Value size);
  Value isSet(Value word, int32_t bit);
  Value nearZero(Value x, Value result);

  OpBuilder &builder;
  Location loc;
  FloatType type;
  IntegerType bitsType;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_FUNCTIONS_H
