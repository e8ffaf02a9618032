//===- LongSums.h - sums of many floats, in blocks --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accumulator to which a million floats are added loses a little precision
// with each of them. So reductions of unknown or large length are done in
// blocks: the terms of a block are added starting from zero, and its sum is
// added to a *total*. If there may be many blocks, the rounding error of the
// total is kept as well, and added back with the next block
// (Transforms/TwoSum.h):
//
//   for each block                        error of a sum of n terms, with unit
//     sum = 0                             roundoff u and blocks of b terms:
//     for each term of it: sum += term      |error| <= (b + 2) u Σ|term|
//     total, lost += sum                  for any n (up to n u² Σ|term|)
//
// Other reductions, such as maxima, are carried from block to block.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_LONGSUMS_H
#define RELAX_TARGET_SCHEDULE_LONGSUMS_H

#include "Target/Schedule/Combiner.h"

namespace mlir::relax {

/// The maximum number of terms in a block: for plain sums, and for sums of
/// products, whose accumulators must be spilled at the end of a block.
constexpr int64_t maxTerms = 32, maxProducts = 256;

/// The axes of a reduction, with blocks along one of them.
struct SumBlocks {
  /// The position of that axis, outermost first, and the steps per block along
  /// it.
  unsigned level = 0;
  int64_t steps = 0;
  /// Whether there may be so many blocks that the error of totals matters.
  bool areMany = false;

  /// Chooses blocks of about `most` steps for axes of these sizes; none if the
  /// reduction is short.
  static std::optional<SumBlocks> choose(ArrayRef<std::optional<int64_t>> sizes,
                                         int64_t most);
};

/// The loop-carried state of a reduction in blocks: the values, then the
/// rounding error of each float sum.
class Totals {
public:
  /// The values are combined by `combiners`, repeated cyclically.
  Totals(OpBuilder &builder, Location loc,
         ArrayRef<std::optional<Combiner>> combiners, bool areMany)
      : builder(builder), loc(loc), combiners(combiners), areMany(areMany) {}

  /// How each result of `op` is combined.
  static SmallVector<std::optional<Combiner>> combinersOf(linalg::GenericOp op);
  /// Whether any result is a sum of floats.
  static bool hasSums(ArrayRef<std::optional<Combiner>> combiners);

  /// The state before the first block.
  SmallVector<Value> begin(ArrayRef<Value> values) const;
  /// The initial values of a block.
  SmallVector<Value> startBlock(ArrayRef<Value> totals) const;
  /// The state after a block that ended with `block`.
  SmallVector<Value> add(ArrayRef<Value> totals, ArrayRef<Value> block) const;
  /// The final values.
  SmallVector<Value> finish(ArrayRef<Value> totals) const;

private:
  const std::optional<Combiner> &combinerOf(size_t value) const {
    return combiners[value % combiners.size()];
  }
  /// The number of values, without rounding errors.
  size_t numValues(ArrayRef<Value> totals) const;

  OpBuilder &builder;
  Location loc;
  ArrayRef<std::optional<Combiner>> combiners;
  bool areMany;
};

/// Whether `op` has a single result that is a float sum of many terms, or of an
/// unknown number.
bool isLongSum(linalg::GenericOp op);

/// Rewrites the long float sums of an unscheduled kernel: each gets a second
/// result that carries the rounding error, so that plain loops have the same
/// error bound (PlainSums.cpp).
void keepLostOfSums(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_LONGSUMS_H
