//===- Softmax.h - matches the softmax of a nest ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches the ops on the scores of attention:
//
//   t = max(least, max_j s)
//   p = exp(s - t)              using t = 0 if t is minus infinity
//   Σ_j p, Σ_j p v[j]
//
// A column with a sufficiently low score contributes nothing to the results,
// and partial sums can be combined even if they were computed with different
// maxima.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_SOFTMAX_H
#define RELAX_TARGET_SCHEDULE_SOFTMAX_H

#include "Target/Schedule/KernelGraph.h"

namespace mlir::relax {

struct Softmax {
  /// Matches the ops that use the results of `scores`; none if there are
  /// others.
  static std::optional<Softmax> match(linalg::GenericOp scores);

  /// Whether a score of `hidden` contributes nothing.
  bool vanishes(const APFloat &hidden) const;

  /// The op that sums `powers` themselves, or null.
  linalg::GenericOp total() const;

  linalg::GenericOp scores, maximum, powers;
  /// The ops that sum the powers, or products with them.
  SmallVector<linalg::GenericOp> sums;
  /// The initial value of the maximum.
  APFloat least{0.0f};
  /// Whether a finite number is used instead of a maximum of minus infinity.
  bool isGuarded = false;
};

/// Columns that a mask hides: those beyond some expression of the row.
struct HiddenColumns {
  /// Finds the hidden columns of `nest` if skipping them changes nothing;
  /// `isKept` says whether a result is read elsewhere.
  static std::optional<HiddenColumns>
  match(const Nest &nest, function_ref<bool(OpResult)> isKept);

  /// The number of visible columns, not clamped to [0, size]. `index` returns
  /// the position along a loop of `op`, `element` the value of an argument of
  /// its body. Null if either returns null for one that is needed.
  Value countVisible(OpBuilder &builder, Location loc,
                     function_ref<Value(unsigned)> index,
                     function_ref<Value(BlockArgument)> element) const;

  mutable linalg::GenericOp op; // its methods are not const
  /// The last visible column, and an offset to add to it, in the body of `op`.
  Value last;
  int64_t more = 0;
};

/// The ops that read the only result of `op`.
SmallVector<linalg::GenericOp> readersOf(linalg::GenericOp op);

/// The constant value of a float, or none.
std::optional<APFloat> numberOf(Value value);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_SOFTMAX_H
