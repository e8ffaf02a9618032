//===- SplitKV.cpp - split-KV attention -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"

#include "Target/Schedule/Combiner.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

FailureOr<SplitKV> AttentionEmitter::prepare(int64_t rows) {
  if (failed(findSizes()))
    return failure();
  auto allocate = [&](ArrayRef<int64_t> shape) -> Value {
    return memref::AllocOp::create(builder, loc,
                                   MemRefType::get(shape, builder.getF32Type()),
                                   ValueRange(), builder.getI64IntegerAttr(64));
  };
  SplitKV kv;
  kv.sums = allocate({rows * attention.innerSize});
  kv.maxima = allocate({rows});
  kv.totals = allocate({rows});
  return kv;
}

void AttentionEmitter::divideWork(SplitKV &kv, int64_t least) {
  if (failed(findSizes()))
    return fail();
  auto divideUp = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
  };
  auto atLeastOne = [&](Value value) {
    return builder.createOrFold<arith::MaxUIOp>(loc, value, number(1));
  };
  kv.rowBlocks = divideUp(count(nest.rows), number(kv.rows));
  Value units = emitter.multiply(kv.rowBlocks, count(attention.batch));
  Value steps = divideUp(sizes[attention.columns], number(step));
  Value most = atLeastOne(builder.createOrFold<arith::DivUIOp>(
      loc, number(kv.blocks), atLeastOne(units)));
  Value ofEach = builder.createOrFold<arith::MaxUIOp>(
      loc, divideUp(steps, most), number(least));
  kv.splits = divideUp(steps, ofEach);
  kv.length = emitter.multiply(ofEach, number(step));
}

//===----------------------------------------------------------------------===//
// Combining partial results
//===----------------------------------------------------------------------===//

