//===- AttentionEmitter.cpp - emits attention for GPUs --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

int64_t AttentionEmitter::chooseWidth(const KernelGraph &graph,
                                      const Attention &attention) {
  WidthFinder results(graph, attention.inner), queries(graph, attention.depth);
  for (const Stage *stage : attention.ends)
    results.see(stage->op);
  linalg::GenericOp products = attention.products->op;
  OpOperand &query = products->getOpOperand(attention.query);
  queries.see(products, query);
  if (linalg::GenericOp source = KernelGraph::producer(query.get()))
    queries.see(source);
  return std::min(results.width(), queries.width());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult AttentionEmitter::begin(Value blocks, int64_t blockThreads,
                                      int64_t sharedBytes) {
  emitter.storage = storage;
  threads = blockThreads;
  launchTiles(blocks, threads, sharedBytes);
  block = launch.getBlockIds().x;
  for (const Output &output : graph.outputs)
    destinations[output.value].push_back(output.buffer);
  // Scalars known for a row stay in registers.
  for (linalg::GenericOp op : {attention.products->op, attention.mixture->op,
                               attention.total, attention.softmax.maximum})
    emitter.storage[op->getResult(0)] = {};
  for (const Stage *stage : attention.ends)
    for (Value result : stage->op->getResults())
      emitter.storage[result] = {};
  return success();
}

void AttentionEmitter::locate(const SplitKV &kv) {
  auto quotient = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  };
  auto rest = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  };
  Value unit = quotient(block, kv.splits);
  split = rest(block, kv.splits);
  Value batches = count(attention.batch);
  divide(rest(unit, batches), attention.batch, batchPoint);
  // With a causal mask, the last rows see the most columns, so start with them.
  Value behind = emitter.add(quotient(unit, batches), number(1));
  rowBegin = emitter.multiply(subtract(kv.rowBlocks, behind), number(kv.rows));
  columnBegin = emitter.multiply(split, kv.length);
  columnEnd = builder.createOrFold<arith::MinUIOp>(
      loc, emitter.add(columnBegin, kv.length), sizes[attention.columns]);
}

AttentionEmitter::Place AttentionEmitter::open(const Stored &region) {
  Place place;
  place.data = flatten(region.buffer);
  place.origin = number(0);
  Value stride = number(1);
  for (unsigned dim = region.axes.size(); dim-- > 0;) {
    Value at =
        getValueOrCreateConstantIndexOp(builder, loc, region.starts[dim]);
    if (std::optional<Axis> axis = region.axes[dim]) {
      place.strides[*axis] = stride;
      if (Value index = batchPoint.lookup(*axis).value)
        at = emitter.add(at, index);
    }
    place.origin = emitter.add(place.origin, emitter.multiply(at, stride));
    if (dim)
      stride = emitter.multiply(stride, emitter.size(region.buffer, dim));
  }
  return place;
}

LaunchEmitter::Point AttentionEmitter::pointOf(Value row) {
  Point point = batchPoint;
  divide(row, nest.rows, point);
  return point;
}

Value AttentionEmitter::clampRow(Value row) {
  return builder.createOrFold<arith::MinUIOp>(
      loc, emitter.add(rowBegin, row), subtract(count(nest.rows), number(1)));
}

Value AttentionEmitter::endOf(const Point &row) {
  if (!attention.hidden)
    return {};
  linalg::GenericOp op = attention.hidden->op;
  auto loops = llvm::map_to_vector(
      llvm::seq<unsigned>(0, op.getNumLoops()),
      [&](unsigned loop) { return row.lookup(graph.axisOf(op, loop)); });
  return attention.hidden->countVisible(
      builder, loc, [&](unsigned loop) { return loops[loop].value; },
      [&](BlockArgument argument) -> Value {
        unsigned number = argument.getArgNumber();
        AffineMap map = op.getIndexingMapsArray()[number];
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          if (map.isFunctionOfDim(loop) && !loops[loop].value)
            return {};
        auto element = emitter.operand(op, number, loops);
        return succeeded(element) ? element->value : Value();
      });
}

void AttentionEmitter::limitColumns(Value visible) {
  if (!visible)
    return;
  visible = builder.createOrFold<arith::MaxSIOp>(loc, visible, number(0));
  columnEnd = builder.createOrFold<arith::MinSIOp>(loc, columnEnd, visible);
}

void AttentionEmitter::limitColumnsOfBlock(int64_t rows, int64_t sharedAt) {
  Value end = endOf(pointOf(clampRow(remainder(thread, rows))));
  if (!end)
    return;
  Type i32 = builder.getI32Type();
  end = arith::MinSIOp::create(builder, loc, end, sizes[attention.columns]);
  end = arith::IndexCastOp::create(builder, loc, i32, end);
  end = combineAll({arith::AtomicRMWKind::maxs}, end,
                   viewShared(4, i32, sharedAt));
  limitColumns(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), end));
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void AttentionEmitter::readAhead(const Point &row) {
  graph.visitInlined(attention.softmax.maximum, [&](linalg::GenericOp op) {
    if (op.getNumReductionLoops())
      return;
    auto loops = llvm::map_to_vector(
        llvm::seq<unsigned>(0, op.getNumLoops()),
        [&](unsigned loop) { return row.lookup(graph.axisOf(op, loop)); });
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      bool isKnown = true;
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        isKnown &= loops[loop].value || !map.isFunctionOfDim(loop);
      if (isKnown && op.payloadUsesValueFromOperand(input))
        (void)emitter.operand(op, input->getOperandNumber(), loops);
    }
  });
}

Lanes AttentionEmitter::query(const Point &row, Lanes depth) {
  Point point = row;
  point[attention.depth] = depth;
  const Stage &products = *attention.products;
  auto value =
      emitter.operand(products.op, attention.query, loopsAt(products, point));
  if (succeeded(value))
    return *value;
  fail();
  return {};
}

