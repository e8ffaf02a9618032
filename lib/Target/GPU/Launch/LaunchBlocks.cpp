//===- LaunchBlocks.cpp - cooperation of threads in a block ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/LaunchEmitter.h"

#include "Target/Schedule/LongSums.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Shuffle: gets the value of the thread whose index is XORed with `mask`.
Value LaunchEmitter::exchange(Value value, int64_t mask) {
  Type type = value.getType(), i32 = builder.getI32Type();
  Value by = arith::ConstantIntOp::create(builder, loc, i32, mask);
  Value width = arith::ConstantIntOp::create(builder, loc, i32, subgroupSize);
  auto shuffle = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(builder, loc, word, by, width,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  Type own = builder.getIntegerType(bits);
  Value word = isa<FloatType>(type)
                   ? arith::BitcastOp::create(builder, loc, own, value)
                   : value;
  if (bits < 32) {
    word = arith::ExtUIOp::create(builder, loc, i32, word);
    word = arith::TruncIOp::create(builder, loc, own, shuffle(word));
  } else if (bits == 32) {
    word = shuffle(word);
  } else {
    Value shift = arith::ConstantIntOp::create(builder, loc, own, 32);
    Value low = arith::TruncIOp::create(builder, loc, i32, word);
    Value high = arith::TruncIOp::create(
        builder, loc, i32, arith::ShRUIOp::create(builder, loc, word, shift));
    low = arith::ExtUIOp::create(builder, loc, own, shuffle(low));
    high = arith::ExtUIOp::create(builder, loc, own, shuffle(high));
    word = arith::OrIOp::create(
        builder, loc, low, arith::ShLIOp::create(builder, loc, high, shift));
  }
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(builder, loc, type, word)
             : word;
}

Value LaunchEmitter::combineInBlock(const Combiner &combiner, Value value) {
  for (int64_t mask = subgroupSize / 2; mask > 0; mask /= 2)
    value = combiner.combine(builder, loc, value, exchange(value, mask));
  int64_t groups = threads / subgroupSize;
  if (groups == 1)
    return value;
  // Combine one value per subgroup through shared memory, with a byte for a
  // boolean.
  Type type = value.getType();
  bool isBoolean = type.isInteger(1);
  Type inMemory = isBoolean ? builder.getI8Type() : type;
  Value shared = allocateShared({groups}, inMemory);
  Value width = emitter.constant(subgroupSize);
  Value group = arith::DivUIOp::create(builder, loc, thread, width);
  Value lane = arith::RemUIOp::create(builder, loc, thread, width);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, emitter.constant(0));
  auto branch = scf::IfOp::create(builder, loc, first);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value word = isBoolean
                     ? arith::ExtUIOp::create(builder, loc, inMemory, value)
                     : value;
    memref::StoreOp::create(builder, loc, word, shared, ValueRange(group));
  }
  gpu::BarrierOp::create(builder, loc);
  for (int64_t i = 0; i < groups; ++i) {
    Value part = memref::LoadOp::create(builder, loc, shared,
                                        ValueRange(emitter.constant(i)));
    if (isBoolean)
      part = arith::TruncIOp::create(builder, loc, type, part);
    value = i == 0 ? part : combiner.combine(builder, loc, value, part);
  }
  return value;
}

SmallVector<Value> LaunchEmitter::reduceTogether(const Stage &stage,
                                                 const Point &point,
                                                 ArrayRef<Combiner> combiners) {
  auto inits = initialValues(stage, point);
  if (failed(inits)) {
    fail();
    return {};
  }
  SmallVector<Axis> axes = axesOf(stage, /*reduced=*/true);
  SmallVector<Value> values;
  bool alongLanes = llvm::any_of(axes, [&](Axis axis) { return isWide(axis); });
  for (auto [combiner, init] : llvm::zip(combiners, *inits)) {
    int64_t lanes = alongLanes ? emitter.lanes : 1;
    Value none = combiner.identity(builder, loc,
                                   VectorType::get({lanes}, init.getType()));
    if (!alongLanes)
      none = vector::ExtractOp::create(builder, loc, none, 0);
    values.push_back(none);
  }
  values = share(
      count(axes), values,
      [&](Value number, Value isOn, ValueRange carried) {
        Point inner = point;
        divide(number, axes, inner);
        SmallVector<Value> sums = accumulate(stage, inner, carried);
        if (isOn)
          for (auto [sum, before] : llvm::zip(sums, carried))
            sum = arith::SelectOp::create(builder, loc, isOn, sum, before);
        return sums;
      },
      Totals::combinersOf(stage.op));
  for (auto [combiner, init, value] : llvm::zip(combiners, *inits, values)) {
    if (alongLanes)
      value = combiner.reduce(builder, loc, value);
    value =
        combiner.combine(builder, loc, init, combineInBlock(combiner, value));
  }
  return values;
}

