//===- Running.h - running sums and products --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_RUNNING_H
#define RELAX_TRANSFORMS_LEGALIZE_RUNNING_H

#include "Transforms/Legalize/ScalarBuilder.h"
#include "Transforms/TwoSum.h"

namespace mlir::relax {

/// A sum or product that a loop carries. A float sum also carries its rounding
/// error, so that the error does not grow with the number of elements.
struct Running {
  bool isSum = true;
  /// Whether the type is wide enough to ignore rounding.
  bool isWide = false;

  /// The carried values after the value `first`.
  SmallVector<Value> start(ScalarBuilder &s, Value first) const {
    if (!isCompensated(first))
      return {first};
    return {first, s.number(first.getType(), 0)};
  }
  SmallVector<Value> next(ScalarBuilder &s, ValueRange state, Value x) const {
    if (!isCompensated(x))
      return {isSum ? s.add(state[0], x) : s.mul(state[0], x)};
    LosslessSum sum{state[0], state[1]};
    sum = sum.add(s, s.getLoc(), x);
    return {sum.total, sum.lost};
  }
  Value value(ScalarBuilder &s, ValueRange state) const {
    if (!isCompensated(state[0]))
      return state[0];
    return LosslessSum{state[0], state[1]}.value(s, s.getLoc());
  }

private:
  bool isCompensated(Value x) const {
    return isSum && !isWide && isa<FloatType>(x.getType());
  }
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_RUNNING_H