LogicalResult AttentionEmitter::combine(const SplitKV &kv) {
  if (failed(findSizes()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  Value rows = count(nest.rows);
  constexpr int64_t threads = 128;
  int64_t size = attention.innerSize, lanes = emitter.lanes;
  int64_t width = std::min<int64_t>(size & -size, 4), chunks = size / width;
  int64_t slices = llvm::bit_floor<uint64_t>(threads / chunks);
  if (failed(begin(emitter.multiply(count(attention.batch), rows), threads,
                   4 * (kv.blocks + slices * size + 8))))
    return failure();
  PointEmitter::Scope scope(emitter);
  Type f32 = builder.getF32Type();
  Value weights = viewShared(kv.blocks, f32);
  Value parts = viewShared(slices * size, f32, 4 * kv.blocks);
  auto quotient = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  };
  auto rest = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  };
  // Find where the blocks that computed this row stored their results.
  Value row = rest(block, rows), batch = quotient(block, rows);
  divide(batch, attention.batch, batchPoint);
  Value behind = emitter.add(divideBy(row, kv.rows), number(1));
  Value unit = emitter.add(
      emitter.multiply(subtract(kv.rowBlocks, behind), count(attention.batch)),
      batch);
  Value first = emitter.add(
      emitter.multiply(emitter.multiply(unit, kv.splits), number(kv.rows)),
      remainder(row, kv.rows));
  auto placeOf = [&](Value split) {
    return emitter.add(first, emitter.multiply(split, number(kv.rows)));
  };

  // Issue all loads before computing anything.
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value last =
      subtract(builder.createOrFold<arith::MaxUIOp>(loc, kv.splits, number(1)),
               number(1));
  auto read = [&](Value array, Value split, Value otherwise) -> Value {
    Value at = arith::MinUIOp::create(builder, loc, split, last);
    Value value = memref::LoadOp::create(builder, loc, array, placeOf(at));
    return arith::SelectOp::create(builder, loc, isLess(split, kv.splits),
                                   value, otherwise);
  };
  SmallVector<Value> splits, maxima, totals;
  for (int64_t done = 0; done < kv.blocks; done += threads) {
    splits.push_back(emitter.add(thread, number(done)));
    maxima.push_back(read(kv.maxima, splits.back(), least()));
    totals.push_back(read(kv.totals, splits.back(), zero));
  }
  // Threads divide both the splits and the elements; excess threads duplicate
  // work.
  constexpr int64_t together = 4;
  Value own = builder.createOrFold<arith::MinUIOp>(loc, thread,
                                                   number(chunks * slices - 1));
  Value inner = emitter.multiply(remainder(own, chunks), number(width));
  Value slice = divideBy(own, chunks);
  auto splitOf = [&](Value at, int64_t i) -> Value {
    return arith::MinUIOp::create(builder, loc,
                                  emitter.add(at, number(i * slices)), last);
  };
  auto loadSums = [&](Value at) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < together; ++i)
      values.push_back(load(
          kv.sums,
          emitter.add(emitter.multiply(placeOf(splitOf(at, i)), number(size)),
                      inner),
          width));
    return values;
  };
  SmallVector<Value> carried = loadSums(slice);

  Value maximum = least();
  for (Value value : maxima)
    maximum = larger(maximum, value);
  maximum = combineAll({arith::AtomicRMWKind::maximumf}, maximum,
                       viewShared(4, f32, 4 * (kv.blocks + slices * size)));
  Value shifted = shift(maximum), total = zero;
  for (auto [split, value, part] : llvm::zip(splits, maxima, totals)) {
    Value weight = exponential(value, shifted);
    onlyIf(isLess(split, number(kv.blocks)), [&] {
      memref::StoreOp::create(builder, loc, weight, weights, split);
    });
    total = math::FmaOp::create(builder, loc, part, weight, total);
  }
  total = combineAll({arith::AtomicRMWKind::addf}, total,
                     viewShared(4, f32, 4 * (kv.blocks + slices * size + 4)));

  carried.push_back(broadcast(zero, width));
  carried = emitter.loop(
      slice, kv.splits, number(slices * together), carried,
      [&](Value at, ValueRange before) {
        SmallVector<Value> next =
            loadSums(emitter.add(at, number(slices * together)));
        Value sum = before.back();
        for (int64_t i = 0; i < together; ++i) {
          Value weight =
              memref::LoadOp::create(builder, loc, weights, splitOf(at, i));
          Value inside = isLess(emitter.add(at, number(i * slices)), kv.splits);
          weight = arith::SelectOp::create(builder, loc, inside, weight, zero);
          sum = math::FmaOp::create(builder, loc, broadcast(weight, width),
                                    before[i], sum);
        }
        next.push_back(sum);
        return next;
      });
  store(carried.back(), parts,
        emitter.add(emitter.multiply(slice, number(size)), inner));
  gpu::BarrierOp::create(builder, loc);
  emitter.loop(
      thread, number(size / lanes), number(threads), {},
      [&](Value at, ValueRange) {
        Value inner = emitter.multiply(at, number(lanes));
        Value value;
        for (int64_t i = 0; i < slices; ++i) {
          Value part = load(parts, emitter.add(number(i * size), inner), lanes);
          value = value
                      ? Value(arith::AddFOp::create(builder, loc, value, part))
                      : part;
        }
        if (lanes == 1)
          value = vector::ExtractOp::create(builder, loc, value, 0);
        finish(pointOf(row), inner, value, maximum, total);
        return SmallVector<Value>();
      });
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Choice of a strategy
//===----------------------------------------------------------------------===//

namespace {

/// Target number of blocks that keeps a large GPU busy, for small and for large
/// blocks.
constexpr int64_t smallBlocks = 264, largeBlocks = 132;
/// Maximum rows of a block that is computed point by point, and rows of a block
/// that uses tensor cores.
constexpr int64_t fewRows = 8, manyRows = 64;

/// A strategy to compute blocks of `rows` rows; the columns are split among at
/// most `blocks` blocks of at least `leastSteps` steps each.
struct Strategy {
  int64_t rows, blocks, leastSteps;
  std::function<LogicalResult(AttentionEmitter &, const SplitKV &)> emit;
};

} // namespace