SmallVector<Value> LaunchEmitter::addInBlocks(
    Value first, Value count, int64_t stride, int64_t most, ValueRange inits,
    ArrayRef<std::optional<Combiner>> combiners,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value step = emitter.constant(stride);
  std::optional<int64_t> size = getConstantIntValue(count);
  std::optional<SumBlocks> blocks;
  if (Totals::hasSums(combiners))
    blocks = SumBlocks::choose(
        size ? std::optional<int64_t>(llvm::divideCeil(*size, stride))
             : std::nullopt,
        most);
  if (!blocks)
    return emitter.loop(first, count, step, inits, body);
  Totals totals(builder, loc, combiners, blocks->areMany);
  Value length = emitter.constant(blocks->steps * stride);
  SmallVector<Value> sums = emitter.loop(
      emitter.constant(0), count, length, totals.begin(llvm::to_vector(inits)),
      [&](Value from, ValueRange carried) {
        SmallVector<Value> before(carried);
        Value to = builder.createOrFold<arith::MinUIOp>(
            loc, emitter.add(from, length), count);
        return totals.add(before,
                          emitter.loop(emitter.add(from, first), to, step,
                                       totals.startBlock(before), body));
      });
  return totals.finish(sums);
}

SmallVector<Value> LaunchEmitter::share(
    Value count, ValueRange inits,
    function_ref<SmallVector<Value>(Value, Value, ValueRange)> body,
    ArrayRef<std::optional<Combiner>> combiners) {
  std::optional<int64_t> size = getConstantIntValue(count);
  auto step = [&](Value number, ValueRange carried) {
    return body(number, {}, carried);
  };
  if (!size)
    return addInBlocks(thread, count, threads, maxTerms, inits, combiners,
                       step);
  SmallVector<Value> values(inits);
  int64_t begin = 0, together = stepsAtOnce * threads;
  if (*size >= 2 * together) {
    begin = *size / together * together;
    values = addInBlocks(
        thread, emitter.constant(begin), together, maxTerms / stepsAtOnce,
        values, combiners, [&](Value number, ValueRange carried) {
          SmallVector<Value> sums(carried);
          for (int64_t i = 0; i < stepsAtOnce; ++i)
            sums =
                step(emitter.add(number, emitter.constant(i * threads)), sums);
          return sums;
        });
  }
  for (; begin + threads <= *size; begin += threads)
    values = step(emitter.add(thread, emitter.constant(begin)), values);
  if (begin < *size) {
    // Threads without their own iteration repeat the last one.
    Value number = emitter.add(thread, emitter.constant(begin));
    Value isOn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, count);
    number = arith::MinUIOp::create(builder, loc, number,
                                    emitter.constant(*size - 1));
    values = body(number, isOn, values);
  }
  return values;
}

