//===- NestEmitter.cpp - loops for the stages of a nest -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "Target/CPU/Schedule/Combiner.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// What a point of an op costs, in simple vector operations.
static int64_t costOf(linalg::GenericOp op) {
  int64_t cost = 1;
  for (Operation &inner : *op.getBody())
    cost += isa<math::MathDialect>(inner.getDialect()) ? 16
            : isa<arith::DivFOp>(inner)                ? 8
                                                       : 1;
  return cost;
}

LogicalResult NestEmitter::emit() {
  if (failed(findSizes()))
    return failure();
  chooseLevels();
  chooseStorage();
  emitParallel();
  // What is not in memory is gone.
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

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

LogicalResult NestEmitter::findSizes() {
  for (const Stage &stage : nest.stages)
    for (auto [number, axis] : llvm::enumerate(stage.axes)) {
      if (sizes.count(axis))
        continue;
      linalg::GenericOp op = stage.op;
      // A static size where any operand has one.
      Value size;
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type)
          continue;
        AffineMap map = op.getMatchingIndexingMap(&operand);
        for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
          auto at = dyn_cast<AffineDimExpr>(expr);
          if (!at || at.getPosition() != number)
            continue;
          if (size && type.isDynamicDim(dim))
            continue;
          size = emitter.size(operand.get(), dim);
        }
      }
      if (!size)
        return failure();
      sizes[axis] = size;
    }
  return success();
}

std::optional<int64_t> NestEmitter::staticSize(Axis axis) const {
  return getConstantIntValue(sizes.lookup(axis));
}

std::optional<Axis> NestEmitter::lanesOf(const Stage &stage) const {
  return outerLanes ? outerLanes : stage.lanes;
}

void NestEmitter::chooseLevels() {
  // The stage that costs most decides: the first reduction, if there is one.
  const Stage *main = &nest.stages.back();
  for (const Stage &stage : nest.stages)
    if (stage.isReduction()) {
      main = &stage;
      break;
    }
  if (main->lanes && nest.isOuter(*main->lanes))
    outerLanes = main->lanes;
  bool allInRegisters = llvm::all_of(nest.stages, [&](const Stage &stage) {
    return stage.op.getNumParallelLoops() == nest.outer.size();
  });

  // Axes along which one operand of a contraction stays the same.
  auto isFree = [&](Axis axis, Axis other) {
    bool first = false, second = false;
    for (OpOperand *input : main->op.getDpsInputOperands()) {
      AffineMap map = main->op.getMatchingIndexingMap(input);
      bool hasAxis = map.isFunctionOfDim(*main->loopOf(axis));
      bool hasOther = map.isFunctionOfDim(*main->loopOf(other));
      first |= hasAxis && !hasOther;
      second |= hasOther && !hasAxis;
    }
    return first && second;
  };

  int64_t columns = 1;
  if (main->isReduction())
    columns = emitter.fewRegisters ? 2 : 4;
  else if (costOf(main->op) < 12 && nest.stages.size() == 1)
    columns = 2;

  std::optional<Axis> row, column;
  if (outerLanes && main->isReduction()) {
    for (Axis axis : llvm::reverse(nest.outer))
      if (axis != *outerLanes && !row && isFree(axis, *outerLanes))
        row = axis;
  } else if (!outerLanes && main->isReduction() && allInRegisters) {
    for (Axis axis : llvm::reverse(nest.outer)) {
      if (!column)
        column = axis;
      else if (!row && isFree(axis, *column))
        row = axis;
    }
    if (!row)
      column.reset();
  }

  for (Axis axis : nest.outer)
    if (axis != row && axis != column && axis != outerLanes)
      levels.push_back({axis});
  if (outerLanes)
    levels.push_back({*outerLanes, columns, emitter.lanes});
  if (column)
    levels.push_back({*column, 4, 1});
  if (row)
    levels.push_back({*row, outerLanes ? 6 : 4, 1});
  for (Level &level : levels)
    level.unit = level.step();
  if (column)
    for (Level &level : MutableArrayRef(levels).take_back(2))
      level.singleTail = true;
  // A thread takes enough rows to be worth the panel of the other operand.
  if (row)
    levels.back().unit = levels.back().step() * 16;
}

