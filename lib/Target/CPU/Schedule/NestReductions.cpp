//===- NestReductions.cpp - emits reductions ------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction loop carries its accumulators in registers: one for each point of
// the block, or several if the lanes run along the reduction, to hide the
// latency of a single accumulator. Possibly long sums of floats are done in
// blocks (LongSums.h), by loops around the loops of a block:
//
//   for blocks of an axis                 carries totals
//     for the steps of a block            carries accumulators, from zero
//       for the axes inside
//     totals += accumulators
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "Target/Schedule/LongSums.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Starting a new sum block spills and reloads the accumulators of a tile,
/// since they fill the registers; with blocks of 256 products, this costs 6 %
/// for a sum of 576 terms.
static constexpr int64_t maxProductsOfTile = 2 * maxProducts;

/// The values of all results at all points after one more step.
SmallVector<Value> NestEmitter::accumulate(const Stage &stage,
                                           const Points &points,
                                           ArrayRef<Value> values,
                                           bool asVectors) {
  SmallVector<Value> next;
  linalg::GenericOp op = stage.op;
  unsigned numInputs = op.getNumDpsInputs(), numResults = op->getNumResults();
  SmallVector<Value> columns;
  if (panel && panel->stage == &stage)
    columns = readPanel(points);
  for (auto [i, point] : llvm::enumerate(points)) {
    enter(point);
    SmallVector<Lanes> loops = loopsAt(stage, point);
    ArrayRef<Value> before = values.slice(i * numResults, numResults);
    auto results = emitter.body(
        op, loops,
        [&](unsigned number) -> FailureOr<Lanes> {
          if (number >= numInputs)
            return Lanes{before[number - numInputs], 0, asVectors};
          if (!columns.empty() && number == panel->operand)
            return Lanes{columns[i % columns.size()], 0, true};
          return emitter.operand(op, number, loops);
        },
        /*contract=*/true);
    if (failed(results)) {
      fail();
      return llvm::to_vector(values);
    }
    for (Lanes result : *results) {
      if (!asVectors && !result.isUniform()) {
        fail();
        return llvm::to_vector(values);
      }
      next.push_back(asVectors ? emitter.vector(result) : result.value);
    }
  }
  return next;
}

SmallVector<Value> NestEmitter::reduce(const Stage &stage, ArrayRef<Axis> axes,
                                       const Points &points,
                                       SmallVector<Value> values,
                                       bool lanesReduced) {
  if (axes.empty())
    return accumulate(stage, points, values,
                      isa<VectorType>(values.front().getType()));
  Value zero = emitter.constant(0);
  if (!lanesReduced || axes.size() > 1)
    return reduceSteps(stage, axes, points, values, lanesReduced, zero,
                       sizes[axes.front()]);
  int64_t step = copiesOf(stage, points, values) * emitter.lanes;
  values = reduceSteps(stage, axes, points, values, lanesReduced, zero,
                       wholeSteps(axes.front(), step));
  return reduceRest(stage, axes.front(), points, values);
}

int64_t NestEmitter::copiesOf(const Stage &stage, const Points &points,
                              ArrayRef<Value> values) const {
  return values.size() / (points.size() * stage.op->getNumResults());
}

SmallVector<Value>
NestEmitter::reduceSteps(const Stage &stage, ArrayRef<Axis> axes,
                         const Points &points, SmallVector<Value> values,
                         bool lanesReduced, Value from, Value to) {
  Axis axis = axes.front();
  auto at = [&](Value base, int64_t stride) {
    Points next = points;
    for (Point &point : next)
      point.at[axis] = {base, stride};
    return next;
  };
  if (!lanesReduced || axes.size() > 1)
    return loop(from, to, 1, values, [&](Value base, ArrayRef<Value> carried) {
      return reduce(stage, axes.drop_front(), at(base, 0),
                    llvm::to_vector(carried), lanesReduced);
    });
  // The last axis runs along the lanes.
  int64_t copies = copiesOf(stage, points, values);
  int64_t count = values.size() / copies;
  return loop(from, to, copies * emitter.lanes, values,
              [&](Value base, ArrayRef<Value> carried) {
                SmallVector<Value> next;
                for (int64_t copy = 0; copy < copies; ++copy) {
                  Value from =
                      emitter.add(base, emitter.constant(copy * emitter.lanes));
                  llvm::append_range(
                      next,
                      accumulate(stage, at(from, 1),
                                 carried.slice(copy * count, count), true));
                }
                return next;
              });
}

