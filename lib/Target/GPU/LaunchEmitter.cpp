//===- LaunchEmitter.cpp - a nest as a kernel of a GPU --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/LaunchEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Threads of a block in the form `columns`, and the most columns for which it
/// is taken.
static constexpr int64_t columnThreads = 512, maxColumns = 1 << 16;
/// Threads of a block in the form `points`.
static constexpr int64_t pointsPerBlock = 256;
/// What stages of a row may keep in the memory of a block, in bytes.
static constexpr int64_t maxSharedBytes = 32 << 10;

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

LogicalResult LaunchEmitter::findSizes() {
  for (const Stage &stage : nest.stages)
    for (auto [number, axis] : llvm::enumerate(stage.axes)) {
      for (OpOperand &operand : stage.op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type)
          continue;
        AffineMap map = stage.op.getMatchingIndexingMap(&operand);
        for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
          auto at = dyn_cast<AffineDimExpr>(expr);
          if (!at || at.getPosition() != number)
            continue;
          // A static size where any operand has one.
          if (!sizes.count(axis) || !type.isDynamicDim(dim))
            sizes[axis] = emitter.size(operand.get(), dim);
        }
      }
      if (!sizes.count(axis))
        return failure();
    }
  return success();
}

SmallVector<Axis> LaunchEmitter::axesOf(const Stage &stage,
                                        bool reduced) const {
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (stage.isParallel(loop) != reduced && (reduced || !nest.isOuter(axis)))
      axes.push_back(axis);
  // Neighbours along memory are the work of neighbours.
  if (stage.lanes)
    if (auto *found = llvm::find(axes, *stage.lanes); found != axes.end())
      std::rotate(found, found + 1, axes.end());
  return axes;
}

/// The axes that stages run along memory with: those inside of rows, if there
/// are any.
static SmallVector<Axis> lanesOf(const Nest &nest) {
  SmallVector<Axis> inner, outer;
  for (const Stage &stage : nest.stages) {
    if (!stage.lanes)
      continue;
    SmallVector<Axis> &axes = nest.isOuter(*stage.lanes) ? outer : inner;
    if (!llvm::is_contained(axes, *stage.lanes))
      axes.push_back(*stage.lanes);
  }
  return inner.empty() ? outer : inner;
}

int64_t LaunchEmitter::chooseWidth(const KernelGraph &graph, const Nest &nest) {
  SmallVector<Axis> axes = lanesOf(nest);
  DenseMap<Axis, int64_t> sizes;
  int64_t narrowest = 16;
  bool isRegular = !axes.empty();
  auto see = [&](linalg::GenericOp op, Type type, AffineMap map) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isRegular)
      return;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<Axis> runs;
      expr.walk([&](AffineExpr part) {
        if (auto loop = dyn_cast<AffineDimExpr>(part))
          if (Axis axis = graph.axisOf(op, loop.getPosition());
              llvm::is_contained(axes, axis))
            runs = axis;
      });
      if (!runs)
        continue;
      // Along memory, or not at all.
      isRegular &= isa<AffineDimExpr>(expr) && dim + 1 == map.getNumResults();
      if (!tensor.isDynamicDim(dim))
        sizes[*runs] = tensor.getDimSize(dim);
      narrowest = std::min<int64_t>(
          narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
    }
  };
  for (const Stage &stage : nest.stages)
    graph.visitInlined(stage.op, [&](linalg::GenericOp op) {
      op.getBody()->walk([&](Operation *inner) {
        isRegular &= !isa<tensor::ExtractOp>(inner) && !inner->getNumRegions();
      });
      for (OpOperand &operand : op->getOpOperands())
        see(op, operand.get().getType(), op.getMatchingIndexingMap(&operand));
    });
  int64_t width = 16 / narrowest;
  for (Axis axis : axes)
    isRegular &= sizes.count(axis) && sizes[axis] % width == 0;
  return isRegular ? width : 1;
}

bool LaunchEmitter::isVector(const Stage &stage, const Point &point) const {
  return llvm::any_of(
      stage.axes, [&](Axis axis) { return point.lookup(axis).stride != 0; });
}

bool LaunchEmitter::chooseRows() {
  // Threads that a row is worth.
  int64_t wanted = 0;
  for (const Stage &stage : nest.stages) {
    SmallVector<Axis> inner = axesOf(stage, /*reduced=*/false);
    // Threads of a block read together what lies together.
    bool together = inner.empty() && stage.isReduction() && stage.lanes &&
                    !stage.isParallel(*stage.loopOf(*stage.lanes));
    if (inner.empty() && !together)
      continue;
    int64_t work = 1;
    for (Axis axis : inner.empty() ? axesOf(stage, true) : inner)
      work = llvm::SaturatingMultiply<uint64_t>(
          work, getConstantIntValue(sizes[axis]).value_or(1024));
    wanted = std::max(wanted, work / emitter.lanes);
  }
  if (wanted == 0 || (nest.stages.size() == 1 && wanted < 8))
    return false;
  threads = wanted <= 4 * subgroupSize ? subgroupSize
            : wanted <= 1024           ? 4 * subgroupSize
                                       : 8 * subgroupSize;
  return true;
}

