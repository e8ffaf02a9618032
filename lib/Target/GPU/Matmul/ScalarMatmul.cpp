//===- ScalarMatmul.cpp - matmuls, point by point -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For single precision and for other matmuls that tensor cores do not support:
// each thread computes some rows and columns in registers. Operands may be
// computed and have any layout.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatmulEmitter.h"

#include "Target/Schedule/LongSums.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

/// Elements that a thread reads of a line at a time.
static constexpr int64_t group = 4;
static constexpr int64_t padding = ScalarTile::padding;

void MatmulEmitter::stageScalars(unsigned operand, ArrayRef<Axis> outer,
                                 Value first, int64_t count,
                                 const ScalarTile &tile, Value step,
                                 Value shared, int64_t base) {
  const Stage &stage = matmul.stage();
  AffineMap map =
      stage.op.getMatchingIndexingMap(&stage.op->getOpOperand(operand));
  // Adjacent threads read adjacent elements.
  bool alongDepth = stage.axes[map.getDimPosition(map.getNumResults() - 1)] ==
                    matmul.depth.back();
  int64_t fast = alongDepth ? tile.depth : count;
  int64_t threads = tile.threads(), total = tile.depth * count;
  Value limit = this->count(outer), depth = this->count(matmul.depth);
  for (int64_t done = 0; done < total; done += threads) {
    Value at = emitter.add(thread, number(done));
    Value slowAt = divideBy(at, fast), fastAt = remainder(at, fast);
    if (threads % fast == 0) {
      slowAt = emitter.add(divideBy(thread, fast), number(done / fast));
      fastAt = remainder(thread, fast);
    }
    Value outerAt = alongDepth ? slowAt : fastAt;
    Value depthAt = alongDepth ? fastAt : slowAt;
    Value isOn;
    if (done + threads > total)
      isOn = isLess(at, number(total));
    onlyIf(isOn, [&] {
      PointEmitter::Scope scope(emitter);
      Value across = emitter.add(first, outerAt);
      Value along = emitter.add(step, depthAt);
      // Clamp the index and discard out-of-bounds values.
      Value inside = both(isInside(across, limit, count),
                          isInside(along, depth, tile.depth));
      auto clamp = [&](Value value, Value size, int64_t multiple) -> Value {
        if (!isInside(value, size, multiple))
          return value;
        return arith::MinUIOp::create(builder, loc, value,
                                      subtract(size, number(1)));
      };
      Point point = corner.batch;
      divide(clamp(across, limit, count), outer, point);
      divide(clamp(along, depth, tile.depth), matmul.depth, point);
      FailureOr<Lanes> loaded =
          emitter.operand(stage.op, operand, loopsAt(stage, point));
      if (failed(loaded) || !loaded->isUniform())
        return fail();
      Value value = loaded->value;
      Type f32 = builder.getF32Type();
      if (value.getType() != f32)
        value = arith::ExtFOp::create(builder, loc, f32, value);
      if (inside) {
        Value zero =
            arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
        value = arith::SelectOp::create(builder, loc, inside, value, zero);
      }
      Value place = emitter.add(
          number(base),
          emitter.add(emitter.multiply(depthAt, number(count + padding)),
                      outerAt));
      memref::StoreOp::create(builder, loc, value, shared, place);
    });
  }
}