/// Reduces the remainder along the lanes into the first copy of the
/// accumulators.
SmallVector<Value> NestEmitter::reduceRest(const Stage &stage, Axis axis,
                                           const Points &points,
                                           SmallVector<Value> values) {
  int64_t copies = copiesOf(stage, points, values);
  SmallVector<Value> first(
      ArrayRef<Value>(values).take_front(values.size() / copies));
  first =
      loop(wholeSteps(axis, copies * emitter.lanes), sizes[axis], emitter.lanes,
           first, [&](Value base, ArrayRef<Value> carried) {
             Value mask = maskFor(base, axis);
             Points next = points;
             for (Point &point : next) {
               point.at[axis] = {base, 1};
               point.mask = mask;
             }
             SmallVector<Value> sums = accumulate(stage, next, carried, true);
             for (auto [value, before] : llvm::zip(sums, carried))
               value =
                   arith::SelectOp::create(builder, loc, mask, value, before);
             return sums;
           });
  llvm::copy(first, values.begin());
  return values;
}

SmallVector<Value>
NestEmitter::reduceAll(const Stage &stage, ArrayRef<Axis> axes,
                       const Points &points, SmallVector<Value> values,
                       ArrayRef<std::optional<Combiner>> combiners,
                       bool lanesReduced, int64_t copies) {
  size_t count = values.size();
  // Additional copies of the accumulators start from the identity and are
  // combined pairwise.
  auto copied = [&](ArrayRef<Value> values) {
    SmallVector<Value> all(values);
    for (int64_t copy = 1; copy < copies; ++copy)
      for (auto [index, value] : llvm::enumerate(values))
        all.push_back(combiners[index % combiners.size()]->identity(
            builder, loc, cast<VectorType>(value.getType())));
    return all;
  };
  auto combined = [&](SmallVector<Value> all) {
    for (size_t half = all.size() / 2; half >= count; half /= 2) {
      for (size_t i = 0; i < half; ++i)
        all[i] = combiners[i % combiners.size()]->combine(builder, loc, all[i],
                                                          all[half + i]);
      all.truncate(half);
    }
    return all;
  };
  // The number of steps along each axis.
  SmallVector<std::optional<int64_t>> steps;
  for (Axis axis : axes)
    steps.push_back(staticSize(axis));
  int64_t width = lanesReduced ? copies * emitter.lanes : 1;
  if (lanesReduced && steps.back())
    steps.back() = llvm::divideCeil(*steps.back(), width);
  std::optional<SumBlocks> blocks;
  if (Totals::hasSums(combiners))
    blocks = SumBlocks::choose(steps, stage.isContraction() ? maxProductsOfTile
                                                            : maxTerms);
  if (!blocks)
    return combined(reduce(stage, axes, points, copied(values), lanesReduced));

  Totals totals(builder, loc, combiners, blocks->areMany);
  unsigned level = blocks->level;
  ArrayRef<Axis> inner = axes.drop_front(level);
  Axis axis = inner.front();
  bool alongLanes = lanesReduced && inner.size() == 1;
  auto addBlock =
      [&](ArrayRef<Value> carried,
          function_ref<SmallVector<Value>(SmallVector<Value>)> reduceBlock) {
        SmallVector<Value> block =
            reduceBlock(copied(totals.startBlock(carried)));
        return totals.add(carried, combined(block));
      };
  std::function<SmallVector<Value>(unsigned, const Points &, ArrayRef<Value>)>
      along = [&](unsigned number, const Points &at,
                  ArrayRef<Value> carried) -> SmallVector<Value> {
    Value zero = emitter.constant(0);
    if (number < level)
      return loop(zero, sizes[axes[number]], 1, carried,
                  [&](Value base, ArrayRef<Value> carried) {
                    Points next = at;
                    for (Point &point : next)
                      point.at[axes[number]] = {base};
                    return along(number + 1, next, carried);
                  });
    int64_t length = blocks->steps * (alongLanes ? width : 1);
    Value end = alongLanes ? wholeSteps(axis, width) : sizes[axis];
    SmallVector<Value> sums = loop(
        zero, end, length, carried, [&](Value from, ArrayRef<Value> carried) {
          Value to = emitter.add(from, emitter.constant(length));
          std::optional<int64_t> known = getConstantIntValue(end);
          if (!known || *known % length != 0)
            to = builder.createOrFold<arith::MinUIOp>(loc, to, end);
          return addBlock(carried, [&](SmallVector<Value> values) {
            return reduceSteps(stage, inner, at, values, lanesReduced, from,
                               to);
          });
        });
    std::optional<int64_t> known = staticSize(axis);
    if (!alongLanes || (known && *known % width == 0))
      return sums;
    return addBlock(sums, [&](SmallVector<Value> values) {
      return reduceRest(stage, axis, at, values);
    });
  };
  return totals.finish(along(0, points, totals.begin(values)));
}