Value AttentionEmitter::score(Value product, const Point &row, Value column) {
  PointEmitter::Scope scope(emitter);
  Value result = attention.products->op->getResult(0);
  emitter.kept[{result.getAsOpaquePointer(), 0}] = {product};
  Point point = row;
  point[attention.columns] = {column};
  linalg::GenericOp op = attention.softmax.scores;
  auto loops = llvm::map_to_vector(
      llvm::seq<unsigned>(0, op.getNumLoops()),
      [&](unsigned loop) { return point.lookup(graph.axisOf(op, loop)); });
  auto index =
      emitter.apply(op.getIndexingMapMatchingResult(op->getResult(0)), loops);
  auto value = failed(index) ? FailureOr<Lanes>(failure())
                             : emitter.element(op->getResult(0), *index);
  if (failed(value) || !value->isUniform()) {
    fail();
    return product;
  }
  // Columns beyond the end have a score of minus infinity.
  Value none = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  return arith::SelectOp::create(builder, loc, isLess(column, columnEnd),
                                 value->value, none);
}

Value AttentionEmitter::least() {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(attention.softmax.least.convertToDouble()));
}

Value AttentionEmitter::larger(Value lhs, Value rhs) {
  return arith::MaximumFOp::create(builder, loc, lhs, rhs);
}

/// The value to subtract from scores. A maximum of minus infinity means that no
/// column was visible yet.
Value AttentionEmitter::shift(Value maximum) {
  if (attention.softmax.least.isFinite())
    return maximum;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       maximum, least());
  return arith::SelectOp::create(builder, loc, isNone, zero, maximum);
}

/// exp(value - shift), via the hardware's exp2.
Value AttentionEmitter::exponential(Value value, Value shift) {
  Value difference = arith::SubFOp::create(builder, loc, value, shift);
  Value factor = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(1.44269504f));
  Value scaled = arith::MulFOp::create(builder, loc, difference, factor);
  return math::Exp2Op::create(builder, loc, scaled, arith::FastMathFlags::afn);
}

Value AttentionEmitter::combineAll(const Combiner &combiner, Value value,
                                   Value shared) {
  for (int64_t mask = subgroupSize / 2; mask > 0; mask /= 2)
    value = combiner.combine(builder, loc, value, exchange(value, mask));
  // All lanes write the same value.
  store(value, shared, divideBy(thread, subgroupSize));
  gpu::BarrierOp::create(builder, loc);
  for (int64_t i = 0; i < threads / subgroupSize; ++i) {
    Value part = memref::LoadOp::create(builder, loc, shared, number(i));
    value = i ? combiner.combine(builder, loc, value, part) : part;
  }
  return value;
}

Value AttentionEmitter::broadcast(Value value, int64_t width) {
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(width, value.getType()), value);
}

Value AttentionEmitter::load(Value array, Value at, int64_t width) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  return vector::LoadOp::create(
      builder, loc, VectorType::get(width, element), array, at,
      /*nontemporal=*/false, llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
}

void AttentionEmitter::store(Value value, Value array, Value at) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    memref::StoreOp::create(builder, loc, value, array, at);
    return;
  }
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  vector::StoreOp::create(builder, loc, value, array, at,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void AttentionEmitter::finish(const Point &row, Value inner, Value sum,
                              Value maximum, Value total) {
  PointEmitter::Scope scope(emitter);
  Point point = row;
  bool isVector = emitter.lanes > 1;
  point[attention.inner] = {inner, isVector ? 1 : 0};
  auto keepValue = [&](linalg::GenericOp op, Lanes value) {
    emitter.kept[{op->getResult(0).getAsOpaquePointer(), 0}] = value;
  };
  keepValue(attention.mixture->op, {sum, 0, isVector});
  keepValue(attention.softmax.maximum, {maximum});
  keepValue(attention.total, {total});
  for (const Stage *stage : attention.ends)
    emitPoint(*stage, point);
}

void AttentionEmitter::handOn(
    const SplitKV &kv, function_ref<Value(Value, Value)> sum,
    function_ref<std::pair<Value, Value>(Value)> state, int64_t from,
    int64_t size) {
  int64_t lanes = emitter.lanes;
  int64_t perRow = (size ? size : attention.innerSize) / lanes;
  Value isAlone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        kv.splits, number(1));
  emitter.loop(
      thread, number(kv.rows * perRow), number(threads), {},
      [&](Value at, ValueRange) {
        Value row = divideBy(at, perRow);
        Value inner = emitter.multiply(remainder(at, perRow), number(lanes));
        inner = emitter.add(inner, number(from));
        Value rowAt = emitter.add(rowBegin, row);
        onlyIf(isLess(rowAt, count(nest.rows)), [&] {
          Value value = sum(row, inner);
          if (lanes == 1)
            value = vector::ExtractOp::create(builder, loc, value, 0);
          auto [maximum, total] = state(row);
          auto branch = scf::IfOp::create(builder, loc, isAlone,
                                          /*withElseRegion=*/true);
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(branch.thenBlock()->getTerminator());
          finish(pointOf(rowAt), inner, value, maximum, total);
          builder.setInsertionPoint(branch.elseBlock()->getTerminator());
          PointEmitter::Scope scope(emitter);
          Value place =
              emitter.add(emitter.multiply(block, number(kv.rows)), row);
          store(
              value, kv.sums,
              emitter.add(emitter.multiply(place, number(attention.innerSize)),
                          inner));
          // All lanes of a row write the same values.
          store(maximum, kv.maxima, place);
          store(total, kv.totals, place);
        });
        return SmallVector<Value>();
      });
}
