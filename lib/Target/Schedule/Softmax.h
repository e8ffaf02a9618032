//===- Softmax.h - exponentials of rows, and their sums ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is done with the scores of attention, as its loops show it:
//
//   t = max(least, max_j s)
//   p = exp(s - t)              t is zero in it where it is minus infinity
//   Σ_j p, Σ_j p v[j]
//
// A column whose score is low enough adds nothing to any of them, and parts of
// the sums can be added up whatever maximum they were computed with.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_SOFTMAX_H
#define RELAX_TARGET_SCHEDULE_SOFTMAX_H

#include "Target/Schedule/KernelGraph.h"

namespace mlir::relax {

struct Softmax {
  /// What is done with the results of `scores`, if it is nothing else.
  static std::optional<Softmax> match(linalg::GenericOp scores);

  /// Whether a score of `hidden` adds nothing.
  bool vanishes(const APFloat &hidden) const;

  /// The op that sums `powers` as they are, or null.
  linalg::GenericOp total() const;

  linalg::GenericOp scores, maximum, powers;
  /// The ops that sum the powers, as they are or as a factor.
  SmallVector<linalg::GenericOp> sums;
  /// What the maximum starts from.
  APFloat least{0.0f};
  /// Whether a maximum that is minus infinity counts as another number.
  bool isGuarded = false;
};

/// Columns that a mask hides: those from some expression of the row on.
struct HiddenColumns {
  /// Finds them in `nest`, if leaving them out changes nothing; `isKept` says
  /// whether a result is read elsewhere.
  static std::optional<HiddenColumns>
  match(const Nest &nest, function_ref<bool(OpResult)> isKept);

  /// How many columns are visible: more than none, up to the size. `index` is
  /// the place along a loop of `op`, `element` the value of an argument of its
  /// body. Null where one that is needed is null.
  Value countVisible(OpBuilder &builder, Location loc,
                     function_ref<Value(unsigned)> index,
                     function_ref<Value(BlockArgument)> element) const;

  mutable linalg::GenericOp op; // its methods are not const
  /// The last visible column and what is to be added, in the body of `op`.
  Value last;
  int64_t more = 0;
};

/// The ops that read the only result of `op`.
SmallVector<linalg::GenericOp> readersOf(linalg::GenericOp op);

/// The number that a value is, or none.
std::optional<APFloat> numberOf(Value value);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_SOFTMAX_H
