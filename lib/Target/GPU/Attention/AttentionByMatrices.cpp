//===- AttentionByMatrices.cpp - attention by cooperative matrices --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A subgroup computes 16 rows of queries and their output sums as cooperative
// matrices, whose individual elements are not accessible. Scores therefore go
// through shared memory, where two threads process a row. Likewise, the factors
// that rescale the sums when the maximum grows form a matrix whose columns are
// all the same.
//
// Keys and values take turns in one buffer; the next ones are loaded into
// registers meanwhile.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"

#include "Target/Schedule/Combiner.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr int64_t lanesOfRow = 2, wordElements = 8;
/// Padding of the lines of scores, in elements.
static constexpr int64_t scoresPadding = 4;

/// The layout of the keys, or values, of one step in shared memory.
struct AttentionEmitter::Lines {
  Lines(const Attention &attention, const Stored &region)
      : ofColumns(region.along() != attention.columns),
        length(!ofColumns                          ? step
               : region.along() == attention.depth ? attention.depthSize
                                                   : attention.innerSize),
        count(ofColumns ? step : attention.depthSize) {}

  int64_t pitch() const { return length + linePadding; }
  int64_t size() const { return count * pitch(); }

  /// Whether a line is one column; elements per line; number of lines.
  bool ofColumns;
  int64_t length, count;
};

/// The shared memory of a block, and the part of it that a thread works on.
struct AttentionEmitter::Tiles {
  explicit Tiles(const Attention &attention)
      : keys(attention, attention.key), values(attention, attention.value),
        queriesPitch(attention.depthSize + linePadding),
        size(std::max({blockRows * queriesPitch, keys.size(), values.size()})) {
    auto place = [&](int64_t size) {
      int64_t at = bytes;
      bytes += llvm::alignTo(size, 16);
      return at;
    };
    tileAt = place(2 * size);
    weightsAt = place(2 * blockRows * weightsPitch);
    scoresAt = place(4 * blockRows * scoresPitch);
    factorsAt = place(4 * blockRows);
    statesAt = place(8 * blockRows);
    endsAt = place(16);
  }

  Lines keys, values;
  /// Elements from one row to the next.
  int64_t queriesPitch;
  static constexpr int64_t weightsPitch = step + linePadding;
  static constexpr int64_t scoresPitch = step + scoresPadding;
  /// Elements of `tile`, where the parts begin, and the bytes of all parts.
  int64_t size, tileAt, weightsAt, scoresAt, factorsAt, statesAt, endsAt;
  int64_t bytes = 0;
  /// The keys or the values of a step; for each row its scores, their weights,
  /// and the factor that rescales its sums; the maxima, then the totals.
  Value tile, weights, scores, factors, states;
  /// The first row of the subgroup; the row of this thread, which it shares
  /// with another one, and the first column of its first chunk.
  Value warpRow, own, half;
  Point row;

  /// Two threads share a row and process alternating chunks of it.
  static constexpr int64_t chunks = step / lanesOfRow / wordElements;
};

/// Loads this thread's words of a step.
SmallVector<Value> AttentionEmitter::readLines(const Place &from,
                                               const Lines &lines, Value at) {
  SmallVector<Value> words;
  int64_t perLine = lines.length / wordElements;
  Value stride = from.strides.lookup(lines.ofColumns ? attention.columns
                                                     : attention.depth);
  int64_t total = lines.count * perLine;
  for (int64_t done = 0; done < total; done += blockThreads) {
    Value own = emitter.add(thread, number(done));
    if (done + blockThreads > total)
      own = arith::MinUIOp::create(builder, loc, own, number(total - 1));
    Value line = divideBy(own, perLine);
    Value element =
        emitter.multiply(remainder(own, perLine), number(wordElements));
    Value column = emitter.add(at, lines.ofColumns ? line : element);
    Value lineAt = lines.ofColumns ? column : line;
    Value inLine = lines.ofColumns ? element : column;
    Value source = emitter.add(
        emitter.add(from.origin, emitter.multiply(lineAt, stride)), inLine);
    // Pad with zeros beyond the end.
    Value inside = isLess(column, columnEnd);
    source = arith::SelectOp::create(builder, loc, inside, source, number(0));
    Value all = loadWords(from.data, source, wordElements);
    Value zero = arith::ConstantOp::create(builder, loc,
                                           builder.getZeroAttr(all.getType()));
    words.push_back(arith::SelectOp::create(builder, loc, inside, all, zero));
  }
  return words;
}

