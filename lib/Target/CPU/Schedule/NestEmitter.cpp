//===- NestEmitter.cpp - emits the loops of a nest ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// A core starts two products a cycle, and each takes four: a block with fewer
/// accumulators waits for its own results.
static constexpr int64_t productsInFlight = 8;

int64_t relax::costOf(linalg::GenericOp op) {
  int64_t cost = 1;
  for (Operation &inner : *op.getBody())
    cost += isa_and_nonnull<math::MathDialect>(inner.getDialect()) ? 16
            : isa<arith::DivFOp>(inner)                            ? 8
                                                                   : 1;
  return cost;
}

LogicalResult NestEmitter::emit() {
  auto found = emitter.sizes(nest);
  if (failed(found))
    return failure();
  sizes = std::move(*found);
  chooseLevels();
  formGroups();
  chooseStorage();
  if (!nest.rows.empty())
    findHidden();
  emitBySize();
  // Only results in memory outlive the nest.
  for (const Stage &stage : nest.stages)
    for (Value result : stage.op->getResults()) {
      emitter.storage.erase(result);
      if (Value buffer = exported.lookup(result)) {
        auto rank = cast<RankedTensorType>(result.getType()).getRank();
        emitter.storage[result] = {
            buffer, llvm::to_vector(llvm::seq<unsigned>(0, rank))};
      }
    }
  emitter.kept.clear();
  return failure(hasFailed);
}

SmallVector<Value> NestEmitter::loop(
    Value from, Value to, int64_t step, ArrayRef<Value> inits,
    function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body) {
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *last <= *first)
    return llvm::to_vector(inits);
  if (first && last && *last - *first <= step)
    return body(from, inits);
  return emitter.loop(from, to, emitter.constant(step), inits,
                      [&](Value at, ValueRange carried) {
                        return body(at, llvm::to_vector(carried));
                      });
}

void NestEmitter::loop(Value from, Value to, int64_t step,
                       function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value at, ArrayRef<Value>) {
    body(at);
    return SmallVector<Value>();
  });
}

Value NestEmitter::grain(Value total, ArrayRef<Level> levels) {
  // About the number of simple vector operations in 20 µs.
  constexpr int64_t enough = 40000;
  Value work = emitter.constant(0);
  for (const Stage &stage : nest.stages) {
    int64_t cost = 0;
    graph.visitInlined(stage.op,
                       [&](linalg::GenericOp op) { cost += costOf(op); });
    Value product = emitter.constant(cost);
    for (Axis axis : stage.axes)
      if (!nest.isOuter(axis))
        product = emitter.multiply(product, sizes[axis]);
    work = emitter.add(work, product);
  }
  int64_t points = 1;
  for (const Level &level : levels)
    points *= level.unit;
  work = emitter.multiply(work, emitter.constant(points));
  Value least = arith::CeilDivUIOp::create(
      builder, loc, emitter.constant(enough * emitter.lanes),
      arith::MaxUIOp::create(builder, loc, work, emitter.constant(1)));
  // Sizes may be zero, but steps must not be.
  return arith::MaxUIOp::create(
      builder, loc, arith::MinUIOp::create(builder, loc, least, total),
      emitter.constant(1));
}

void NestEmitter::emitSkinny(int64_t rows) {
  SmallVector<Level> all(levels);
  Level &row = levels.back(), &column = levels[levels.size() - 2];
  Value size = sizes[row.axis];
  column.points = llvm::divideCeil(productsInFlight, rows);
  column.unit = column.step();
  row.unit = row.unit / row.points * rows;
  row.points = rows;
  sizes[row.axis] = emitter.constant(rows);
  emitParallel();
  sizes[row.axis] = size;
  levels = std::move(all);
}

int64_t NestEmitter::mostSkinny() const {
  if (!nest.rows.empty() || !outerLanes || levels.size() < 2 ||
      levels[levels.size() - 2].axis != outerLanes ||
      levels.back().unit == levels.back().step())
    return 0;
  int64_t columns = levels[levels.size() - 2].points;
  // Wider blocks must not exceed the columns that there are.
  if (auto size = staticSize(*outerLanes);
      size && *size < productsInFlight * emitter.lanes)
    return 0;
  return (productsInFlight - 1) / columns;
}

void NestEmitter::emitBySize() {
  int64_t most = mostSkinny();
  if (!most)
    return emitParallel();
  Axis row = levels.back().axis;
  if (auto rows = staticSize(row))
    return *rows > 0 && *rows <= most ? emitSkinny(*rows) : emitParallel();
  auto cases = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, most));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(),
                                           sizes[row], cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Region &region, function_ref<void()> emit) {
    builder.createBlock(&region);
    PointEmitter::Scope scope(emitter);
    emit();
    scf::YieldOp::create(builder, loc);
  };
  for (auto [rows, region] : llvm::zip_equal(cases, choice.getCaseRegions()))
    fill(region, [&, rows = rows] { emitSkinny(rows); });
  fill(choice.getDefaultRegion(), [&] { emitParallel(); });
}

