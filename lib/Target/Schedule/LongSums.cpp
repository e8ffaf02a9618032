//===- LongSums.cpp - sums of many floats, in blocks ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/LongSums.h"

#include "Transforms/TwoSum.h"

using namespace mlir;
using namespace mlir::relax;

/// Up to this number of blocks, totals are added without compensation.
static constexpr int64_t fewBlocks = 32;

std::optional<SumBlocks>
SumBlocks::choose(ArrayRef<std::optional<int64_t>> sizes, int64_t most) {
  int64_t inner = 1;
  for (unsigned level = sizes.size(); level-- > 0;) {
    std::optional<int64_t> size = sizes[level];
    if (size && llvm::SaturatingMultiply<uint64_t>(*size, inner) <=
                    uint64_t(2 * most)) {
      inner *= std::max<int64_t>(*size, 1);
      continue;
    }
    SumBlocks blocks{level, std::max<int64_t>(most / inner, 1), true};
    if (!size)
      return blocks;
    // Use blocks of equal size if there is a divisor close by.
    for (int64_t steps = blocks.steps; 2 * steps > blocks.steps; --steps)
      if (*size % steps == 0) {
        blocks.steps = steps;
        break;
      }
    uint64_t count = llvm::divideCeil(*size, blocks.steps);
    blocks.areMany = false;
    for (std::optional<int64_t> outer : sizes.take_front(level)) {
      blocks.areMany |= !outer;
      count = llvm::SaturatingMultiply<uint64_t>(count, outer.value_or(1));
    }
    blocks.areMany |= count > fewBlocks;
    return blocks;
  }
  return std::nullopt;
}

SmallVector<std::optional<Combiner>> Totals::combinersOf(linalg::GenericOp op) {
  SmallVector<std::optional<Combiner>> combiners;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    combiners.push_back(Combiner::match(op, i));
  return combiners;
}

static bool isSumOfFloats(const std::optional<Combiner> &combiner) {
  return combiner && combiner->kind == arith::AtomicRMWKind::addf;
}

bool Totals::hasSums(ArrayRef<std::optional<Combiner>> combiners) {
  return llvm::any_of(combiners, isSumOfFloats);
}

size_t Totals::numValues(ArrayRef<Value> totals) const {
  if (!areMany)
    return totals.size();
  size_t perGroup = combiners.size() + llvm::count_if(combiners, isSumOfFloats);
  return totals.size() / perGroup * combiners.size();
}

SmallVector<Value> Totals::begin(ArrayRef<Value> values) const {
  SmallVector<Value> totals(values);
  if (areMany)
    for (auto [index, value] : llvm::enumerate(values))
      if (isSumOfFloats(combinerOf(index)))
        totals.push_back(arith::ConstantOp::create(
            builder, loc,
            cast<TypedAttr>(builder.getZeroAttr(value.getType()))));
  return totals;
}

SmallVector<Value> Totals::startBlock(ArrayRef<Value> totals) const {
  SmallVector<Value> values(totals.take_front(numValues(totals)));
  for (auto [index, value] : llvm::enumerate(values))
    if (isSumOfFloats(combinerOf(index)))
      value = arith::ConstantOp::create(
          builder, loc, cast<TypedAttr>(builder.getZeroAttr(value.getType())));
  return values;
}

SmallVector<Value> Totals::add(ArrayRef<Value> totals,
                               ArrayRef<Value> block) const {
  size_t next = numValues(totals);
  assert(block.size() == next && "a block has one value for each total");
  SmallVector<Value> result(totals);
  for (auto [index, value] : llvm::enumerate(block)) {
    if (!isSumOfFloats(combinerOf(index))) {
      result[index] = value;
    } else if (!areMany) {
      result[index] =
          combinerOf(index)->combine(builder, loc, totals[index], value);
    } else {
      LosslessSum sum{totals[index], totals[next]};
      sum = sum.add(builder, loc, value);
      result[index] = sum.total;
      result[next] = sum.lost;
      ++next;
    }
  }
  return result;
}

SmallVector<Value> Totals::finish(ArrayRef<Value> totals) const {
  size_t next = numValues(totals);
  SmallVector<Value> values(totals.take_front(next));
  if (areMany)
    for (auto [index, value] : llvm::enumerate(values))
      if (isSumOfFloats(combinerOf(index)))
        value = LosslessSum{value, totals[next++]}.value(builder, loc);
  return values;
}
