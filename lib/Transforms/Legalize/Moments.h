//===- Moments.h - mean and variance, stable --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mean and variance by two passes over the data, the second one corrected
// (Chan, Golub, LeVeque 1983), in units that no square leaves the range of:
//
//   first    origin = Σ x / n, rounded;  unit = a power of two by max |x|
//   second   e = (x - origin) * unit;  shift = Σ e / n
//            spread = Σ e² / n - shift²
//
// so that
//
//   mean = origin + shift / unit         variance = spread / unit²
//
// `shift` is what rounding took from the mean. Without it, distances from a
// mean that is large next to them would all be wrong by the same amount.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H
#define RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H

#include "Transforms/Legalize/KernelBuilder.h"

namespace mlir::relax {

/// The moments of some elements for each of others. All are tensors on the
/// loops `kept` of the data, in the type that it is computed in.
struct Moments {
  Value origin, unit, shift, spread;
  SmallVector<int64_t> kept;

  /// For each element of the loops `kept`, over the others, `count` elements.
  static Moments of(KernelBuilder &kernel, Value data, ArrayRef<int64_t> kept,
                    Value count);
  /// For each group of `groupSize` neighbors along the kept loop `channel`; the
  /// moments are on all of `kept` nevertheless.
  static Moments ofGroups(KernelBuilder &kernel, Value data,
                          ArrayRef<int64_t> kept, int64_t channel,
                          SymExprAttr groups, SymExprAttr groupSize,
                          Value count);

  /// From elements of `origin`, `unit`, `shift` and `spread`.
  static Value mean(ScalarBuilder &s, ValueRange moments);
  static Value variance(ScalarBuilder &s, ValueRange moments);
  static Value deviation(ScalarBuilder &s, ValueRange moments);

  /// The reads of all four.
  SmallVector<Access> reads() const;
};

/// The mean of squares, without overflow, as long as its root can be
/// represented.
struct MeanSquare {
  /// Sums of squares, and of squares of elements that are made smaller by a
  /// constant; the latter is null where squares of the type cannot overflow.
  Value sum, reduced;

  static MeanSquare of(KernelBuilder &kernel, Value data,
                       ArrayRef<int64_t> kept);
  /// 1 / sqrt(sum / count + epsilon) of elements of both.
  static Value rsqrt(ScalarBuilder &s, ValueRange sums, Value count,
                     double epsilon);
  SmallVector<Access> reads() const;
};

/// A number of elements as a float.
Value toFloat(KernelBuilder &kernel, SymExprAttr count, Type type);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MOMENTS_H