void NestEmitter::emitParallel() {
  PointEmitter::Scope scope(emitter);
  blocks.resize(levels.size());
  Value zero = emitter.constant(0);
  if (levels.empty()) {
    allocateRows();
    emitBlock();
    return;
  }
  // Work is divided along all levels; lanes of element-wise and row nests are
  // not split.
  SmallVector<Level> divided(levels);
  bool isContraction = levels.back().unit != levels.back().step();
  if (!isContraction && levels.size() > 1 && levels.back().axis == outerLanes)
    divided.pop_back();
  SmallVector<Value> counts;
  Value total = emitter.constant(1);
  for (Level &level : divided) {
    Value count = sizes[level.axis];
    if (level.unit > 1)
      count = builder.createOrFold<arith::CeilDivUIOp>(
          loc, count, emitter.constant(level.unit));
    counts.push_back(count);
    total = emitter.multiply(total, count);
  }
  Value step = grain(total, divided);
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero}, ArrayRef<OpFoldResult>{total},
      ArrayRef<OpFoldResult>{step}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forall.getBody());
  PointEmitter::Scope inner(emitter);
  allocateRows();
  Value from = forall.getInductionVar(0);
  Value to =
      arith::MinUIOp::create(builder, loc, emitter.add(from, step), total);
  SmallVector<std::pair<Value, Value>> ranges;
  for (Level &level : levels)
    ranges.emplace_back(zero, sizes[level.axis]);
  auto range = [&](const Level &level, Value first, Value last) {
    Value unit = emitter.constant(level.unit);
    last = emitter.multiply(last, unit);
    if (level.unit > 1)
      last = arith::MinUIOp::create(builder, loc, last, sizes[level.axis]);
    return std::make_pair(emitter.multiply(first, unit), last);
  };
  if (divided.size() == 1) {
    ranges[0] = range(divided[0], from, to);
    emitLevel(0, ranges);
  } else {
    loop(from, to, 1, [&](Value at) {
      Value rest = at;
      for (size_t i = divided.size(); i-- > 0;) {
        Value mine = rest;
        if (i > 0) {
          mine = arith::RemUIOp::create(builder, loc, rest, counts[i]);
          rest = arith::DivUIOp::create(builder, loc, rest, counts[i]);
        }
        if (getConstantIntValue(counts[i]) != 1)
          ranges[i] =
              range(divided[i], mine, emitter.add(mine, emitter.constant(1)));
      }
      emitLevel(0, ranges);
    });
  }
}

void NestEmitter::emitLevel(unsigned number,
                            ArrayRef<std::pair<Value, Value>> ranges) {
  if (number == levels.size())
    return emitBlock();
  const Level &level = levels[number];
  auto [from, to] = ranges[number];
  if (panel && number + 1 == levels.size())
    packPanel();
  int64_t step = level.step();
  auto emitOne = [&](Value base, int64_t points, bool partial) {
    blocks[number] = {base, points, partial};
    emitLevel(number + 1, ranges);
  };
  if (step == 1) {
    loop(from, to, 1, [&](Value at) { emitOne(at, 1, false); });
    return;
  }
  if (level.balanced)
    return emitBalanced(number, from, to, [&](Value base, int64_t points) {
      emitOne(base, points, false);
    });
  // Full blocks: [from, full).
  std::optional<int64_t> size = staticSize(level.axis);
  bool isWhole = getConstantIntValue(from) == 0 && to == sizes[level.axis];
  Value full;
  if (size && isWhole) {
    full = emitter.constant(*size - *size % step);
  } else if (size && *size % step == 0) {
    full = to;
  } else {
    Value count = arith::SubIOp::create(builder, loc, to, from);
    Value left =
        arith::RemUIOp::create(builder, loc, count, emitter.constant(step));
    full = arith::SubIOp::create(builder, loc, to, left);
  }
  if (!size || *size >= step)
    loop(from, full, step, [&](Value at) { emitOne(at, level.points, false); });
  if (size && *size % step == 0)
    return;
  // Remainder: [full, to).
  bool hasLanes = level.elements > 1;
  if (size) {
    int64_t left = *size % step;
    int64_t points = llvm::divideCeil(left, level.elements);
    bool partial = left % level.elements != 0;
    auto emitTail = [&] {
      PointEmitter::Scope scope(emitter);
      Value base = emitter.constant(*size - left);
      if (level.singleTail) {
        loop(base, sizes[level.axis], 1,
             [&](Value at) { emitOne(at, 1, false); });
        return;
      }
      emitOne(base, points, partial);
    };
    if (isWhole)
      return emitTail();
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         to, sizes[level.axis]);
    auto branch = scf::IfOp::create(builder, loc, isLast);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    return emitTail();
  }
  if (hasLanes || level.singleTail) {
    loop(full, to, level.elements, [&](Value at) { emitOne(at, 1, hasLanes); });
    return;
  }
  for (int64_t points : level.tails) {
    Value left = arith::SubIOp::create(builder, loc, to, full);
    Value rest =
        arith::RemUIOp::create(builder, loc, left, emitter.constant(points));
    Value next = arith::SubIOp::create(builder, loc, to, rest);
    loop(full, next, points, [&](Value at) { emitOne(at, points, false); });
    full = next;
  }
}