void LaunchEmitter::emitShared(const Stage &stage, ArrayRef<Axis> axes,
                               const Point &point) {
  share(count(axes), {}, [&](Value number, Value isOn, ValueRange) {
    OpBuilder::InsertionGuard guard(builder);
    if (isOn) {
      auto branch = scf::IfOp::create(builder, loc, isOn);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    Point inner = point;
    divide(number, axes, inner);
    emitPoint(stage, inner);
    return SmallVector<Value>();
  });
}

void LaunchEmitter::emitRowStage(const Stage &stage, Point point) {
  SmallVector<Axis> inner = axesOf(stage, /*reduced=*/false);
  if (!inner.empty()) {
    emitShared(stage, inner, point);
    // Other threads read the results.
    if (&stage != &nest.stages.back())
      gpu::BarrierOp::create(builder, loc);
    return;
  }
  SmallVector<Combiner> combiners;
  if (stage.isReduction())
    for (unsigned i = 0; i < stage.op->getNumResults(); ++i)
      if (std::optional<Combiner> combiner = Combiner::match(stage.op, i))
        combiners.push_back(*combiner);
  PointEmitter::Scope scope(emitter);
  SmallVector<Lanes> values;
  if (!stage.isReduction()) {
    auto computed = evaluate(stage, point);
    if (failed(computed))
      return fail();
    values = *computed;
  } else if (combiners.size() == stage.op->getNumResults()) {
    values = asLanes(reduceTogether(stage, point, combiners));
  } else {
    values = asLanes(reduceInOrder(stage, point));
  }
  if (!hasFailed)
    keep(stage, point, values, /*byOne=*/true);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void LaunchEmitter::emitColumns() {
  const Stage &first = nest.stages.front();
  int64_t splits = threads / width;
  int64_t lanes = isWide(column) ? emitter.lanes : 1;
  Value thread = launch.getThreadIds().x, columns = count(column);
  Value across = emitter.constant(width);
  Value lane = arith::RemUIOp::create(builder, loc, thread, across);
  Value split = arith::DivUIOp::create(builder, loc, thread, across);
  Value blocks = arith::CeilDivUIOp::create(builder, loc, columns, across);
  Value block = launch.getBlockIds().x;
  Value number = emitter.add(
      emitter.multiply(arith::RemUIOp::create(builder, loc, block, blocks),
                       across),
      lane);
  // All threads must reach the barrier, so threads past the end compute the
  // last column.
  Value last =
      arith::SubIOp::create(builder, loc, columns, emitter.constant(1));
  Point point;
  divide(arith::MinUIOp::create(builder, loc, number, last), column, point);
  SmallVector<Axis> others(llvm::make_filter_range(
      order, [&](Axis axis) { return axis != column; }));
  divide(arith::DivUIOp::create(builder, loc, block, blocks), others, point);

  // The elements of the sum are distributed cyclically among the splits.
  SmallVector<Axis> axes = axesOf(first, /*reduced=*/true);
  SmallVector<Value> partial, shared;
  for (auto [combiner, result] :
       llvm::zip(combiners, first.op->getResultTypes())) {
    auto vector = VectorType::get({lanes}, getElementTypeOrSelf(result));
    Value none = combiner.identity(builder, loc, vector);
    if (lanes == 1)
      none = vector::ExtractOp::create(builder, loc, none, 0);
    partial.push_back(none);
    shared.push_back(
        allocateShared({splits, width * lanes}, vector.getElementType()));
  }
  partial = addInBlocks(split, count(axes), splits, maxTerms, partial,
                        Totals::combinersOf(first.op),
                        [&](Value at, ValueRange carried) {
                          Point inner = point;
                          divide(at, axes, inner);
                          return accumulate(first, inner, carried);
                        });
  if (hasFailed)
    return;
  Value place = emitter.multiply(lane, emitter.constant(lanes));
  for (auto [value, buffer] : llvm::zip(partial, shared))
    if (lanes == 1)
      memref::StoreOp::create(builder, loc, value, buffer,
                              ValueRange{split, place});
    else
      vector::StoreOp::create(builder, loc, value, buffer,
                              ValueRange{split, place});
  gpu::BarrierOp::create(builder, loc);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        split, emitter.constant(0));
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, columns);
  auto branch = scf::IfOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, isFirst, inside));
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  PointEmitter::Scope scope(emitter);
  auto sums = initialValues(first, point);
  if (failed(sums))
    return fail();
  *sums = emitter.loop(
      emitter.constant(0), emitter.constant(splits), emitter.constant(1), *sums,
      [&](Value at, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [combiner, buffer, sum] :
             llvm::zip(combiners, shared, carried)) {
          Value part =
              lanes == 1 ? Value(memref::LoadOp::create(builder, loc, buffer,
                                                        ValueRange{at, place}))
                         : Value(vector::LoadOp::create(
                               builder, loc, cast<VectorType>(sum.getType()),
                               buffer, ValueRange{at, place}));
          next.push_back(combiner.combine(builder, loc, sum, part));
        }
        return next;
      });
  keep(first, point, asLanes(*sums), /*byOne=*/false);
  for (const Stage &stage : llvm::drop_begin(nest.stages))
    emitPoint(stage, point);
}