void AttentionEmitter::storeLines(ValueRange words, const Lines &lines,
                                  Value shared) {
  int64_t perLine = lines.length / wordElements;
  int64_t total = lines.count * perLine;
  for (auto [i, some] : llvm::enumerate(words)) {
    Value own = emitter.add(thread, number(i * blockThreads));
    if (int64_t(i + 1) * blockThreads > total)
      own = arith::MinUIOp::create(builder, loc, own, number(total - 1));
    Value line = divideBy(own, perLine);
    Value element =
        emitter.multiply(remainder(own, perLine), number(wordElements));
    storeWords(
        some, shared,
        emitter.add(emitter.multiply(line, number(lines.pitch())), element));
  }
}

/// Copies the queries of all rows to shared memory, row by row.
void AttentionEmitter::stageRows(Value shared, int64_t pitch) {
  int64_t lanes = emitter.lanes, perRow = attention.depthSize / lanes;
  emitter.loop(
      thread, number(blockRows * perRow), number(blockThreads), {},
      [&](Value at, ValueRange) {
        Value row = divideBy(at, perRow);
        Value element = emitter.multiply(remainder(at, perRow), number(lanes));
        Lanes value =
            query(pointOf(clampRow(row)), {element, lanes > 1 ? 1 : 0});
        if (!hasFailed)
          store(lanes > 1 ? emitter.vector(value) : value.value, shared,
                emitter.add(emitter.multiply(row, number(pitch)), element));
        return SmallVector<Value>();
      });
}

Value AttentionEmitter::lineAt(Value line, int64_t pitch, int64_t column) {
  return emitter.add(emitter.multiply(line, number(pitch)), number(column));
}

/// Creates the views of shared memory.
void AttentionEmitter::view(Tiles &tiles) {
  Type f32 = builder.getF32Type();
  Type element = attention.key.elementType();
  tiles.tile = viewShared(tiles.size, element, tiles.tileAt);
  tiles.weights =
      viewShared(blockRows * tiles.weightsPitch, element, tiles.weightsAt);
  tiles.scores = viewShared(blockRows * tiles.scoresPitch, f32, tiles.scoresAt);
  tiles.factors = viewShared(blockRows, f32, tiles.factorsAt);
  tiles.states = viewShared(2 * blockRows, f32, tiles.statesAt);
}

/// Loads the queries of the subgroup as matrices, and the operands of the
/// thread's row.
SmallVector<Value> AttentionEmitter::loadQueries(Tiles &tiles) {
  stageRows(tiles.tile, tiles.queriesPitch);
  gpu::BarrierOp::create(builder, loc);
  Value lane = remainder(thread, 32), warp = divideBy(thread, 32);
  tiles.warpRow = emitter.multiply(warp, number(warpRows));
  SmallVector<Value> queries;
  for (int64_t k = 0; k < attention.depthSize; k += matrixSize)
    queries.push_back(loadMatrix(tiles.tile,
                                 lineAt(tiles.warpRow, tiles.queriesPitch, k),
                                 tiles.queriesPitch, MatrixUse::A, false));
  tiles.own = emitter.add(tiles.warpRow, divideBy(lane, lanesOfRow));
  tiles.row = pointOf(clampRow(tiles.own));
  readAhead(tiles.row);
  gpu::BarrierOp::create(builder, loc);
  tiles.half =
      emitter.multiply(remainder(lane, lanesOfRow), number(wordElements));
  return queries;
}