LogicalResult relax::emitAttention(const KernelGraph &graph, const Nest &nest,
                                   OpBuilder &builder, Location loc,
                                   DenseMap<Value, Storage> &storage,
                                   const Chip &chip, bool asVectors) {
  std::optional<Attention> attention = Attention::match(graph, nest);
  if (!attention || chip.subgroupSize != 32)
    return failure();
  // Elements of a key per load, provided that lines consist of whole vectors.
  int64_t most = 128 / attention->key.elementType().getIntOrFloatBitWidth();
  std::optional<int64_t> width = attention->key.width();
  bool isUnknown = !width;
  if (isUnknown)
    width = most;
  if (attention->alongDepth())
    while (attention->depthSize % *width)
      *width /= 2;

  int64_t known = 1;
  for (Axis axis : nest.rows)
    for (const Stage &stage : nest.stages)
      if (auto loop = stage.loopOf(axis)) {
        int64_t size = stage.op.getStaticLoopRanges()[*loop];
        if (ShapedType::isDynamic(size))
          continue;
        known *= size;
        break;
      }
  auto byPoint = [](int64_t rows, int64_t width) {
    return Strategy{rows, smallBlocks, 1,
                    [=](AttentionEmitter &emitter, const SplitKV &kv) {
                      return emitter.emitByPoint(kv, width);
                    }};
  };
  SmallVector<Strategy> strategies;
  bool usesTensorCores = (chip.hasTensorCores || chip.hasMatrices) &&
                         *width == most &&
                         AttentionEmitter::fitsTensorCores(*attention);
  bool hasMatrices = chip.hasMatrices;
  if (known > 0 && known <= fewRows)
    strategies.push_back(byPoint(known, *width));
  if (usesTensorCores)
    strategies.push_back({manyRows, largeBlocks, 2,
                          [=](AttentionEmitter &emitter, const SplitKV &kv) {
                            return hasMatrices ? emitter.emitByMatrices(kv)
                                               : emitter.emitByTensorCores(kv);
                          }});
  else if (known != fewRows)
    strategies.push_back(byPoint(fewRows, *width));
  for (int64_t each : {*width, int64_t(1)})
    for (int64_t rows : {known, fewRows})
      if (rows <= fewRows &&
          !AttentionEmitter::fitsPoints(*attention, rows, each))
        return failure();

  int64_t lanes =
      asVectors ? AttentionEmitter::chooseWidth(graph, *attention) : 1;
  AttentionEmitter outside(graph, *attention, builder, loc, storage, lanes);
  FailureOr<SplitKV> kv = outside.prepare(
      std::max(smallBlocks * fewRows,
               usesTensorCores ? largeBlocks * manyRows : int64_t(0)));
  if (failed(kv))
    return failure();
  auto emitStrategy = [&](const Strategy &strategy) -> LogicalResult {
    SplitKV own = *kv;
    own.rows = strategy.rows;
    own.blocks = strategy.blocks;
    AttentionEmitter host(graph, *attention, builder, loc, storage, lanes);
    host.divideWork(own, strategy.leastSteps);
    AttentionEmitter kernel(graph, *attention, builder, loc, storage, lanes);
    if (failed(strategy.emit(kernel, own)))
      return failure();
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value isShared = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, own.splits, one);
    auto branch = scf::IfOp::create(builder, loc, isShared);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    return AttentionEmitter(graph, *attention, builder, loc, storage, lanes)
        .combine(own);
  };
  /// Emits two strategies; `condition` selects one on the host at run time.
  auto choose = [&](Value condition, function_ref<LogicalResult()> first,
                    function_ref<LogicalResult()> second) -> LogicalResult {
    auto branch = scf::IfOp::create(builder, loc, condition,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    if (failed(first()))
      return failure();
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    return second();
  };
  auto emitStrategies = [&]() -> LogicalResult {
    if (strategies.size() == 1)
      return emitStrategy(strategies.front());
    Value limit =
        arith::ConstantIndexOp::create(builder, loc, strategies.front().rows);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       outside.countRows(), limit);
    return choose(
        fits, [&] { return emitStrategy(strategies[0]); },
        [&] { return emitStrategy(strategies[1]); });
  };
  if (!isUnknown)
    return emitStrategies();
  PointEmitter sizes(builder, loc, 1);
  const Stored &key = attention->key;
  Value line = sizes.size(key.buffer, key.axes.size() - 1);
  Value rest =
      arith::RemUIOp::create(builder, loc, line, sizes.constant(*width));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        rest, sizes.constant(0));
  return choose(isWhole, emitStrategies,
                [&] { return emitStrategy(byPoint(fewRows, 1)); });
}