void NestEmitter::chooseStorage() {
  for (const Output &output : graph.outputs)
    destinations[output.value].push_back(output.buffer);
  DenseSet<Value> taken;
  for (auto [index, stage] : llvm::enumerate(nest.stages)) {
    for (OpResult result : stage.op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      AffineMap map = stage.op.getIndexingMapMatchingResult(result);
      SmallVector<unsigned> inner, all;
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        all.push_back(dim);
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (!nest.isOuter(stage.axes[loop]))
          inner.push_back(dim);
      }
      // Who reads it.
      bool readLater = false, readHere = false, onlyStages = true;
      Value shared;
      for (linalg::GenericOp reader :
           stage.op->getBlock()->getOps<linalg::GenericOp>()) {
        bool reads = llvm::any_of(KernelGraph::reads(reader), [&](auto read) {
          return read.first == Value(result);
        });
        reads |= llvm::is_contained(reader.getDpsInits(), Value(result));
        if (!reads)
          continue;
        bool here = false;
        for (const Stage &other : nest.stages)
          graph.visitInlined(
              other.op, [&](linalg::GenericOp op) { here |= op == reader; });
        (here ? readHere : readLater) = true;
        onlyStages &= graph.isStage(reader);
        // The destination of the last reader, if it reads what it overwrites.
        if (reader == nest.stages.back().op && !reader.getNumReductionLoops() &&
            reader->getNumResults() == 1)
          for (OpOperand &operand : reader->getOpOperands())
            if (operand.get() == result &&
                reader.getMatchingIndexingMap(&operand) ==
                    reader.getIndexingMapMatchingResult(reader->getResult(0)))
              if (auto found = destinations.find(reader->getResult(0));
                  found != destinations.end() &&
                  cast<MemRefType>(found->second.front().getType())
                          .getElementType() == type.getElementType())
                shared = found->second.front();
      }
      auto found = destinations.find(result);
      bool isOutput = found != destinations.end();
      // Others read before the last reader writes, and no other value is there.
      if (!onlyStages || (shared && taken.contains(shared)))
        shared = Value();
      if (readLater ||
          (readHere && !inner.empty() && outerLanes && !isOutput && !shared)) {
        // A buffer for all of it.
        if (!isOutput) {
          SmallVector<Value> dynamic;
          for (auto [dim, expr] : llvm::enumerate(map.getResults()))
            if (type.isDynamicDim(dim))
              dynamic.push_back(
                  sizes[stage.axes[cast<AffineDimExpr>(expr).getPosition()]]);
          Value buffer = memref::AllocOp::create(
              builder, loc,
              MemRefType::get(type.getShape(), type.getElementType()), dynamic,
              builder.getI64IntegerAttr(64));
          destinations[result].push_back(buffer);
        }
        if (readLater)
          exported[result] = destinations[result].front();
        isOutput = true;
      }
      if (inner.empty()) {
        emitter.storage[result] = {};
      } else if (isOutput) {
        emitter.storage[result] = {destinations[result].front(), all};
      } else if (shared) {
        taken.insert(shared);
        emitter.storage[result] = {shared, all};
        destinations[result].push_back(shared);
      } else {
        rows.emplace_back(result, inner);
      }
    }
  }
}

void NestEmitter::allocateRows() {
  for (auto &[result, dims] : rows) {
    auto type = cast<RankedTensorType>(result.getType());
    auto op = result.getDefiningOp<linalg::GenericOp>();
    AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    for (unsigned dim : dims) {
      shape.push_back(type.getDimSize(dim));
      if (type.isDynamicDim(dim))
        dynamic.push_back(sizes[graph.axisOf(op, map.getDimPosition(dim))]);
    }
    Value buffer = memref::AllocOp::create(
        builder, loc, MemRefType::get(shape, type.getElementType()), dynamic,
        builder.getI64IntegerAttr(64));
    emitter.storage[result] = {buffer, dims};
  }
}

//===----------------------------------------------------------------------===//
// Outer loops
//===----------------------------------------------------------------------===//

SmallVector<Value> NestEmitter::loop(
    Value from, Value to, int64_t step, ArrayRef<Value> inits,
    function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body) {
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *last <= *first)
    return llvm::to_vector(inits);
  if (first && last && *last - *first <= step)
    return body(from, inits);
  auto op =
      scf::ForOp::create(builder, loc, from, to, emitter.constant(step), inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    builder.setInsertionPoint(op.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(op.getBody());
  PointEmitter::Scope scope(emitter);
  SmallVector<Value> carried(op.getRegionIterArgs());
  SmallVector<Value> next = body(op.getInductionVar(), carried);
  if (!inits.empty())
    scf::YieldOp::create(builder, loc, next);
  return op.getResults();
}

void NestEmitter::loop(Value from, Value to, int64_t step,
                       function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value at, ArrayRef<Value>) {
    body(at);
    return SmallVector<Value>();
  });
}

