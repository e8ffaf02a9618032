//===- TwoSum.h - float sums with their rounding errors ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An addition of floats and its rounding error, which is a float as well
// (TwoSum, Knuth 1969). A long sum carries its accumulated error to the next
// term, like Kahan summation. Values are scalars or vectors. The operations
// must not be reassociated: never set fast-math flags on them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_TWOSUM_H
#define RELAX_TRANSFORMS_TWOSUM_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// A float sum: the rounded `total`, and the rounding error, which is finite
/// even if the total is not.
struct LosslessSum {
  Value total, lost;

  /// Adds a term.
  LosslessSum add(OpBuilder &builder, Location loc, Value term) const;
  /// Returns the sum rounded to one float.
  Value value(OpBuilder &builder, Location loc) const;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_TWOSUM_H
