//===- NestStages.cpp - emits the points of a stage -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "Target/Schedule/LongSums.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Value NestEmitter::wholeSteps(Axis axis, int64_t step) const {
  if (auto known = staticSize(axis))
    return emitter.constant(*known - *known % step);
  Value size = sizes.lookup(axis);
  return arith::SubIOp::create(
      builder, loc, size,
      arith::RemUIOp::create(builder, loc, size, emitter.constant(step)));
}

SmallVector<Axis> NestEmitter::innerAxes(const Stage &stage) const {
  SmallVector<Axis> inner;
  std::optional<Axis> lanes = lanesOf(stage);
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (stage.isParallel(loop) && !nest.isOuter(axis) && axis != lanes)
      inner.push_back(axis);
  // The lanes run innermost.
  if (lanes && !nest.isOuter(*lanes))
    if (auto loop = stage.loopOf(*lanes); loop && stage.isParallel(*loop))
      inner.push_back(*lanes);
  return inner;
}

void NestEmitter::enter(const Point &point) {
  emitter.point = point.id;
  emitter.column = point.column;
  emitter.mask = point.mask;
}

void NestEmitter::emitGroup(ArrayRef<Stage> group, const Points &points) {
  emitInner(group, innerAxes(group.front()), points);
}

void NestEmitter::emitInner(ArrayRef<Stage> group, ArrayRef<Axis> axes,
                            const Points &points) {
  if (axes.empty()) {
    for (const Stage &stage : group)
      emitPoints(stage, points);
    return;
  }
  const Stage &stage = group.front();
  Axis axis = axes.front();
  if (axes.size() == 1 && acrossOf(stage) == axis)
    return emitAcross(group, axis, points);
  Value zero = emitter.constant(0);
  auto bind = [&](Value base, int64_t columns, bool partial, bool isLane) {
    Points next;
    int64_t width = isLane ? emitter.lanes : 1;
    SmallVector<Value> bases;
    for (int64_t i = 0; i < columns; ++i)
      bases.push_back(emitter.add(base, emitter.constant(i * width)));
    Value mask = partial ? maskFor(bases.back(), axis) : Value();
    for (const Point &point : points)
      for (int64_t i = 0; i < columns; ++i) {
        Point extended = point;
        extended.at[axis] = {bases[i], isLane ? 1 : 0};
        extended.column = i;
        if (mask)
          extended.mask = mask;
        next.push_back(extended);
      }
    emitInner(group, axes.drop_front(), next);
  };
  if (axis != lanesOf(stage)) {
    loop(zero, sizes[axis], 1, [&](Value at) { bind(at, 1, false, false); });
    return;
  }
  int64_t columns = 1;
  if (stage.isReduction() && !nest.rows.empty())
    columns = emitter.fewRegisters ? 2 : 4;
  else if (stage.isReduction() && points.size() == 1)
    columns = 4;
  int64_t step = columns * emitter.lanes;
  Value size = sizes[axis];
  Value full = wholeSteps(axis, step);
  loop(zero, full, step, [&](Value at) { bind(at, columns, false, true); });
  loop(full, size, emitter.lanes, [&](Value at) { bind(at, 1, true, true); });
}

/// Sums the lanes of each of `vectors` into one lane of the result. Adds halves
/// of pairs, then quarters, and so on: n - 1 additions for n lanes.
static Value sumsOf(const Combiner &combiner, OpBuilder &builder, Location loc,
                    SmallVector<Value> vectors) {
  int64_t lanes = vectors.size();
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    // Separates the even and odd runs of `half` lanes of both vectors.
    SmallVector<int64_t> even, odd;
    for (int64_t run = 0; run < lanes; run += 2 * half)
      for (int64_t of : {int64_t(0), lanes})
        for (int64_t lane = 0; lane < half; ++lane) {
          even.push_back(of + run + lane);
          odd.push_back(of + run + half + lane);
        }
    for (int64_t i = 0; i < half; ++i) {
      Value lhs = vectors[i], rhs = vectors[i + half];
      vectors[i] = combiner.combine(
          builder, loc, vector::ShuffleOp::create(builder, loc, lhs, rhs, even),
          vector::ShuffleOp::create(builder, loc, lhs, rhs, odd));
    }
    vectors.truncate(half);
  }
  return vectors.front();
}