Value NestEmitter::grain(Value total, ArrayRef<Level> levels) {
  // Simple operations on vectors in some 20 µs.
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
  // Sizes may be zero, steps may not.
  return arith::MaxUIOp::create(
      builder, loc, arith::MinUIOp::create(builder, loc, least, total),
      emitter.constant(1));
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
  // Work is divided along all levels; in maps and rows, lanes stay together.
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
  int64_t step = level.step();
  auto emitOne = [&](Value base, int64_t points, bool partial) {
    blocks[number] = {base, points, partial};
    emitLevel(number + 1, ranges);
  };
  if (step == 1) {
    loop(from, to, 1, [&](Value at) { emitOne(at, 1, false); });
    return;
  }
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
  // What is left: [full, to).
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
  Value left = arith::SubIOp::create(builder, loc, to, full);
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, level.points));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), left,
                                           cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&choice.getDefaultRegion());
  scf::YieldOp::create(builder, loc);
  for (auto [points, region] : llvm::zip(cases, choice.getCaseRegions())) {
    builder.createBlock(&region);
    PointEmitter::Scope scope(emitter);
    emitOne(full, points, false);
    scf::YieldOp::create(builder, loc);
  }
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

void NestEmitter::emitBlock() {
  PointEmitter::Scope scope(emitter);
  Points points(1);
  // Rows outside, columns inside, whatever the order of the loops.
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
    SmallVector<Value> masks(block.points);
    for (int64_t i = 0; i < block.points; ++i)
      bases.push_back(
          emitter.add(block.base, emitter.constant(i * level.elements)));
    if (block.partial)
      masks.back() = maskFor(bases.back(), level.axis);
    for (const Point &point : points)
      for (int64_t i = 0; i < block.points; ++i) {
        Point extended = point;
        extended.at[level.axis] = {bases[i], level.axis == outerLanes ? 1 : 0};
        if (masks[i])
          extended.mask = masks[i];
        next.push_back(extended);
      }
    points = std::move(next);
  }
  for (auto [id, point] : llvm::enumerate(points))
    point.id = id;
  for (const Stage &stage : nest.stages)
    emitStage(stage, points);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void NestEmitter::emitStage(const Stage &stage, const Points &points) {
  SmallVector<Axis> inner;
  std::optional<Axis> lanes = lanesOf(stage);
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (stage.isParallel(loop) && !nest.isOuter(axis) && axis != lanes)
      inner.push_back(axis);
  // Lanes run innermost.
  if (lanes && !nest.isOuter(*lanes))
    if (auto loop = stage.loopOf(*lanes); loop && stage.isParallel(*loop))
      inner.push_back(*lanes);
  emitInner(stage, inner, points);
}

