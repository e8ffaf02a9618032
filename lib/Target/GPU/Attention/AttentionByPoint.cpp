//===- AttentionByPoint.cpp - attention with few rows ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and values are read once for all rows of a block. Work is divided among
// the threads of a block as follows:
//
//   keys    a slice of the depth; partial products are added in shared memory
//   scores  a subgroup for each row, which gets maximum and sum by shuffles
//   values  a slice of the columns; partial sums are added at the end
//
// The next keys and values are loaded while scores are computed. If there are
// more threads than work, some threads duplicate work.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr int64_t subgroups = 4;

struct AttentionEmitter::Division {
  Division(const Attention &attention, int64_t rows, int64_t keyWidth)
      : rows(rows), paddedRows(llvm::bit_ceil<uint64_t>(rows)),
        keyWidth(keyWidth), depth(attention.depthSize),
        inner(attention.innerSize) {
    auto powerIn = [](int64_t size) { return size & -size; };
    if (attention.alongDepth()) {
      keySlices = std::min<int64_t>(powerIn(depth / keyWidth), 16);
      keyGroups = std::min<int64_t>(blockThreads / keySlices, step);
      depthSteps = depth / keyWidth / keySlices;
      columnSteps = step / keyGroups;
    } else {
      keyGroups = step / keyWidth;
      keySlices = std::min(blockThreads / keyGroups, powerIn(depth));
      depthSteps = depth / keySlices;
    }
    Stored value = attention.value;
    valueWidth = std::min(*value.width(), powerIn(inner));
    chunks = inner / valueWidth;
    valueSlices = std::min<int64_t>(
        llvm::bit_floor<uint64_t>(blockThreads / chunks), step);
  }

  int64_t valueSteps() const { return step / valueSlices; }
  int64_t rowSteps() const { return llvm::divideCeil(rows, subgroups); }
  int64_t keys() const { return depthSteps * columnSteps; }
  /// Sizes in shared memory, in elements.
  int64_t queries() const { return llvm::alignTo(depth * paddedRows, 4); }
  int64_t products() const {
    return std::max(keySlices * rows * step, valueSlices * rows * inner);
  }
  int64_t weights() const { return step * paddedRows; }
  int64_t factors() const { return llvm::alignTo(paddedRows, 4); }

  int64_t rows, paddedRows;
  /// Elements of a key per load; threads along the depth and along the columns;
  /// loads per thread in each direction.
  int64_t keyWidth, keySlices = 1, keyGroups = 1;
  int64_t depthSteps = 1, columnSteps = 1;
  /// The same for values, which are divided into chunks.
  int64_t valueWidth = 1, valueSlices = 1, chunks = 1;
  int64_t depth, inner;
};

bool AttentionEmitter::fitsPoints(const Attention &attention, int64_t rows,
                                  int64_t width) {
  std::optional<int64_t> ofValues = attention.value.width();
  if (!ofValues || attention.innerSize > blockThreads * *ofValues)
    return false;
  int64_t least =
      std::min(*ofValues, attention.innerSize & -attention.innerSize);
  if (attention.innerSize / least > blockThreads)
    return false;
  Division by(attention, rows, width);
  return by.keys() <= 64 && by.valueSteps() <= 64 && by.depth <= 512 &&
         by.inner <= 512;
}

Value AttentionEmitter::widen(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  Type f32 = builder.getF32Type();
  if (type.getElementType() == f32)
    return vector;
  int64_t size = type.getNumElements();
  auto wide = VectorType::get(size, f32);
  if (!type.getElementType().isBF16() || size % 2)
    return arith::ExtFOp::create(builder, loc, wide, vector);
  // bf16 values are the upper halves of 32-bit floats.
  auto words = VectorType::get(size / 2, builder.getI32Type());
  auto half = VectorType::get(size / 2, f32);
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(builder, loc, words,
                                     DenseElementsAttr::get(words, value));
  };
  Value both = vector::BitCastOp::create(builder, loc, words, vector);
  Value even = arith::ShLIOp::create(builder, loc, both, constant(16));
  Value odd = arith::AndIOp::create(builder, loc, both, constant(0xffff0000));
  even = arith::BitcastOp::create(builder, loc, half, even);
  odd = arith::BitcastOp::create(builder, loc, half, odd);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < size / 2; ++i)
    order.append({i, size / 2 + i});
  return vector::ShuffleOp::create(builder, loc, even, odd, order);
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