void NestEmitter::emitReduction(const Stage &stage, const Points &points) {
  PointEmitter::Scope scope(emitter);
  linalg::GenericOp op = stage.op;
  unsigned numResults = op->getNumResults();
  std::optional<Axis> lanes = lanesOf(stage);
  std::optional<unsigned> laneLoop =
      lanes ? stage.loopOf(*lanes) : std::nullopt;
  bool lanesReduced = laneLoop && !stage.isParallel(*laneLoop);
  bool asVectors = laneLoop && !lanesReduced;
  SmallVector<std::optional<Combiner>> combiners = Totals::combinersOf(op);
  lanesReduced &= llvm::all_of(combiners, [](auto &c) { return !!c; });
  // The axis along the lanes goes last.
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop) && !(lanesReduced && axis == lanes))
      axes.push_back(axis);
  if (lanesReduced)
    axes.push_back(*lanes);

  // The initial values.
  SmallVector<Value> inits;
  for (const Point &point : points) {
    enter(point);
    SmallVector<Lanes> loops = loopsAt(stage, point);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      FailureOr<Lanes> value =
          emitter.operand(op, init.getOperandNumber(), loops);
      if (failed(value) || (!asVectors && !value->isUniform()))
        return fail();
      inits.push_back(asVectors ? emitter.vector(*value) : value->value);
    }
  }
  SmallVector<Value> values(inits);
  int64_t copies = 1;
  if (lanesReduced) {
    // In nests with row blocks, use one copy regardless of the block size, so
    // that the result of a row does not depend on the number of rows.
    copies = points.size() >= 4 || !nest.rows.empty() ? 1 : 4;
    for (auto [index, value] : llvm::enumerate(values))
      value = combiners[index % numResults]->identity(
          builder, loc, VectorType::get({emitter.lanes}, value.getType()));
  }
  values =
      reduceAll(stage, axes, points, values, combiners, lanesReduced, copies);
  if (hasFailed)
    return;
  if (lanesReduced)
    for (auto [index, value] : llvm::enumerate(values)) {
      const Combiner &combiner = *combiners[index % numResults];
      value = combiner.combine(builder, loc, inits[index],
                               combiner.reduce(builder, loc, value));
    }
  for (auto [i, point] : llvm::enumerate(points)) {
    enter(point);
    SmallVector<Lanes> results;
    for (unsigned r = 0; r < numResults; ++r)
      results.push_back({values[i * numResults + r], 0, asVectors});
    keep(stage, point, results);
  }
}