bool LaunchEmitter::chooseColumns() {
  // One reduction, and what is done with its results point by point.
  const Stage &first = nest.stages.front();
  if (!first.isReduction() || !first.lanes || !nest.isOuter(*first.lanes))
    return false;
  for (const Stage &stage : nest.stages)
    if ((&stage != &first && stage.isReduction()) ||
        !axesOf(stage, /*reduced=*/false).empty())
      return false;
  for (unsigned i = 0; i < first.op->getNumResults(); ++i) {
    std::optional<Combiner> combiner = Combiner::match(first.op, i);
    Type type = getElementTypeOrSelf(first.op->getResultTypes()[i]);
    if (!combiner || type.isInteger(1))
      return false;
    combiners.push_back(*combiner);
  }
  // Long sums for few points, which alone would leave most of the GPU idle.
  auto known = [&](Axis axis) {
    return getConstantIntValue(sizes[axis]).value_or(ShapedType::kDynamic);
  };
  int64_t length = 1, points = 1;
  for (Axis axis : axesOf(first, /*reduced=*/true))
    length *= ShapedType::isDynamic(known(axis)) ? 1024 : known(axis);
  for (Axis axis : nest.outer)
    points *= ShapedType::isDynamic(known(axis)) ? 1 : known(axis);
  if (length < 256 || points / emitter.lanes > maxColumns)
    return false;
  column = *first.lanes;
  int64_t size = known(column);
  width = subgroupSize;
  if (!ShapedType::isDynamic(size))
    while (width > 8 &&
           width / 2 >= size / (isWide(column) ? emitter.lanes : 1))
      width /= 2;
  threads = columnThreads;
  return true;
}

Value LaunchEmitter::allocateShared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return launch.addWorkgroupAttribution(
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space), loc);
}

bool LaunchEmitter::isReadLater(OpResult result) const {
  for (linalg::GenericOp reader :
       result.getOwner()->getBlock()->getOps<linalg::GenericOp>()) {
    bool reads = llvm::is_contained(reader.getDpsInits(), Value(result)) ||
                 llvm::any_of(KernelGraph::reads(reader), [&](auto read) {
                   return read.first == Value(result);
                 });
    bool here = false;
    for (const Stage &other : nest.stages)
      graph.visitInlined(other.op,
                         [&](linalg::GenericOp op) { here |= op == reader; });
    if (reads && !here)
      return true;
  }
  return false;
}

void LaunchEmitter::chooseStorage() {
  for (const Output &output : graph.outputs)
    destinations[output.value].push_back(output.buffer);
  int64_t sharedBytes = 0;
  for (const Stage &stage : nest.stages)
    for (OpResult result : stage.op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      AffineMap map = stage.op.getIndexingMapMatchingResult(result);
      auto axisOf = [&](unsigned dim) {
        return stage.axes[map.getDimPosition(dim)];
      };
      SmallVector<unsigned> inner, all;
      for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
        all.push_back(dim);
        if (!nest.isOuter(axisOf(dim)))
          inner.push_back(dim);
      }
      auto allocate = [&](ArrayRef<unsigned> dims, bool shared) -> Value {
        SmallVector<int64_t> shape;
        SmallVector<Value> dynamic;
        for (unsigned dim : dims) {
          shape.push_back(type.getDimSize(dim));
          if (type.isDynamicDim(dim))
            dynamic.push_back(sizes[axisOf(dim)]);
        }
        auto buffer = MemRefType::get(shape, type.getElementType());
        if (!shared)
          return memref::AllocOp::create(builder, loc, buffer, dynamic,
                                         builder.getI64IntegerAttr(64));
        return allocateShared(shape, type.getElementType());
      };
      auto found = destinations.find(result);
      bool isOutput = found != destinations.end();
      if (isReadLater(result)) {
        if (!isOutput) {
          auto known = storage.find(result);
          destinations[result].push_back(known != storage.end()
                                             ? known->second.buffer
                                             : allocate(all, false));
        }
        exported[result] = destinations[result].front();
        isOutput = true;
      }
      if (inner.empty()) {
        emitter.storage[result] = {};
        continue;
      }
      if (isOutput) {
        emitter.storage[result] = {destinations[result].front(), all};
        continue;
      }
      bool isStatic = llvm::none_of(
          inner, [&](unsigned dim) { return type.isDynamicDim(dim); });
      int64_t bytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
      for (unsigned dim : inner)
        bytes *= isStatic ? type.getDimSize(dim) : 0;
      if (threads && isStatic && sharedBytes + bytes <= maxSharedBytes) {
        sharedBytes += bytes;
        emitter.storage[result] = {allocate(inner, true), inner};
      } else {
        Value buffer = allocate(all, false);
        destinations[result].push_back(buffer);
        emitter.storage[result] = {buffer, all};
      }
    }
}

//===----------------------------------------------------------------------===//
// Indices and loops
//===----------------------------------------------------------------------===//