/// The index of a thread among `count` threads that share work; excess threads
/// duplicate the last one.
static Value threadOf(OpBuilder &builder, Location loc, Value thread,
                      int64_t count) {
  if (count == AttentionEmitter::blockThreads)
    return thread;
  Value last = arith::ConstantIndexOp::create(builder, loc, count - 1);
  return arith::MinUIOp::create(builder, loc, thread, last);
}

SmallVector<Value> AttentionEmitter::loadKeys(const Place &keys,
                                              const Division &by, Value at) {
  Value own = threadOf(builder, loc, thread, by.keyGroups * by.keySlices);
  Value last = subtract(sizes[attention.columns], number(1));
  Value columnStride = keys.strides.lookup(attention.columns);
  Value depthStride = keys.strides.lookup(attention.depth);
  auto from = [&](Value column, Value depth) {
    return emitter.add(
        emitter.add(keys.origin, emitter.multiply(column, columnStride)),
        emitter.multiply(depth, depthStride));
  };
  SmallVector<Value> loaded;
  if (attention.alongDepth()) {
    Value slice = remainder(own, by.keySlices);
    Value group = divideBy(own, by.keySlices);
    for (int64_t i = 0; i < by.columnSteps; ++i) {
      Value column = arith::MinUIOp::create(
          builder, loc,
          emitter.add(emitter.add(at, group), number(i * by.keyGroups)), last);
      for (int64_t k = 0; k < by.depthSteps; ++k) {
        Value depth = emitter.multiply(
            emitter.add(slice, number(k * by.keySlices)), number(by.keyWidth));
        loaded.push_back(load(keys.data, from(column, depth), by.keyWidth));
      }
    }
    return loaded;
  }
  Value group = remainder(own, by.keyGroups);
  Value slice = divideBy(own, by.keyGroups);
  Value column = emitter.add(at, emitter.multiply(group, number(by.keyWidth)));
  // Only load whole vectors, up to the one that contains the last column.
  last = emitter.multiply(divideBy(last, by.keyWidth), number(by.keyWidth));
  column = arith::MinUIOp::create(builder, loc, column, last);
  for (int64_t k = 0; k < by.depthSteps; ++k) {
    Value depth = emitter.add(slice, number(k * by.keySlices));
    loaded.push_back(load(keys.data, from(column, depth), by.keyWidth));
  }
  return loaded;
}

SmallVector<Value> AttentionEmitter::findValues(const Place &values,
                                                const Division &by, Value at) {
  Value own = threadOf(builder, loc, thread, by.chunks * by.valueSlices);
  Value chunk = remainder(own, by.chunks), slice = divideBy(own, by.chunks);
  Value last = subtract(sizes[attention.columns], number(1));
  Value stride = values.strides.lookup(attention.columns);
  Value origin = emitter.add(values.origin,
                             emitter.multiply(chunk, number(by.valueWidth)));
  SmallVector<Value> places;
  for (int64_t i = 0; i < by.valueSteps(); ++i) {
    Value column = arith::MinUIOp::create(
        builder, loc,
        emitter.add(emitter.add(at, slice), number(i * by.valueSlices)), last);
    places.push_back(emitter.add(origin, emitter.multiply(column, stride)));
  }
  return places;
}

