//===- LaunchEmitter.cpp - emits a nest as a GPU kernel -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/LaunchEmitter.h"

#include "Target/GPU/Launch/ReadFirst.h"
#include "Target/GPU/Passes.h"
#include "Target/Schedule/LongSums.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Threads per block in the form `points`.
static constexpr int64_t pointsPerBlock = 256;

//===----------------------------------------------------------------------===//
// Indices and loops
//===----------------------------------------------------------------------===//

Value LaunchEmitter::count(ArrayRef<Axis> axes) {
  Value total = emitter.constant(1);
  for (Axis axis : axes) {
    Value size = sizes[axis];
    if (isWide(axis))
      size = builder.createOrFold<arith::CeilDivUIOp>(
          loc, size, emitter.constant(emitter.lanes));
    total = emitter.multiply(total, size);
  }
  return total;
}

void LaunchEmitter::divide(Value number, ArrayRef<Axis> axes, Point &point) {
  for (size_t i = axes.size(); i-- > 0;) {
    Value at = number;
    if (isConstantIntValue(count(axes.take_front(i)), 1)) {
      number = emitter.constant(0); // all remaining axes have one point
    } else {
      Value size = count(axes[i]);
      at = builder.createOrFold<arith::RemUIOp>(loc, number, size);
      number = builder.createOrFold<arith::DivUIOp>(loc, number, size);
    }
    point[axes[i]] =
        isWide(axes[i])
            ? Lanes{arith::MulIOp::create(builder, loc, at,
                                          emitter.constant(emitter.lanes)),
                    1}
            : Lanes{at};
  }
}

SmallVector<Lanes> LaunchEmitter::loopsAt(const Stage &stage,
                                          const Point &point) const {
  return llvm::map_to_vector(stage.axes,
                             [&](Axis axis) { return point.lookup(axis); });
}

//===----------------------------------------------------------------------===//
// Points and reductions
//===----------------------------------------------------------------------===//

void LaunchEmitter::keep(const Stage &stage, const Point &point,
                         ArrayRef<Lanes> values, bool byOne) {
  SmallVector<Lanes> loops = loopsAt(stage, point);
  for (OpResult result : stage.op->getResults()) {
    Lanes value = values[result.getResultNumber()];
    const Storage &place = emitter.storage[result];
    if (!place.buffer)
      emitter.kept[{result.getAsOpaquePointer(), 0}] = value;
    auto index =
        emitter.apply(stage.op.getIndexingMapMatchingResult(result), loops);
    if (failed(index))
      return fail();
    auto found = destinations.find(result);
    bool isWritten = found != destinations.end();
    bool isHandedOn =
        place.buffer &&
        !(isWritten && llvm::is_contained(found->second, place.buffer));
    if (!isWritten && !isHandedOn)
      continue;
    // If all threads have the value, only one writes it.
    OpBuilder::InsertionGuard guard(builder);
    if (byOne) {
      Value first = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, thread, emitter.constant(0));
      if (hasRow)
        first = arith::AndIOp::create(builder, loc, first, hasRow);
      auto branch = scf::IfOp::create(builder, loc, first);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    if (isWritten)
      for (Value buffer : found->second)
        if (failed(emitter.store(value, buffer, *index)))
          return fail();
    if (isHandedOn) {
      auto at = llvm::map_to_vector(
          place.dims, [&](unsigned dim) { return (*index)[dim]; });
      if (failed(emitter.store(value, place.buffer, at)))
        return fail();
    }
  }
}

FailureOr<SmallVector<Value>> LaunchEmitter::initialValues(const Stage &stage,
                                                           const Point &point) {
  SmallVector<Value> values;
  SmallVector<Lanes> loops = loopsAt(stage, point);
  for (OpOperand &init : stage.op.getDpsInitsMutable()) {
    FailureOr<Lanes> value =
        emitter.operand(stage.op, init.getOperandNumber(), loops);
    bool asVector = isVector(stage, point);
    if (failed(value) || (!asVector && !value->isUniform()))
      return failure();
    values.push_back(asVector ? emitter.vector(*value) : value->value);
  }
  return values;
}