Value LaunchEmitter::count(ArrayRef<Axis> axes) {
  Value total = emitter.constant(1);
  for (Axis axis : axes) {
    Value size = sizes[axis];
    if (isWide(axis)) // known, and so many whole vectors
      size = emitter.constant(*getConstantIntValue(size) / emitter.lanes);
    total = emitter.multiply(total, size);
  }
  return total;
}

void LaunchEmitter::divide(Value number, ArrayRef<Axis> axes, Point &point) {
  for (size_t i = axes.size(); i-- > 0;) {
    Value at = number;
    if (i > 0) {
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

SmallVector<Value>
LaunchEmitter::loop(Value from, Value to, Value step, ValueRange inits,
                    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, from, to, step, inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    builder.setInsertionPoint(op.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(op.getBody());
  PointEmitter::Scope scope(emitter);
  SmallVector<Value> next =
      body(op.getInductionVar(), ValueRange(op.getRegionIterArgs()));
  if (!inits.empty())
    scf::YieldOp::create(builder, loc, next);
  return op.getResults();
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
    // A value that all threads have is written by one.
    OpBuilder::InsertionGuard guard(builder);
    if (byOne) {
      Value first = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, thread, emitter.constant(0));
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

/// Values as they are carried by a loop, with or without lanes.
static SmallVector<Lanes> asLanes(ArrayRef<Value> values) {
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
  std::function<SmallVector<Value>(ArrayRef<Axis>, Point, ValueRange)>
      nestLoops = [&](ArrayRef<Axis> axes, Point at, ValueRange values) {
        if (axes.empty())
          return accumulate(stage, at, values);
        return loop(emitter.constant(0), sizes[axes.front()],
                    emitter.constant(1), values,
                    [&](Value index, ValueRange carried) {
                      Point inner = at;
                      inner[axes.front()] = {index};
                      return nestLoops(axes.drop_front(), inner, carried);
                    });
      };
  SmallVector<Axis> axes = axesOf(stage, /*reduced=*/true);
  return nestLoops(axes, point, *inits);
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
// Rows
//===----------------------------------------------------------------------===//

/// The value of the thread whose number differs in the bits of `mask`.
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
  // One value of each subgroup, by way of memory; a boolean takes a byte.
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
  values = loop(thread, count(axes), emitter.constant(threads), values,
                [&](Value number, ValueRange carried) {
                  Point inner = point;
                  divide(number, axes, inner);
                  return accumulate(stage, inner, carried);
                });
  for (auto [combiner, init, value] : llvm::zip(combiners, *inits, values)) {
    if (alongLanes)
      value = combiner.reduce(builder, loc, value);
    value =
        combiner.combine(builder, loc, init, combineInBlock(combiner, value));
  }
  return values;
}

void LaunchEmitter::emitShared(const Stage &stage, ArrayRef<Axis> axes,
                               const Point &point) {
  loop(thread, count(axes), emitter.constant(threads), {},
       [&](Value number, ValueRange) {
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
    // Others read what was written.
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
  // All threads meet at the barrier: those past the end do the last column.
  Value last =
      arith::SubIOp::create(builder, loc, columns, emitter.constant(1));
  Point point;
  divide(arith::MinUIOp::create(builder, loc, number, last), column, point);
  SmallVector<Axis> others(llvm::make_filter_range(
      order, [&](Axis axis) { return axis != column; }));
  divide(arith::DivUIOp::create(builder, loc, block, blocks), others, point);

  // Each split has every so many elements of the sum.
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
  partial = loop(split, count(axes), emitter.constant(splits), partial,
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
  *sums = loop(emitter.constant(0), emitter.constant(splits),
               emitter.constant(1), *sums, [&](Value at, ValueRange carried) {
                 SmallVector<Value> next;
                 for (auto [combiner, buffer, sum] :
                      llvm::zip(combiners, shared, carried)) {
                   Value part =
                       lanes == 1
                           ? Value(memref::LoadOp::create(
                                 builder, loc, buffer, ValueRange{at, place}))
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
  // A row is one point of its outer axes; a thread may not reduce along lanes
  // of several axes at once.
  if (rows && llvm::any_of(wide, [&](Axis axis) { return nest.isOuter(axis); }))
    return failure();
  Value total = count(order);
  OpBuilder::InsertionGuard guard(builder);
  if (rows) {
    launch = createLaunch(total, threads);
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
      thread = launch.getThreadIds().x;
      divide(launch.getBlockIds().x, order, point);
      for (const Stage &stage : nest.stages)
        emitRowStage(stage, point);
    } else if (columns) {
      emitColumns();
    } else {
      Value number =
          emitter.add(emitter.multiply(launch.getBlockIds().x,
                                       emitter.constant(pointsPerBlock)),
                      launch.getThreadIds().x);
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, number, total);
      auto branch = scf::IfOp::create(builder, loc, inside);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
      divide(number, order, point);
      for (const Stage &stage : nest.stages)
        emitPoint(stage, point);
    }
  }
  for (auto [result, buffer] : exported) {
    auto rank = cast<RankedTensorType>(result.getType()).getRank();
    storage[result] = {buffer, llvm::to_vector(llvm::seq<unsigned>(0, rank))};
  }
  return failure(hasFailed);
}