void AttentionEmitter::stageQueries(const Division &by, Value shared) {
  int64_t total = by.rows * by.depth;
  SmallVector<std::pair<Value, Value>> staged;
  for (int64_t done = 0; done < total; done += blockThreads) {
    Value at = emitter.add(thread, number(done));
    if (done + blockThreads > total)
      at = arith::MinUIOp::create(builder, loc, at, number(total - 1));
    Value row = divideBy(at, by.depth), depth = remainder(at, by.depth);
    Value value = query(pointOf(clampRow(row)), {depth}).value;
    if (hasFailed)
      return;
    if (!value.getType().isF32())
      value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
    staged.emplace_back(
        value,
        emitter.add(emitter.multiply(depth, number(by.paddedRows)), row));
  }
  for (auto [value, place] : staged)
    memref::StoreOp::create(builder, loc, value, shared, place);
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// Stores the contribution of this thread's keys to the products of all rows.
void AttentionEmitter::storeProducts(const Division &by, ValueRange keys,
                                     Value queries, Value products) {
  Value own = threadOf(builder, loc, thread, by.keyGroups * by.keySlices);
  bool alongDepth = attention.alongDepth();
  Value slice =
      alongDepth ? remainder(own, by.keySlices) : divideBy(own, by.keyGroups);
  Value group =
      alongDepth ? divideBy(own, by.keySlices) : remainder(own, by.keyGroups);
  auto queriesAt = [&](Value depth) {
    return load(queries, emitter.multiply(depth, number(by.paddedRows)),
                by.paddedRows);
  };
  auto placeOf = [&](int64_t row, Value column) {
    Value line =
        emitter.add(emitter.multiply(slice, number(by.rows)), number(row));
    return emitter.add(emitter.multiply(line, number(step)), column);
  };
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  if (!alongDepth) {
    SmallVector<Value> sums(by.rows, broadcast(zero, by.keyWidth));
    for (int64_t k = 0; k < by.depthSteps; ++k) {
      Value key = widen(keys[k]);
      Value query = queriesAt(emitter.add(slice, number(k * by.keySlices)));
      for (int64_t row = 0; row < by.rows; ++row) {
        Value factor = vector::ExtractOp::create(builder, loc, query, row);
        sums[row] = math::FmaOp::create(
            builder, loc, broadcast(factor, by.keyWidth), key, sums[row]);
      }
    }
    Value column = emitter.multiply(group, number(by.keyWidth));
    for (int64_t row = 0; row < by.rows; ++row)
      store(sums[row], products, placeOf(row, column));
    return;
  }
  SmallVector<Value> sums(by.rows * by.columnSteps, zero);
  for (int64_t k = 0; k < by.depthSteps; ++k) {
    Value first = emitter.multiply(emitter.add(slice, number(k * by.keySlices)),
                                   number(by.keyWidth));
    SmallVector<Value> wide;
    for (int64_t i = 0; i < by.columnSteps; ++i)
      wide.push_back(widen(keys[i * by.depthSteps + k]));
    for (int64_t part = 0; part < by.keyWidth; ++part) {
      Value query = queriesAt(emitter.add(first, number(part)));
      for (int64_t row = 0; row < by.rows; ++row) {
        Value factor = vector::ExtractOp::create(builder, loc, query, row);
        for (int64_t i = 0; i < by.columnSteps; ++i) {
          Value key = vector::ExtractOp::create(builder, loc, wide[i], part);
          Value &sum = sums[i * by.rows + row];
          sum = math::FmaOp::create(builder, loc, factor, key, sum);
        }
      }
    }
  }
  for (int64_t i = 0; i < by.columnSteps; ++i)
    for (int64_t row = 0; row < by.rows; ++row)
      store(sums[i * by.rows + row], products,
            placeOf(row, emitter.add(group, number(i * by.keyGroups))));
}

/// Turns the products of a step into weights and returns the new state (maxima,
/// then totals) of the rows of this subgroup.
SmallVector<Value> AttentionEmitter::weigh(const Division &by, Value at,
                                           ArrayRef<Point> rows,
                                           ValueRange states, Value products,
                                           Value weights, Value factors) {
  Value lane = remainder(thread, subgroupSize);
  Value subgroup = divideBy(thread, subgroupSize);
  auto combine = [&](Value value, function_ref<Value(Value, Value)> with) {
    for (int64_t mask = subgroupSize / 2; mask > 0; mask /= 2)
      value = with(value, exchange(value, mask));
    return value;
  };
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  };
  SmallVector<Value> maxima, totals;
  for (auto [number, point] : llvm::enumerate(rows)) {
    Value row = builder.createOrFold<arith::MinUIOp>(
        loc, emitter.add(subgroup, emitter.constant(number * subgroups)),
        emitter.constant(by.rows - 1));
    SmallVector<Value> columns, scores;
    for (int64_t first = 0; first < step; first += subgroupSize) {
      Value column = emitter.add(lane, emitter.constant(first));
      Value product;
      for (int64_t slice = 0; slice < by.keySlices; ++slice) {
        Value line = emitter.add(row, emitter.constant(slice * by.rows));
        Value part = memref::LoadOp::create(
            builder, loc, products,
            emitter.add(emitter.multiply(line, emitter.constant(step)),
                        column));
        product = product ? add(product, part) : part;
      }
      columns.push_back(column);
      scores.push_back(score(product, point, emitter.add(at, column)));
    }
    Value before = states[number], total = states[rows.size() + number];
    Value most = scores.front();
    for (Value value : llvm::drop_begin(scores))
      most = larger(most, value);
    most = larger(before, combine(most, [&](Value lhs, Value rhs) {
                    return larger(lhs, rhs);
                  }));
    Value shifted = shift(most), factor = exponential(before, shifted), sum;
    for (auto [column, value] : llvm::zip(columns, scores)) {
      Value weight = exponential(value, shifted);
      sum = sum ? add(sum, weight) : weight;
      Value place = emitter.add(
          emitter.multiply(column, emitter.constant(by.paddedRows)), row);
      memref::StoreOp::create(builder, loc, weight, weights, place);
    }
    memref::StoreOp::create(builder, loc, factor, factors, row);
    maxima.push_back(most);
    totals.push_back(
        math::FmaOp::create(builder, loc, total, factor, combine(sum, add)));
  }
  llvm::append_range(maxima, totals);
  return maxima;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult AttentionEmitter::emitByPoint(const SplitKV &kv, int64_t width) {
  Division by(attention, kv.rows, width);
  if (failed(findSizes()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  int64_t places[] = {by.queries(), by.products(), by.weights(),
                      by.factors(), by.factors(),  by.factors()};
  int64_t floats = 0;
  for (int64_t size : places)
    floats += size;
  Value blocks = emitter.multiply(
      emitter.multiply(kv.rowBlocks, count(attention.batch)), kv.splits);
  if (failed(begin(blocks, blockThreads, 4 * floats)))
    return failure();
  PointEmitter::Scope scope(emitter);
  Type f32 = builder.getF32Type();
  SmallVector<Value> shared;
  floats = 0;
  for (int64_t size : places) {
    shared.push_back(viewShared(size, f32, 4 * floats));
    floats += size;
  }
  Value queries = shared[0], products = shared[1], weights = shared[2];
  Value factors = shared[3], maxima = shared[4], totals = shared[5];
  locate(kv);
  Place keysAt = open(attention.key), valuesAt = open(attention.value);
  for (Value at : findValues(valuesAt, by, columnBegin))
    memref::PrefetchOp::create(builder, loc, valuesAt.data, at,
                               /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  SmallVector<Value> carried = loadKeys(keysAt, by, columnBegin);
  stageQueries(by, queries);

  Value visible;
  for (int64_t row = 0; row < by.rows; ++row) {
    Value end = endOf(pointOf(clampRow(number(row))));
    if (!end)
      break;
    visible =
        visible ? arith::MaxSIOp::create(builder, loc, visible, end) : end;
  }
  limitColumns(visible);
  Value subgroup = divideBy(thread, subgroupSize);
  SmallVector<Point> rows;
  for (int64_t i = 0; i < by.rowSteps(); ++i) {
    Value row = builder.createOrFold<arith::MinUIOp>(
        loc, emitter.add(subgroup, number(i * subgroups)), number(by.rows - 1));
    rows.push_back(pointOf(clampRow(row)));
    readAhead(rows.back());
  }
  gpu::BarrierOp::create(builder, loc);

  // Loop-carried: keys, then sums of all rows, then the state of this
  // subgroup's rows.
  size_t numKeys = carried.size();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  carried.append(by.rows, broadcast(zero, by.valueWidth));
  carried.append(rows.size(), least());
  carried.append(rows.size(), zero);
  Value own = threadOf(builder, loc, thread, by.chunks * by.valueSlices);
  Value slice = divideBy(own, by.chunks);
  carried = emitter.loop(
      columnBegin, columnEnd, number(step), carried,
      [&](Value at, ValueRange before) {
        SmallVector<Value> values;
        for (Value place : findValues(valuesAt, by, at))
          values.push_back(load(valuesAt.data, place, by.valueWidth));
        storeProducts(by, before.take_front(numKeys), queries, products);
        SmallVector<Value> next =
            loadKeys(keysAt, by, emitter.add(at, number(step)));
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> states =
            weigh(by, at, rows, before.drop_front(numKeys + by.rows), products,
                  weights, factors);
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> sums;
        Value factor = load(factors, number(0), by.paddedRows);
        for (int64_t row = 0; row < by.rows; ++row) {
          Value of = vector::ExtractOp::create(builder, loc, factor, row);
          sums.push_back(arith::MulFOp::create(builder, loc,
                                               broadcast(of, by.valueWidth),
                                               before[numKeys + row]));
        }
        for (auto [i, value] : llvm::enumerate(values)) {
          Value column = emitter.add(slice, number(i * by.valueSlices));
          Value weight =
              load(weights, emitter.multiply(column, number(by.paddedRows)),
                   by.paddedRows);
          Value wide = widen(value);
          for (int64_t row = 0; row < by.rows; ++row) {
            Value of = vector::ExtractOp::create(builder, loc, weight, row);
            sums[row] = math::FmaOp::create(
                builder, loc, broadcast(of, by.valueWidth), wide, sums[row]);
          }
        }
        llvm::append_range(next, sums);
        llvm::append_range(next, states);
        return next;
      });

  Value inner =
      emitter.multiply(remainder(own, by.chunks), number(by.valueWidth));
  for (int64_t row = 0; row < by.rows; ++row) {
    Value line =
        emitter.add(emitter.multiply(slice, number(by.rows)), number(row));
    store(carried[numKeys + row], products,
          emitter.add(emitter.multiply(line, number(by.inner)), inner));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    Value row = builder.createOrFold<arith::MinUIOp>(
        loc, emitter.add(subgroup, number(i * subgroups)), number(by.rows - 1));
    store(carried[numKeys + by.rows + i], maxima, row);
    store(carried[numKeys + by.rows + rows.size() + i], totals, row);
  }
  gpu::BarrierOp::create(builder, loc);
  handOn(
      kv,
      [&](Value row, Value inner) {
        Value sum;
        for (int64_t slice = 0; slice < by.valueSlices; ++slice) {
          Value line = emitter.add(row, number(slice * by.rows));
          Value part =
              load(products,
                   emitter.add(emitter.multiply(line, number(by.inner)), inner),
                   emitter.lanes);
          sum = sum ? Value(arith::AddFOp::create(builder, loc, sum, part))
                    : part;
        }
        return sum;
      },
      [&](Value row) {
        Value maximum = memref::LoadOp::create(builder, loc, maxima, row);
        Value total = memref::LoadOp::create(builder, loc, totals, row);
        return std::pair(maximum, total);
      });
  return failure(hasFailed);
}