/// Multiplies the queries with the keys of a step, and stores the products.
void AttentionEmitter::storeProducts(const Tiles &tiles, ValueRange queries) {
  const Lines &keys = tiles.keys;
  for (int64_t j = 0; j < step; j += matrixSize) {
    Value product = zeroMatrix();
    for (auto [k, query] : llvm::enumerate(queries)) {
      int64_t from = k * matrixSize;
      Value key = loadMatrix(tiles.tile,
                             keys.ofColumns ? number(j * keys.pitch() + from)
                                            : number(from * keys.pitch() + j),
                             keys.pitch(), MatrixUse::B, keys.ofColumns);
      product = addProduct(query, key, product);
    }
    storeMatrix(product, tiles.scores,
                lineAt(tiles.warpRow, tiles.scoresPitch, j), tiles.scoresPitch);
  }
}

/// Turns the products of the thread's row into weights, and stores these and
/// the factor that rescales the sums before them. Returns the maximum of the
/// row and the total of its weights, which were `old` and `total`.
std::pair<Value, Value> AttentionEmitter::weigh(const Tiles &tiles, Value at,
                                                Value old, Value total) {
  Type f32 = builder.getF32Type();
  Type element = attention.key.elementType();
  auto chunkAt = [&](int64_t i) {
    return emitter.add(tiles.half, number(i * lanesOfRow * wordElements));
  };
  Value most, sum, line = lineAt(tiles.own, tiles.scoresPitch);
  SmallVector<Value> own32;
  for (int64_t i = 0; i < tiles.chunks; ++i) {
    Value from = emitter.add(line, chunkAt(i));
    Value some = load(tiles.scores, from, wordElements);
    for (int64_t e = 0; e < wordElements; ++e) {
      Value column = emitter.add(emitter.add(at, chunkAt(i)), number(e));
      Value value = score(vector::ExtractOp::create(builder, loc, some, e),
                          tiles.row, column);
      own32.push_back(value);
      most = most ? larger(most, value) : value;
    }
  }
  most = larger(most, exchange(most, 1));
  most = larger(old, most);
  Value shifted = shift(most), factor = exponential(old, shifted);
  for (int64_t i = 0; i < tiles.chunks; ++i) {
    ArrayRef<Value> some =
        ArrayRef(own32).slice(i * wordElements, wordElements);
    SmallVector<Value> powers;
    for (Value value : some) {
      powers.push_back(exponential(value, shifted));
      sum = sum ? Value(arith::AddFOp::create(builder, loc, sum, powers.back()))
                : powers.back();
    }
    Value wide = vector::FromElementsOp::create(
        builder, loc, VectorType::get(wordElements, f32), powers);
    store(arith::TruncFOp::create(builder, loc,
                                  VectorType::get(wordElements, element), wide),
          tiles.weights,
          emitter.add(lineAt(tiles.own, tiles.weightsPitch), chunkAt(i)));
  }
  store(factor, tiles.factors, tiles.own);
  return {most, math::FmaOp::create(builder, loc, total, factor, sum)};
}

/// Rescales the sums, and adds the values of a step times their weights.
SmallVector<Value> AttentionEmitter::mix(const Tiles &tiles, ValueRange sums) {
  Value scale = loadMatrix(tiles.factors, tiles.warpRow, /*pitch=*/0,
                           MatrixUse::Sums, /*byColumns=*/true);
  SmallVector<Value> parts, mixed;
  for (int64_t k = 0; k < step; k += matrixSize)
    parts.push_back(loadMatrix(tiles.weights,
                               lineAt(tiles.warpRow, tiles.weightsPitch, k),
                               tiles.weightsPitch, MatrixUse::A, false));
  for (auto [j, before] : llvm::enumerate(sums)) {
    Value sum = scaleMatrix(before, scale);
    for (auto [k, part] : llvm::enumerate(parts)) {
      Value value = loadMatrix(
          tiles.tile,
          number(k * matrixSize * tiles.values.pitch() + j * matrixSize),
          tiles.values.pitch(), MatrixUse::B, /*byColumns=*/false);
      sum = addProduct(part, value, sum);
    }
    mixed.push_back(sum);
  }
  return mixed;
}

