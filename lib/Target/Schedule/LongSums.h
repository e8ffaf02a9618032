//===- LongSums.h - sums of many floats, in blocks --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A float that a million terms are added to loses a little with each of them.
// So a reduction whose length is unknown or large is done in blocks: the terms
// of a block are added up from zero, and its sum goes to a *total*. Where there
// may be many blocks, what rounding takes from the total is kept as well, and
// given back with the next block (Transforms/TwoSum.h):
//
//   for each block                        error of a sum of n terms, with unit
//     sum = 0                             roundoff u and blocks of b terms:
//     for each term of it: sum += term      |error| <= (b + 2) u Σ|term|
//     total, lost += sum                  whatever n is (up to n u² Σ|term|)
//
// What is not a sum of floats, as a maximum, is carried from block to block.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_LONGSUMS_H
#define RELAX_TARGET_SCHEDULE_LONGSUMS_H

#include "Target/Schedule/Combiner.h"

namespace mlir::relax {

/// The most terms that one accumulator adds up in a row: of a plain sum, and of
/// products, whose accumulators are in registers that a block has to give up.
constexpr int64_t maxTerms = 32, maxProducts = 256;

/// The axes of a reduction, in blocks of some steps along one of them.
struct SumBlocks {
  /// The place of that axis, outermost first, and steps of a block along it.
  unsigned level = 0;
  int64_t steps = 0;
  /// Whether there may be so many blocks that the error of totals matters.
  bool areMany = false;

  /// Blocks of about `most` steps for axes with these sizes; none where all of
  /// it is short.
  static std::optional<SumBlocks> choose(ArrayRef<std::optional<int64_t>> sizes,
                                         int64_t most);
};

/// What the blocks of a reduction are combined to: values, then for each sum
/// of floats what its total has lost.
class Totals {
public:
  /// Of values that `combiners`, in turn, combine.
  Totals(OpBuilder &builder, Location loc,
         ArrayRef<std::optional<Combiner>> combiners, bool areMany)
      : builder(builder), loc(loc), combiners(combiners), areMany(areMany) {}

  /// How each result of `op` is combined.
  static SmallVector<std::optional<Combiner>> combinersOf(linalg::GenericOp op);
  /// Whether any result is a sum of floats.
  static bool hasSums(ArrayRef<std::optional<Combiner>> combiners);

  /// The totals before the first block.
  SmallVector<Value> begin(ArrayRef<Value> values) const;
  /// What a block starts from.
  SmallVector<Value> startBlock(ArrayRef<Value> totals) const;
  /// The totals after a block that ended with `block`.
  SmallVector<Value> add(ArrayRef<Value> totals, ArrayRef<Value> block) const;
  /// The values in the end.
  SmallVector<Value> finish(ArrayRef<Value> totals) const;

private:
  const std::optional<Combiner> &combinerOf(size_t value) const {
    return combiners[value % combiners.size()];
  }
  /// The number of values, without what is lost.
  size_t numValues(ArrayRef<Value> totals) const;

  OpBuilder &builder;
  Location loc;
  ArrayRef<std::optional<Combiner>> combiners;
  bool areMany;
};

/// Rewrites the long float sums of a kernel that no schedule takes: each gets a
/// second result, which carries what rounding loses, so that plain loops have
/// the same error bound (PlainSums.cpp).
void keepLostOfSums(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_LONGSUMS_H
