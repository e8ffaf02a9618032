//===- AttentionByTensorCores.cpp - attention with many rows --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A subgroup computes 16 rows and keeps their queries, scores and sums in
// registers, in the layout of the tensor cores. The result of one mma, scores
// of 8 columns, is half an operand of the next. Weights are rounded to the type
// of the values.
//
// The keys and values of a step are copied to shared memory during the products
// of the previous step.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"

#include "Target/Schedule/Combiner.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::relax;

bool AttentionEmitter::fitsTensorCores(const Attention &attention) {
  Type element = attention.key.elementType();
  linalg::GenericOp products = attention.products->op;
  Type ofQueries =
      getElementTypeOrSelf(products->getOperand(attention.query).getType());
  auto fits = [](int64_t size) { return size % 16 == 0 && size <= 128; };
  return (element.isBF16() || element.isF16()) &&
         attention.value.elementType() == element && ofQueries == element &&
         fits(attention.depthSize) && fits(attention.innerSize) &&
         attention.value.width() == chunk;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void AttentionEmitter::stageQueries(Value shared, int64_t base) {
  int64_t lanes = emitter.lanes, depth = attention.depthSize;
  int64_t perRow = depth / lanes, together = 8;
  int64_t total = blockRows * perRow;
  // Keep several loads in flight.
  emitter.loop(
      number(0), number(total), number(blockThreads * together), {},
      [&](Value first, ValueRange) {
        SmallVector<std::pair<Value, Value>> staged;
        for (int64_t i = 0;
             i <
             std::min<int64_t>(together, llvm::divideCeil(total, blockThreads));
             ++i) {
          Value at =
              emitter.add(emitter.add(first, thread), number(i * blockThreads));
          if (total % (blockThreads * together))
            at = arith::MinUIOp::create(builder, loc, at, number(total - 1));
          Value row = divideBy(at, perRow);
          Value element =
              emitter.multiply(remainder(at, perRow), number(lanes));
          Lanes value =
              query(pointOf(clampRow(row)), {element, lanes > 1 ? 1 : 0});
          if (hasFailed)
            break;
          Value turned = turn(row, divideBy(element, chunk), depth / chunk);
          Value place = emitter.add(
              emitter.add(number(base), emitter.multiply(row, number(depth))),
              emitter.add(emitter.multiply(turned, number(chunk)),
                          remainder(element, chunk)));
          staged.emplace_back(lanes > 1 ? emitter.vector(value) : value.value,
                              place);
        }
        for (auto [value, place] : staged)
          store(value, shared, place);
        return SmallVector<Value>();
      });
}

void AttentionEmitter::copyStep(const Place &from, const Stored &region,
                                Value shared, Value base, Value at) {
  bool ofColumns = region.along() != attention.columns;
  Axis along = region.along();
  int64_t length = !ofColumns                 ? step
                   : along == attention.depth ? attention.depthSize
                                              : attention.innerSize;
  int64_t lines = ofColumns ? step : attention.depthSize;
  int64_t perLine = length / chunk;
  Value stride =
      from.strides.lookup(ofColumns ? attention.columns : attention.depth);
  for (int64_t done = 0; done < lines * perLine; done += blockThreads) {
    Value number = emitter.add(thread, emitter.constant(done));
    Value line = divideBy(number, perLine), part = remainder(number, perLine);
    if (blockThreads % perLine == 0) {
      line = emitter.add(divideBy(thread, perLine),
                         emitter.constant(done / perLine));
      part = remainder(thread, perLine);
    }
    Value element = emitter.multiply(part, emitter.constant(chunk));
    Value column = emitter.add(at, ofColumns ? line : element);
    Value lineAt = ofColumns ? column : line;
    Value inLine = ofColumns ? element : column;
    Value source = emitter.add(
        emitter.add(from.origin, emitter.multiply(lineAt, stride)), inLine);
    Value turned = turn(line, part, perLine);
    Value to = emitter.add(
        emitter.add(base, emitter.multiply(line, emitter.constant(length))),
        emitter.multiply(turned, emitter.constant(chunk)));
    // Pad with zeros beyond the end.
    Value elements =
        arith::SelectOp::create(builder, loc, isLess(column, columnEnd),
                                emitter.constant(chunk), emitter.constant(0));
    nvgpu::DeviceAsyncCopyOp::create(
        builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
        shared, to, from.data, source, builder.getIndexAttr(chunk), elements,
        builder.getUnitAttr());
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The products of 16 rows with the keys of a step: four results per thread for
/// every 8 columns.
SmallVector<Value>
AttentionEmitter::multiplyKeys(ArrayRef<SmallVector<Value>> queries,
                               Value shared, Value base) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  Value lane = remainder(thread, 32), lane8 = remainder(lane, 8);
  Value half = divideBy(lane, 16), quarter = remainder(divideBy(lane, 8), 2);
  int64_t depth = attention.depthSize;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  SmallVector<Value> sums(step / 8 * 4, zero);
  for (auto [k, query] : llvm::enumerate(queries))
    for (int64_t j = 0; j < step / 8; j += 2) {
      Value line, turned;
      int64_t length = attention.alongDepth() ? depth : step;
      if (attention.alongDepth()) {
        line =
            emitter.add(number(j * 8),
                        emitter.add(lane8, emitter.multiply(half, number(8))));
        turned = turn(line, emitter.add(number(2 * k), quarter), depth / chunk);
      } else {
        line = emitter.add(
            emitter.multiply(emitter.add(number(2 * k), quarter), number(8)),
            lane8);
        turned = turn(line, emitter.add(number(j), half), step / chunk);
      }
      Value at =
          emitter.add(emitter.add(base, emitter.multiply(line, number(length))),
                      emitter.multiply(turned, number(chunk)));
      SmallVector<Value> words =
          loadMatrices(shared, at, /*transpose=*/!attention.alongDepth());
      for (int64_t next = 0; next < 2; ++next) {
        auto *sum = sums.begin() + (j + next) * 4;
        llvm::copy(multiplyMatrices(query,
                                    ArrayRef<Value>(words).slice(2 * next, 2),
                                    ArrayRef<Value>(sum, 4), element),
                   sum);
      }
    }
  return sums;
}

/// Adds the values of a step, scaled by the weights, to the sums.
SmallVector<Value> AttentionEmitter::mix(ValueRange weights, Value shared,
                                         Value base, ValueRange before) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  Value lane = remainder(thread, 32), lane8 = remainder(lane, 8);
  Value half = divideBy(lane, 16), quarter = remainder(divideBy(lane, 8), 2);
  int64_t inner = attention.innerSize;
  SmallVector<Value> sums = llvm::to_vector(before);
  for (int64_t k = 0; k < step / 16; ++k)
    for (int64_t j = 0; j < inner / 8; j += 2) {
      Value line = emitter.add(
          emitter.multiply(emitter.add(number(2 * k), quarter), number(8)),
          lane8);
      Value turned = turn(line, emitter.add(number(j), half), inner / chunk);
      Value at =
          emitter.add(emitter.add(base, emitter.multiply(line, number(inner))),
                      emitter.multiply(turned, number(chunk)));
      SmallVector<Value> words = loadMatrices(shared, at, /*transpose=*/true);
      for (int64_t next = 0; next < 2; ++next) {
        auto *sum = sums.begin() + (j + next) * 4;
        llvm::copy(multiplyMatrices(weights.slice(4 * k, 4),
                                    ArrayRef<Value>(words).slice(2 * next, 2),
                                    ArrayRef<Value>(sum, 4), element),
                   sum);
      }
    }
  return sums;
}

/// Packs two weights into an operand register of the tensor cores.
Value AttentionEmitter::pack(Value low, Value high) {
  Type element = attention.value.elementType();
  Value pair = vector::FromElementsOp::create(
      builder, loc, VectorType::get(2, builder.getF32Type()),
      ValueRange{low, high});
  pair =
      arith::TruncFOp::create(builder, loc, VectorType::get(2, element), pair);
  if (!element.isBF16())
    return pair;
  pair = vector::BitCastOp::create(
      builder, loc, VectorType::get(1, builder.getI32Type()), pair);
  return vector::ExtractOp::create(builder, loc, pair, 0);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Each thread of a group of four has the same two rows and different columns.
struct AttentionEmitter::Fragment {
  Value places[2], column;
  Point rows[2];
};

/// Loads the queries of the warp, and the operands of the thread's rows.
SmallVector<SmallVector<Value>> AttentionEmitter::loadQueries(Value shared,
                                                              Fragment &own) {
  int64_t depth = attention.depthSize;
  Value lane = remainder(thread, 32), warp = divideBy(thread, 32);
  Value warpRow = emitter.multiply(warp, number(warpRows));
  SmallVector<SmallVector<Value>> queries;
  Value line = emitter.add(warpRow, remainder(lane, 16));
  for (int64_t k = 0; k < depth / 16; ++k) {
    Value turned = turn(line, emitter.add(number(2 * k), divideBy(lane, 16)),
                        depth / chunk);
    queries.push_back(
        loadMatrices(shared,
                     emitter.add(emitter.multiply(line, number(depth)),
                                 emitter.multiply(turned, number(chunk))),
                     /*transpose=*/false));
  }
  own.column = emitter.multiply(remainder(lane, 4), number(2));
  for (int64_t i : {0, 1}) {
    own.places[i] =
        emitter.add(emitter.add(warpRow, divideBy(lane, 4)), number(8 * i));
    own.rows[i] = pointOf(clampRow(own.places[i]));
    readAhead(own.rows[i]);
  }
  return queries;
}

/// Combines a value of the four threads that share rows.
Value AttentionEmitter::combineQuad(Value value,
                                    function_ref<Value(Value, Value)> with) {
  for (int64_t mask : {2, 1})
    value = with(value, exchange(value, mask));
  return value;
}

/// Turns the products of a step into weights. `before` has the maxima of both
/// rows, then the totals; `state` gets those after the step, and `factors` what
/// rescales the sums of before.
void AttentionEmitter::weigh(const Fragment &own, Value at,
                             MutableArrayRef<Value> scores, ValueRange before,
                             SmallVectorImpl<Value> &state,
                             SmallVectorImpl<Value> &factors) {
  state.resize(4);
  factors.resize(2);
  for (auto [place, value] : llvm::enumerate(scores)) {
    Value columnAt = emitter.add(emitter.add(at, own.column),
                                 number(place / 4 * 8 + place % 2));
    value = score(value, own.rows[place / 2 % 2], columnAt);
  }
  for (int64_t row : {0, 1}) {
    Value most;
    for (int64_t i = 2 * row; i < step / 2; i += 4)
      for (int64_t part : {0, 1})
        most = most ? larger(most, scores[i + part]) : scores[i + part];
    most = combineQuad(most,
                       [&](Value lhs, Value rhs) { return larger(lhs, rhs); });
    most = larger(before[row], most);
    Value shifted = shift(most);
    factors[row] = exponential(before[row], shifted);
    state[row] = most;
    Value total =
        arith::MulFOp::create(builder, loc, before[2 + row], factors[row]);
    for (int64_t i = 2 * row; i < step / 2; i += 4)
      for (int64_t part : {0, 1}) {
        Value &weight = scores[i + part];
        weight = exponential(weight, shifted);
        total = arith::AddFOp::create(builder, loc, total, weight);
      }
    state[2 + row] = total;
  }
}

/// Writes the results of the block, row by row through shared memory.
/// `carried`: the sums, then the maxima and the totals of both rows.
void AttentionEmitter::handOnFragments(const SplitKV &kv, const Fragment &own,
                                       ValueRange carried) {
  int64_t pitch = attention.innerSize + linePadding;
  int64_t numSums = attention.innerSize / 8 * 4;
  Type f32 = builder.getF32Type();
  Value stored = viewShared(blockRows * pitch, f32);
  Value states = viewShared(2 * blockRows, f32, 4 * blockRows * pitch);
  for (int64_t row : {0, 1}) {
    for (int64_t i = 2 * row; i < numSums; i += 4) {
      Value pair = vector::FromElementsOp::create(
          builder, loc, VectorType::get(2, f32),
          ValueRange{carried[i], carried[i + 1]});
      store(pair, stored,
            emitter.add(emitter.multiply(own.places[row], number(pitch)),
                        emitter.add(own.column, number(i / 4 * 8))));
    }
    Value total =
        combineQuad(carried[numSums + 2 + row], [&](Value lhs, Value rhs) {
          return arith::AddFOp::create(builder, loc, lhs, rhs);
        });
    store(carried[numSums + row], states, own.places[row]);
    store(total, states, emitter.add(own.places[row], number(blockRows)));
  }
  gpu::BarrierOp::create(builder, loc);
  handOn(
      kv,
      [&](Value row, Value inner) {
        return load(stored,
                    emitter.add(emitter.multiply(row, number(pitch)), inner),
                    emitter.lanes);
      },
      [&](Value row) {
        Value maximum = memref::LoadOp::create(builder, loc, states, row);
        Value total = memref::LoadOp::create(
            builder, loc, states, emitter.add(row, number(blockRows)));
        return std::pair(maximum, total);
      });
}

LogicalResult AttentionEmitter::emitByTensorCores(const SplitKV &kv) {
  if (failed(findSizes()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  int64_t depth = attention.depthSize, inner = attention.innerSize;
  int64_t queriesSize = blockRows * depth, stageSize = step * (depth + inner);
  int64_t copied = queriesSize + 2 * stageSize;
  int64_t bytes =
      std::max(2 * copied, 4 * blockRows * (inner + linePadding + 2));
  Value blocks = emitter.multiply(
      emitter.multiply(kv.rowBlocks, count(attention.batch)), kv.splits);
  if (failed(begin(blocks, blockThreads, bytes + 16)))
    return failure();
  PointEmitter::Scope scope(emitter);
  locate(kv);
  limitColumnsOfBlock(blockRows, bytes);
  Value shared = viewShared(copied, attention.key.elementType());
  Place keysAt = open(attention.key), valuesAt = open(attention.value);
  auto copyAll = [&](Value base, Value at) {
    copyStep(keysAt, attention.key, shared, base, at);
    copyStep(valuesAt, attention.value, shared,
             emitter.add(base, number(step * depth)), at);
  };
  auto endGroup = [&] { NVVM::CpAsyncCommitGroupOp::create(builder, loc); };
  copyAll(number(queriesSize), columnBegin);
  endGroup();
  stageQueries(shared, 0);
  gpu::BarrierOp::create(builder, loc);

  Fragment own;
  SmallVector<SmallVector<Value>> queries = loadQueries(shared, own);

  // Loop-carried: sums, maxima and totals of both rows, and the offset of this
  // step's copies.
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  int64_t numSums = inner / 8 * 4;
  SmallVector<Value> carried(numSums, zero);
  carried.append({least(), least(), zero, zero, number(queriesSize)});
  carried = emitter.loop(
      columnBegin, columnEnd, number(step), carried,
      [&](Value at, ValueRange before) {
        Value base = before[numSums + 4], next = emitter.add(at, number(step));
        Value other = subtract(number(2 * queriesSize + stageSize), base);
        onlyIf(isLess(next, columnEnd), [&] { copyAll(other, next); });
        endGroup();
        NVVM::CpAsyncWaitGroupOp::create(builder, loc, 1);
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> scores = multiplyKeys(queries, shared, base);
        SmallVector<Value> state, factors;
        weigh(own, at, scores, before.slice(numSums, 4), state, factors);
        SmallVector<Value> weights, sums;
        for (int64_t i = 0; i < step / 2; i += 2)
          weights.push_back(pack(scores[i], scores[i + 1]));
        for (int64_t i = 0; i < numSums; ++i)
          sums.push_back(arith::MulFOp::create(builder, loc, before[i],
                                               factors[i / 2 % 2]));
        SmallVector<Value> after =
            mix(weights, shared, emitter.add(base, number(step * depth)), sums);
        // The next copies overwrite this step's data.
        gpu::BarrierOp::create(builder, loc);
        llvm::append_range(after, state);
        after.push_back(other);
        return after;
      });

  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  gpu::BarrierOp::create(builder, loc);
  handOnFragments(kv, own, carried);
  return failure(hasFailed);
}