void NestEmitter::emitInner(const Stage &stage, ArrayRef<Axis> axes,
                            const Points &points) {
  if (axes.empty())
    return emitPoints(stage, points);
  Axis axis = axes.front();
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
        if (mask)
          extended.mask = mask;
        next.push_back(extended);
      }
    emitInner(stage, axes.drop_front(), next);
  };
  if (axis != lanesOf(stage)) {
    loop(zero, sizes[axis], 1, [&](Value at) { bind(at, 1, false, false); });
    return;
  }
  int64_t columns = stage.isReduction() && points.size() == 1 ? 4 : 1;
  int64_t step = columns * emitter.lanes;
  Value size = sizes[axis];
  Value full;
  if (auto known = staticSize(axis))
    full = emitter.constant(*known - *known % step);
  else
    full = arith::SubIOp::create(
        builder, loc, size,
        arith::RemUIOp::create(builder, loc, size, emitter.constant(step)));
  loop(zero, full, step, [&](Value at) { bind(at, columns, false, true); });
  loop(full, size, emitter.lanes, [&](Value at) { bind(at, 1, true, true); });
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
    emitter.point = point.id;
    emitter.mask = point.mask;
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
      emitter.kept[{result.getAsOpaquePointer(), point.id}] = value;
      continue;
    }
    if (llvm::is_contained(written, place.buffer))
      continue;
    auto at = llvm::map_to_vector(place.dims,
                                  [&](unsigned dim) { return (*index)[dim]; });
    if (failed(emitter.store(value, place.buffer, at)))
      return fail();
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The values after one step, of all results at all points.
SmallVector<Value> NestEmitter::accumulate(const Stage &stage,
                                           const Points &points,
                                           ArrayRef<Value> values,
                                           bool asVectors) {
  SmallVector<Value> next;
  linalg::GenericOp op = stage.op;
  unsigned numInputs = op.getNumDpsInputs(), numResults = op->getNumResults();
  for (auto [i, point] : llvm::enumerate(points)) {
    emitter.point = point.id;
    emitter.mask = point.mask;
    SmallVector<Lanes> loops = loopsAt(stage, point);
    ArrayRef<Value> before = values.slice(i * numResults, numResults);
    auto results = emitter.body(
        op, loops,
        [&](unsigned number) -> FailureOr<Lanes> {
          if (number >= numInputs)
            return Lanes{before[number - numInputs], 0, asVectors};
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
  bool asVectors = isa<VectorType>(values.front().getType());
  if (axes.empty())
    return accumulate(stage, points, values, asVectors);
  Axis axis = axes.front();
  Value zero = emitter.constant(0), size = sizes[axis];
  auto at = [&](Value base, int64_t stride, Value mask) {
    Points next = points;
    for (Point &point : next) {
      point.at[axis] = {base, stride};
      if (mask)
        point.mask = mask;
    }
    return next;
  };
  if (!lanesReduced || axes.size() > 1)
    return loop(zero, size, 1, values,
                [&](Value base, ArrayRef<Value> carried) {
                  return reduce(stage, axes.drop_front(), at(base, 0, {}),
                                llvm::to_vector(carried), lanesReduced);
                });
  // The last axis, along the lanes. Several accumulators, since one would wait
  // for itself.
  int64_t count = points.size() * stage.op->getNumResults();
  int64_t copies = values.size() / count;
  int64_t step = copies * emitter.lanes;
  auto slice = [&](ArrayRef<Value> all, int64_t copy) {
    return all.slice(copy * count, count);
  };
  Value full;
  if (auto known = staticSize(axis))
    full = emitter.constant(*known - *known % step);
  else
    full = arith::SubIOp::create(
        builder, loc, size,
        arith::RemUIOp::create(builder, loc, size, emitter.constant(step)));
  values =
      loop(zero, full, step, values, [&](Value base, ArrayRef<Value> carried) {
        SmallVector<Value> next;
        for (int64_t copy = 0; copy < copies; ++copy) {
          Value from =
              emitter.add(base, emitter.constant(copy * emitter.lanes));
          llvm::append_range(next, accumulate(stage, at(from, 1, {}),
                                              slice(carried, copy), true));
        }
        return next;
      });
  SmallVector<Value> first(slice(values, 0));
  first = loop(full, size, emitter.lanes, first,
               [&](Value base, ArrayRef<Value> carried) {
                 Value mask = maskFor(base, axis);
                 SmallVector<Value> next =
                     accumulate(stage, at(base, 1, mask), carried, true);
                 for (auto [value, before] : llvm::zip(next, carried))
                   value = arith::SelectOp::create(builder, loc, mask, value,
                                                   before);
                 return next;
               });
  llvm::copy(first, values.begin());
  return values;
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
  SmallVector<Combiner> combiners;
  if (lanesReduced) {
    for (unsigned i = 0; i < numResults; ++i) {
      std::optional<Combiner> combiner = Combiner::match(op, i);
      if (combiner)
        combiners.push_back(*combiner);
    }
    lanesReduced = combiners.size() == numResults;
  }
  // The lanes' axis goes last.
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop) && !(lanesReduced && axis == lanes))
      axes.push_back(axis);
  if (lanesReduced)
    axes.push_back(*lanes);

  // What it starts from.
  SmallVector<Value> inits;
  for (const Point &point : points) {
    emitter.point = point.id;
    emitter.mask = point.mask;
    SmallVector<Lanes> loops = loopsAt(stage, point);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      FailureOr<Lanes> value =
          emitter.operand(op, init.getOperandNumber(), loops);
      if (failed(value) || (!asVectors && !value->isUniform()))
        return fail();
      inits.push_back(asVectors ? emitter.vector(*value) : value->value);
    }
  }
  SmallVector<Value> values;
  if (lanesReduced) {
    int64_t copies = points.size() >= 4 ? 1 : 4;
    for (int64_t i = 0; i < copies; ++i)
      for (auto [index, init] : llvm::enumerate(inits))
        values.push_back(combiners[index % numResults].identity(
            builder, loc, VectorType::get({emitter.lanes}, init.getType())));
  } else {
    values = inits;
  }
  values = reduce(stage, axes, points, values, lanesReduced);
  if (hasFailed)
    return;
  if (lanesReduced) {
    int64_t count = inits.size();
    for (int64_t i = 0; i < count; ++i) {
      const Combiner &combiner = combiners[i % numResults];
      Value sum = values[i];
      for (size_t other = i + count; other < values.size(); other += count)
        sum = combiner.combine(builder, loc, sum, values[other]);
      inits[i] = combiner.combine(builder, loc, inits[i],
                                  combiner.reduce(builder, loc, sum));
    }
    values = inits;
  }
  for (auto [i, point] : llvm::enumerate(points)) {
    emitter.point = point.id;
    emitter.mask = point.mask;
    SmallVector<Lanes> results;
    for (unsigned r = 0; r < numResults; ++r)
      results.push_back({values[i * numResults + r], 0, asVectors});
    keep(stage, point, results);
  }
}