SmallVector<Value> LaunchEmitter::accumulate(const Stage &stage,
                                             const Point &point,
                                             ValueRange before) {
  linalg::GenericOp op = stage.op;
  SmallVector<Lanes> loops = loopsAt(stage, point);
  unsigned numInputs = op.getNumDpsInputs();
  auto results = emitter.body(
      op, loops,
      [&](unsigned number) -> FailureOr<Lanes> {
        if (number >= numInputs) {
          Value value = before[number - numInputs];
          return Lanes{value, 0, isa<VectorType>(value.getType())};
        }
        return emitter.operand(op, number, loops);
      },
      /*contract=*/stage.isReduction());
  if (failed(results)) {
    fail();
    return llvm::to_vector(before);
  }
  SmallVector<Value> values;
  for (auto [result, value] : llvm::zip(*results, before)) {
    bool asVector = isa<VectorType>(value.getType());
    if (!asVector && !result.isUniform()) {
      fail();
      return llvm::to_vector(before);
    }
    values.push_back(asVector ? emitter.vector(result) : result.value);
  }
  return values;
}

SmallVector<Lanes> LaunchEmitter::asLanes(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value value) {
    return Lanes{value, 0, isa<VectorType>(value.getType())};
  });
}

SmallVector<Value> LaunchEmitter::reduceInOrder(const Stage &stage,
                                                const Point &point) {
  auto inits = initialValues(stage, point);
  if (failed(inits)) {
    fail();
    return {};
  }
  SmallVector<Axis> axes = axesOf(stage, /*reduced=*/true);
  SmallVector<std::optional<int64_t>> known;
  for (Axis axis : axes)
    known.push_back(getConstantIntValue(sizes[axis]));
  SmallVector<std::optional<Combiner>> combiners =
      Totals::combinersOf(stage.op);
  std::optional<SumBlocks> blocks;
  if (Totals::hasSums(combiners))
    blocks = SumBlocks::choose(known,
                               stage.isContraction() ? maxProducts : maxTerms);
  Totals totals(builder, loc, combiners, blocks && blocks->areMany);
  Value zero = emitter.constant(0), one = emitter.constant(1);
  std::function<SmallVector<Value>(unsigned, const Point &, ValueRange)>
      nestLoops = [&](unsigned level, const Point &at, ValueRange values) {
        if (level == axes.size())
          return accumulate(stage, at, values);
        Value size = sizes[axes[level]];
        auto alongFrom = [&](Value from, Value to, ValueRange values) {
          return emitter.loop(from, to, one, values,
                              [&](Value index, ValueRange carried) {
                                Point inner = at;
                                inner[axes[level]] = {index};
                                return nestLoops(level + 1, inner, carried);
                              });
        };
        if (!blocks || level != blocks->level)
          return alongFrom(zero, size, values);
        Value length = emitter.constant(blocks->steps);
        return emitter.loop(
            zero, size, length, values, [&](Value from, ValueRange carried) {
              SmallVector<Value> before(carried);
              Value to = builder.createOrFold<arith::MinUIOp>(
                  loc, emitter.add(from, length), size);
              return totals.add(before,
                                alongFrom(from, to, totals.startBlock(before)));
            });
      };
  if (!blocks)
    return nestLoops(0, point, *inits);
  return totals.finish(nestLoops(0, point, totals.begin(*inits)));
}

void LaunchEmitter::emitPoint(const Stage &stage, Point point) {
  PointEmitter::Scope scope(emitter);
  if (stage.isReduction()) {
    SmallVector<Value> values = reduceInOrder(stage, point);
    if (!hasFailed)
      keep(stage, point, asLanes(values), /*byOne=*/false);
    return;
  }
  auto values = evaluate(stage, point);
  if (failed(values))
    return fail();
  keep(stage, point, *values, /*byOne=*/false);
}

FailureOr<SmallVector<Lanes>> LaunchEmitter::evaluate(const Stage &stage,
                                                      const Point &point) {
  SmallVector<Lanes> loops = loopsAt(stage, point);
  return emitter.body(
      stage.op, loops,
      [&](unsigned number) { return emitter.operand(stage.op, number, loops); },
      /*contract=*/false);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

gpu::LaunchOp LaunchEmitter::createLaunch(Value blocks, int64_t threads) {
  Value one = emitter.constant(1);
  auto op = gpu::LaunchOp::create(builder, loc, blocks, one, one,
                                  emitter.constant(threads), one, one);
  builder.setInsertionPointToStart(&op.getBody().front());
  gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPointToStart(&op.getBody().front());
  return op;
}

Value LaunchEmitter::chooseRow(Value total) {
  thread = launch.getThreadIds().x;
  Value row = launch.getBlockIds().x;
  if (rowsOfBlock == 1)
    return row;
  Value width = emitter.constant(threads);
  row = emitter.add(emitter.multiply(row, emitter.constant(rowsOfBlock)),
                    arith::DivUIOp::create(builder, loc, thread, width));
  thread = arith::RemUIOp::create(builder, loc, thread, width);
  if (auto known = getConstantIntValue(total);
      known && *known % rowsOfBlock == 0)
    return row;
  // Subgroups without a row repeat the last one.
  hasRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row,
                                 total);
  Value last = arith::SubIOp::create(builder, loc, total, emitter.constant(1));
  return arith::MinUIOp::create(builder, loc, row, last);
}