LogicalResult MatmulEmitter::emit(const ScalarTile &tile, bool manyRows) {
  int64_t rows = tile.rows(), columns = tile.columns();
  int64_t sizeA = tile.depth * (rows + padding);
  int64_t pitch = columns + padding;
  int64_t bytes = tile.sharedBytes();
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin(rows, columns, tile.threads(), bytes, manyRows)))
    return failure();
  PointEmitter::Scope scope(emitter);
  Type f32 = builder.getF32Type();
  Value shared = viewShared(bytes / 4, f32);
  // The groups of a thread are spread out, so that groups of adjacent threads
  // are contiguous.
  Value atM = emitter.multiply(divideBy(thread, tile.threadsN), number(group));
  Value atN = emitter.multiply(remainder(thread, tile.threadsN), number(group));
  auto offset = [&](int64_t i, int64_t threads) {
    return i / group * threads * group + i % group;
  };
  auto four = VectorType::get(group, f32);
  auto loadLine = [&](Value start, int64_t count, int64_t threads) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; i += group) {
      Value at = emitter.add(start, number(offset(i, threads)));
      Value some =
          vector::LoadOp::create(builder, loc, four, shared, at,
                                 /*nontemporal=*/false, llvm::MaybeAlign(16));
      for (int64_t lane = 0; lane < group; ++lane)
        values.push_back(vector::ExtractOp::create(builder, loc, some, lane));
    }
    return values;
  };
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  SmallVector<Value> sums(tile.countM * tile.countN, zero);
  auto addStep = [&](Value step, ValueRange before) {
    stageScalars(matmul.a, matmul.rows, corner.row, rows, tile, step, shared,
                 0);
    stageScalars(matmul.b, matmul.columns, corner.column, columns, tile, step,
                 shared, sizeA);
    gpu::BarrierOp::create(builder, loc);
    SmallVector<Value> after = emitter.loop(
        number(0), number(tile.depth), number(1), before,
        [&](Value k, ValueRange values) {
          Value startA =
              emitter.add(emitter.multiply(k, number(rows + padding)), atM);
          Value startB = emitter.add(
              emitter.add(emitter.multiply(k, number(columns + padding)),
                          number(sizeA)),
              atN);
          SmallVector<Value> a = loadLine(startA, tile.countM, tile.threadsM);
          SmallVector<Value> b = loadLine(startB, tile.countN, tile.threadsN);
          SmallVector<Value> next;
          for (auto [index, sum] : llvm::enumerate(values))
            next.push_back(math::FmaOp::create(builder, loc,
                                               a[index / tile.countN],
                                               b[index % tile.countN], sum));
          return next;
        });
    gpu::BarrierOp::create(builder, loc);
    return after;
  };
  // There are not enough registers to carry the rounding error of the totals.
  Value depth = this->count(matmul.depth), step = number(tile.depth);
  std::optional<int64_t> known = getConstantIntValue(depth);
  std::optional<SumBlocks> blocks = SumBlocks::choose(
      known ? std::optional<int64_t>(llvm::divideCeil(*known, tile.depth))
            : std::nullopt,
      maxProducts / tile.depth);
  if (!blocks) {
    sums = emitter.loop(number(0), depth, step, sums, addStep);
  } else {
    std::optional<Combiner> addition = Combiner{arith::AtomicRMWKind::addf};
    Totals totals(builder, loc, addition, /*areMany=*/false);
    Value length = number(blocks->steps * tile.depth);
    sums = emitter.loop(
        number(0), depth, length, sums, [&](Value from, ValueRange carried) {
          SmallVector<Value> before(carried);
          Value to = builder.createOrFold<arith::MinUIOp>(
              loc, emitter.add(from, length), depth);
          return totals.add(
              before,
              emitter.loop(from, to, step, totals.startBlock(before), addStep));
        });
  }
  for (int64_t i = 0; i < tile.countM; ++i)
    for (int64_t j = 0; j < tile.countN; j += group) {
      Value some = vector::FromElementsOp::create(
          builder, loc, four,
          ValueRange(ArrayRef<Value>(sums).slice(i * tile.countN + j, group)));
      Value row = emitter.add(atM, number(offset(i, tile.threadsM)));
      Value at =
          emitter.add(emitter.multiply(row, number(pitch)),
                      emitter.add(atN, number(offset(j, tile.threadsN))));
      vector::StoreOp::create(builder, loc, some, shared, at,
                              /*nontemporal=*/false, llvm::MaybeAlign(16));
    }
  gpu::BarrierOp::create(builder, loc);
  finish(shared, /*parts=*/1, rows, columns, pitch);
  return failure(hasFailed);
}
