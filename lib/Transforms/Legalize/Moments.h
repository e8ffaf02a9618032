//===- Moments.h - stable mean and variance ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mean and variance by two passes over the data, the second one corrected
// (Chan, Golub, LeVeque 1983), scaled such that squares neither overflow nor
// underflow:
//
//   first    origin = Σ x / n, rounded;  unit = a power of two by max |x|
//   second   e = (x - origin) * unit;  shift = Σ e / n
//            spread = Σ e² / n - shift²
//
// so that
//
//   mean = origin + shift / unit         variance = spread / unit²
//
// `shift` is the rounding error of the mean. Without it, all distances from a
// mean that is large compared to them would be off by the same amount.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H
#define RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H

#include "Transforms/Legalize/KernelBuilder.h"

namespace mlir::relax {

/// Moments over some dimensions of the data, for each position of the `kept`
/// loops. All are tensors on these loops, in the compute type.
struct Moments {
  Value origin, unit, shift, spread;
  SmallVector<int64_t> kept;

  /// For each position of the `kept` loops, over the `count` elements of the
  /// others.
  static Moments of(KernelBuilder &kernel, Value data, ArrayRef<int64_t> kept,
                    Value count);
  /// For each group of `groupSize` adjacent positions of the kept loop
  /// `channel`; the moments still have all dimensions of `kept`.
  static Moments ofGroups(KernelBuilder &kernel, Value data,
                          ArrayRef<int64_t> kept, int64_t channel,
                          SymExprAttr groups, SymExprAttr groupSize,
                          Value count);

  /// Computes the mean from elements of `origin`, `unit`, `shift` and `spread`.
  static Value mean(ScalarBuilder &s, ValueRange moments);
  static Value variance(ScalarBuilder &s, ValueRange moments);
  static Value deviation(ScalarBuilder &s, ValueRange moments);

  /// Accesses that read all four.
  SmallVector<Access> reads() const;
};

/// The mean of squares, free of overflow as long as its root can be
/// represented.
struct MeanSquare {
  /// Sums of squares, and of squares of elements scaled down by a constant; the
  /// latter is null if squares of the type cannot overflow.
  Value sum, reduced;

  static MeanSquare of(KernelBuilder &kernel, Value data,
                       ArrayRef<int64_t> kept);
  /// Computes 1 / sqrt(sum / count + epsilon) from elements of both.
  static Value rsqrt(ScalarBuilder &s, ValueRange sums, Value count,
                     double epsilon);
  SmallVector<Access> reads() const;
};

/// Converts an element count to a float.
Value toFloat(KernelBuilder &kernel, SymExprAttr count, Type type);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H
