//===- TwoSum.h - sums of floats with what rounding takes -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An addition of floats, and its rounding error, which is a float as well
// (TwoSum, Knuth 1969). A sum of many terms gives the next term what it has
// lost, as Kahan's does. Values are scalars or vectors. The operations must
// stay as they are: nothing may set fast-math flags on them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_TWOSUM_H
#define RELAX_TRANSFORMS_TWOSUM_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// A sum of floats: `total`, rounded, and what rounding has taken from it,
/// which is finite also where the total is not.
struct LosslessSum {
  Value total, lost;

  /// The sum with one more term.
  LosslessSum add(OpBuilder &builder, Location loc, Value term) const;
  /// The sum as one float.
  Value value(OpBuilder &builder, Location loc) const;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_TWOSUM_H