void NestEmitter::emitBalanced(unsigned number, Value from, Value to,
                               function_ref<void(Value, int64_t)> emitBlockOf) {
  const Level &level = levels[number];
  std::optional<int64_t> size = staticSize(level.axis);
  bool isWhole = getConstantIntValue(from) == 0 && to == sizes[level.axis];
  if (size && *size % level.points == 0)
    return loop(from, to, level.points,
                [&](Value at) { emitBlockOf(at, level.points); });
  if (size && isWhole) {
    int64_t count = llvm::divideCeil(*size, level.points);
    int64_t least = *size / count, first = *size % count * (least + 1);
    loop(from, emitter.constant(first), least + 1,
         [&](Value at) { emitBlockOf(at, least + 1); });
    return loop(emitter.constant(first), to, least,
                [&](Value at) { emitBlockOf(at, least); });
  }
  Value points = arith::SubIOp::create(builder, loc, to, from);
  Value count = arith::CeilDivUIOp::create(builder, loc, points,
                                           emitter.constant(level.points));
  // There are no blocks of no points, but nothing may be divided by zero.
  Value divisor =
      arith::MaxUIOp::create(builder, loc, count, emitter.constant(1));
  Value least = arith::DivUIOp::create(builder, loc, points, divisor);
  Value larger = arith::RemUIOp::create(builder, loc, points, divisor);
  loop(emitter.constant(0), count, 1, [&](Value block) {
    Value base =
        emitter.add(emitter.add(from, emitter.multiply(block, least)),
                    arith::MinUIOp::create(builder, loc, block, larger));
    Value isLarger = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, block, larger);
    Value height = arith::SelectOp::create(
        builder, loc, isLarger, emitter.add(least, emitter.constant(1)), least);
    auto cases = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, level.points));
    auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), height,
                                             cases, cases.size());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&choice.getDefaultRegion());
    scf::YieldOp::create(builder, loc);
    for (auto [points, region] :
         llvm::zip_equal(cases, choice.getCaseRegions())) {
      builder.createBlock(&region);
      PointEmitter::Scope scope(emitter);
      emitBlockOf(base, points);
      scf::YieldOp::create(builder, loc);
    }
  });
}

Value NestEmitter::maskFor(Value base, Axis axis) {
  std::optional<int64_t> size = staticSize(axis);
  std::optional<int64_t> first = getConstantIntValue(base);
  auto type = VectorType::get({emitter.lanes}, builder.getI1Type());
  if (size && first)
    return vector::ConstantMaskOp::create(
        builder, loc, type,
        ArrayRef<int64_t>{std::min(*size - *first, emitter.lanes)});
  Value left = arith::SubIOp::create(builder, loc, sizes[axis], base);
  return vector::CreateMaskOp::create(builder, loc, type, left);
}

SmallVector<Value> NestEmitter::split(Value at, ArrayRef<Axis> axes) {
  SmallVector<Value> parts(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    parts[i] = at;
    if (i == 0)
      break;
    Value size = sizes[axes[i]];
    parts[i] = builder.createOrFold<arith::RemUIOp>(loc, at, size);
    at = builder.createOrFold<arith::DivUIOp>(loc, at, size);
  }
  return parts;
}

void NestEmitter::emitBlock() {
  PointEmitter::Scope scope(emitter);
  Points points(1);
  // Rows outside and columns inside, regardless of the order of the loops.
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, levels.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return levels[a].elements < levels[b].elements;
  });
  for (unsigned number : order) {
    const Level &level = levels[number];
    const Block &block = blocks[number];
    Points next;
    SmallVector<Value> bases;
    SmallVector<SmallVector<Value>> parts;
    SmallVector<Value> masks(block.points);
    for (int64_t i = 0; i < block.points; ++i)
      bases.push_back(
          emitter.add(block.base, emitter.constant(i * level.elements)));
    for (Value base : bases)
      parts.push_back(split(base, level.parts));
    if (block.partial)
      masks.back() = maskFor(bases.back(), level.axis);
    for (const Point &point : points)
      for (int64_t i = 0; i < block.points; ++i) {
        Point extended = point;
        extended.at[level.axis] = {bases[i], level.axis == outerLanes ? 1 : 0};
        for (auto [axis, at] : llvm::zip(level.parts, parts[i]))
          extended.at[axis] = {at};
        if (masks[i])
          extended.mask = masks[i];
        next.push_back(extended);
      }
    points = std::move(next);
  }
  for (auto [id, point] : llvm::enumerate(points))
    point.id = id;
  if (!hidden) {
    for (ArrayRef<Stage> group : groups)
      emitGroup(group, points);
    return;
  }
  Value all = sizes[*nest.columns];
  sizes[*nest.columns] = visibleColumns(points);
  for (ArrayRef<Stage> group : groups)
    emitGroup(group, points);
  sizes[*nest.columns] = all;
}
