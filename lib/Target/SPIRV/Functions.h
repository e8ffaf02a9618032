//===- Functions.h - math functions as arithmetic ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPIR-V for Vulkan only has the square root for f64, and inexact functions for
// f32. Arguments are reduced to a range where a short series suffices; errors
// are a few ulp. Exponentials and logarithms of f32 are left to the CPU's
// polynomials. Infinities, NaN and signed zeros give the same results as libm,
// as do denormals on devices that support them.
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
  /// Rounds to the nearest whole number, ties to even.
  Value roundEven(Value x);
  Value pow(Value x, Value y);
  /// x - n y, exactly, where n is x / y truncated to a whole number.
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
  /// The coefficient of the highest power comes first.
  Value polynomial(Value x, ArrayRef<double> coefficients);
  /// 1/n!, ..., 1/2!, 1.
  static SmallVector<double> inverseFactorials(int from);
  /// For positive x = m 2^e: m between sqrt(1/2) and sqrt(2), and e.
  std::pair<Value, Value> splitExponent(Value x);
  /// Clamps an exponent to a range beyond which 2^x is infinite or zero.
  Value limitExponent(Value x);
  /// 2^n for an integer n from -1022 to 1023.
  Value powerOfTwo(Value n);
  /// p 2^n, even if 2^n is not a normal number.
  Value timesPowerOfTwo(Value p, Value n);
  /// Clamps to [low, high]; NaN is kept.
  Value limit(Value x, double low, double high);
  /// Rounds to the nearest whole number, for arguments up to 2^51 (2^22 for
  /// f32).
  Value nearest(Value x);
  Value toInteger(Value whole);
  /// x = n ln 2 + r; returns e^r - 1.
  Value reduceExp(Value x, Value &n);

  // Power.cpp
  /// hi + lo: a number with about twice the precision.
  struct Pair {
    Value hi, lo;
  };
  /// A constant with more precision than the type, given as hi + lo in f64.
  Pair pairOf(double hi, double lo);
  /// The exact sum of two numbers; `large` must have the larger magnitude.
  Pair sumOf(Value large, Value small);
  Pair productOf(Value lhs, Value rhs);
  Pair mul(Pair lhs, Pair rhs);
  /// The logarithm of a positive number.
  Pair log2Pair(Value x);
  Value exp2(Pair x);

  // Angles.cpp
  /// |x| = quarter * pi/2 + r: sine and cosine of r. The quarter is an i32,
  /// modulo full turns.
  struct Angle {
    Value sine, cosine, quarter;
  };
  Angle reduceAngle(Value x);
  /// r and the quarter of a nonnegative argument.
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