/// Writes the results of the block, through the memory of the scores.
void AttentionEmitter::handOnMatrices(const SplitKV &kv, const Tiles &tiles,
                                      ValueRange sums, Value maximum,
                                      Value total) {
  total = arith::AddFOp::create(builder, loc, total, exchange(total, 1));
  store(maximum, tiles.states, tiles.own);
  store(total, tiles.states, emitter.add(tiles.own, number(blockRows)));
  int64_t inner = attention.innerSize;
  for (int64_t from = 0; from < inner; from += step) {
    int64_t size = std::min(step, inner - from);
    if (from)
      gpu::BarrierOp::create(builder, loc);
    for (int64_t j = 0; j < size; j += matrixSize)
      storeMatrix(sums[(from + j) / matrixSize], tiles.scores,
                  lineAt(tiles.warpRow, tiles.scoresPitch, j),
                  tiles.scoresPitch);
    gpu::BarrierOp::create(builder, loc);
    handOn(
        kv,
        [&](Value row, Value inner) {
          Value place = emitter.add(lineAt(row, tiles.scoresPitch),
                                    subtract(inner, number(from)));
          return load(tiles.scores, place, emitter.lanes);
        },
        [&](Value row) {
          Value maximum =
              memref::LoadOp::create(builder, loc, tiles.states, row);
          Value total = memref::LoadOp::create(
              builder, loc, tiles.states, emitter.add(row, number(blockRows)));
          return std::pair(maximum, total);
        },
        from, size);
  }
}

LogicalResult AttentionEmitter::emitByMatrices(const SplitKV &kv) {
  if (failed(findSizes()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  Tiles tiles(attention);
  Value blocks = emitter.multiply(
      emitter.multiply(kv.rowBlocks, count(attention.batch)), kv.splits);
  if (failed(begin(blocks, blockThreads, tiles.bytes)))
    return failure();
  PointEmitter::Scope scope(emitter);
  locate(kv);
  limitColumnsOfBlock(blockRows, tiles.endsAt);
  view(tiles);
  Place keysAt = open(attention.key), valuesAt = open(attention.value);

  // Loop-carried: the words of the next keys, the sums, and the maximum and the
  // total of the thread's row.
  SmallVector<Value> carried = readLines(keysAt, tiles.keys, columnBegin);
  size_t numWords = carried.size();
  SmallVector<Value> queries = loadQueries(tiles);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  size_t numSums = attention.innerSize / matrixSize;
  carried.append(numSums, zeroMatrix());
  carried.append({least(), zero});
  carried = emitter.loop(
      columnBegin, columnEnd, number(step), carried,
      [&](Value at, ValueRange before) {
        storeLines(before.take_front(numWords), tiles.keys, tiles.tile);
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> values = readLines(valuesAt, tiles.values, at);
        storeProducts(tiles, queries);
        gpu::BarrierOp::create(builder, loc);
        storeLines(values, tiles.values, tiles.tile);
        SmallVector<Value> next =
            readLines(keysAt, tiles.keys, emitter.add(at, number(step)));
        auto [maximum, total] =
            weigh(tiles, at, before[numWords + numSums], before.back());
        gpu::BarrierOp::create(builder, loc);
        llvm::append_range(next, mix(tiles, before.slice(numWords, numSums)));
        // The next keys overwrite these values.
        gpu::BarrierOp::create(builder, loc);
        next.append({maximum, total});
        return next;
      });
  handOnMatrices(kv, tiles, ArrayRef(carried).slice(numWords, numSums),
                 carried[numWords + numSums], carried.back());
  return failure(hasFailed);
}