void LaunchEmitter::emitPoints(Value number, Value total) {
  auto compare = [&](Value lhs, arith::CmpIPredicate predicate, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  auto emitAll = [&](const Point &point) {
    for (const Stage &stage : nest.stages)
      emitPoint(stage, point);
  };
  // For a flat nest, the last thread may process a remainder.
  Value size, begin, end;
  if (order.size() == 1 && isWide(order.front())) {
    size = sizes[order.front()];
    Value lanes = emitter.constant(emitter.lanes);
    begin = emitter.multiply(number, lanes);
    end = emitter.add(begin, lanes);
  }
  bool hasRest = size && !PointEmitter::isMultiple(size, emitter.lanes);
  Value inside = hasRest ? compare(end, arith::CmpIPredicate::ule, size)
                         : compare(number, arith::CmpIPredicate::ult, total);
  auto branch =
      scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/hasRest);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  Point point;
  divide(number, order, point);
  emitAll(point);
  if (!hasRest)
    return;
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitter.loop(begin, size, emitter.constant(1), {}, [&](Value at, ValueRange) {
    emitAll({{order.front(), Lanes{at}}});
    return SmallVector<Value>();
  });
}

LogicalResult LaunchEmitter::emit() {
  emitter.storage = storage;
  if (failed(findSizes()))
    return failure();
  order = nest.outer;
  if (const Stage &last = nest.stages.back(); last.lanes)
    if (auto *found = llvm::find(order, *last.lanes); found != order.end())
      std::rotate(found, found + 1, order.end());
  if (emitter.lanes > 1)
    wide = lanesOf(nest);
  bool rows = chooseRows();
  bool columns = !rows && chooseColumns();
  // A row is a single point of the outer axes, so they cannot be vectorized; a
  // thread must not reduce along lanes of several axes at a time.
  if (rows && llvm::any_of(wide, [&](Axis axis) { return nest.isOuter(axis); }))
    return failure();
  Value total = count(order);
  OpBuilder::InsertionGuard guard(builder);
  if (rows) {
    launch = createLaunch(builder.createOrFold<arith::CeilDivUIOp>(
                              loc, total, emitter.constant(rowsOfBlock)),
                          threads * rowsOfBlock);
    launch->setDiscardableAttr(kManyBlocksAttr, builder.getUnitAttr());
  } else if (columns) {
    Value blocks = builder.createOrFold<arith::CeilDivUIOp>(
        loc, count(column), emitter.constant(width));
    for (Axis axis : order)
      if (axis != column)
        blocks = emitter.multiply(blocks, count(axis));
    launch = createLaunch(blocks, threads);
  } else {
    Value blocks = builder.createOrFold<arith::CeilDivUIOp>(
        loc, total, emitter.constant(pointsPerBlock));
    launch = createLaunch(blocks, pointsPerBlock);
  }
  {
    OpBuilder::InsertionGuard outside(builder);
    builder.setInsertionPoint(launch);
    chooseStorage();
  }
  {
    PointEmitter::Scope scope(emitter);
    Point point;
    if (rows) {
      divide(chooseRow(total), order, point);
      for (const Stage &stage : nest.stages)
        emitRowStage(stage, point);
      readGlobalFirst(&launch.getBody().front());
    } else if (columns) {
      emitColumns();
    } else {
      Value number =
          emitter.add(emitter.multiply(launch.getBlockIds().x,
                                       emitter.constant(pointsPerBlock)),
                      launch.getThreadIds().x);
      emitPoints(number, total);
    }
  }
  for (auto [result, buffer] : exported) {
    auto rank = cast<RankedTensorType>(result.getType()).getRank();
    storage[result] = {buffer, llvm::to_vector(llvm::seq<unsigned>(0, rank))};
  }
  return failure(hasFailed);
}