void NestEmitter::emitAcross(ArrayRef<Stage> group, Axis axis,
                             const Points &points) {
  Value size = sizes[axis];
  auto emitColumns = [&](Value base, bool partial) {
    Value mask = partial ? maskFor(base, axis) : Value();
    SmallVector<Value> at;
    for (int64_t lane = 0; lane < emitter.lanes; ++lane) {
      at.push_back(emitter.add(base, emitter.constant(lane)));
      // Masked lanes read the last column.
      if (partial && lane > 0)
        at.back() = arith::MinUIOp::create(
            builder, loc, at.back(), emitter.add(size, emitter.constant(-1)));
    }
    Points results;
    for (const Point &point : points) {
      Points columns(emitter.lanes, point);
      for (auto [column, index] : llvm::zip(columns, at))
        column.at[axis] = {index};
      results.push_back(point);
      results.back().at[axis] = {base, 1};
      results.back().mask = mask;
      sumAcross(group.front(), columns, results.back());
    }
    for (const Stage &stage : group.drop_front())
      emitPoints(stage, results);
  };
  Value full = wholeSteps(axis, emitter.lanes);
  loop(emitter.constant(0), full, emitter.lanes,
       [&](Value base) { emitColumns(base, false); });
  loop(full, size, emitter.lanes, [&](Value base) { emitColumns(base, true); });
}

void NestEmitter::sumAcross(const Stage &stage, const Points &columns,
                            const Point &all) {
  PointEmitter::Scope scope(emitter);
  Combiner combiner = *Combiner::match(stage.op, 0);
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop) && axis != stage.lanes)
      axes.push_back(axis);
  axes.push_back(*stage.lanes);
  Type element = getElementTypeOrSelf(stage.op->getResult(0).getType());
  Value none = combiner.identity(builder, loc,
                                 VectorType::get({emitter.lanes}, element));
  SmallVector<Value> values =
      reduceAll(stage, axes, columns, SmallVector<Value>(columns.size(), none),
                Totals::combinersOf(stage.op), /*lanesReduced=*/true,
                /*copies=*/1);
  if (hasFailed)
    return;
  enter(all);
  FailureOr<Lanes> init = emitter.operand(stage.op, stage.op.getNumDpsInputs(),
                                          loopsAt(stage, all));
  if (failed(init))
    return fail();
  Value sums = sumsOf(combiner, builder, loc, values);
  keep(
      stage, all,
      {{combiner.combine(builder, loc, emitter.vector(*init), sums), 0, true}});
}

SmallVector<Lanes> NestEmitter::loopsAt(const Stage &stage,
                                        const Point &point) const {
  return llvm::map_to_vector(stage.axes,
                             [&](Axis axis) { return point.at.lookup(axis); });
}

void NestEmitter::emitPoints(const Stage &stage, const Points &points) {
  if (stage.isReduction())
    return emitReduction(stage, points);
  for (const Point &point : points) {
    PointEmitter::Scope scope(emitter);
    enter(point);
    SmallVector<Lanes> loops = loopsAt(stage, point);
    auto values = emitter.body(
        stage.op, loops,
        [&](unsigned number) {
          return emitter.operand(stage.op, number, loops);
        },
        /*contract=*/false);
    if (failed(values))
      return fail();
    keep(stage, point, *values);
  }
}

void NestEmitter::keep(const Stage &stage, const Point &point,
                       ArrayRef<Lanes> values) {
  SmallVector<Lanes> loops = loopsAt(stage, point);
  for (OpResult result : stage.op->getResults()) {
    Lanes value = values[result.getResultNumber()];
    auto index =
        emitter.apply(stage.op.getIndexingMapMatchingResult(result), loops);
    if (failed(index))
      return fail();
    const Storage &place = emitter.storage[result];
    SmallVector<Value> written;
    if (auto found = destinations.find(result); found != destinations.end())
      written = found->second;
    for (Value buffer : written)
      if (failed(emitter.store(value, buffer, *index)))
        return fail();
    if (!place.buffer) {
      emitter.kept[{result.getAsOpaquePointer(), emitter.number(place)}] =
          value;
      continue;
    }
    if (llvm::is_contained(written, place.buffer))
      continue;
    auto at = llvm::map_to_vector(place.dims,
                                  [&](unsigned dim) { return (*index)[dim]; });
    if (place.perPoint)
      at.insert(at.begin(), {emitter.constant(point.id)});
    if (failed(emitter.store(value, place.buffer, at)))
      return fail();
  }
}
