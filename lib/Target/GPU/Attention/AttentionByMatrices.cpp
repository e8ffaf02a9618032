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

LogicalResult AttentionEmitter::emitByMatrices(const Shares &shares) {
  if (failed(findSizes()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  int64_t depth = attention.depthSize, inner = attention.innerSize;
  Lines keyLines(attention, attention.key),
      valueLines(attention, attention.value);
  int64_t queriesPitch = depth + linePadding, weightsPitch = step + linePadding;
  int64_t scoresPitch = step + scoresPadding;
  int64_t tileSize =
      std::max({blockRows * queriesPitch, keyLines.size(), valueLines.size()});
  Value blocks = emitter.multiply(
      emitter.multiply(shares.rowBlocks, count(attention.batch)),
      shares.splits);
  int64_t bytes = 0;
  auto place = [&](int64_t size) {
    int64_t at = bytes;
    bytes += llvm::alignTo(size, 16);
    return at;
  };
  int64_t tileAt = place(2 * tileSize);
  int64_t weightsAt = place(2 * blockRows * weightsPitch);
  int64_t scoresAt = place(4 * blockRows * scoresPitch);
  int64_t factorsAt = place(4 * blockRows), statesAt = place(8 * blockRows);
  int64_t endsAt = place(16);
  if (failed(begin(blocks, blockThreads, bytes)))
    return failure();
  PointEmitter::Scope scope(emitter);
  locate(shares);
  limitColumnsOfBlock(blockRows, endsAt);
  Type f32 = builder.getF32Type();
  Type element = attention.key.elementType();
  Value tile = viewShared(tileSize, element, tileAt);
  Value weights = viewShared(blockRows * weightsPitch, element, weightsAt);
  Value scores = viewShared(blockRows * scoresPitch, f32, scoresAt);
  Value factors = viewShared(blockRows, f32, factorsAt);
  Value states = viewShared(2 * blockRows, f32, statesAt);
  Place keysAt = open(attention.key), valuesAt = open(attention.value);

  SmallVector<Value> carried = readLines(keysAt, keyLines, columnBegin);
  size_t numWords = carried.size();
  stageRows(tile, queriesPitch);
  gpu::BarrierOp::create(builder, loc);
  Value lane = remainder(thread, 32), warp = divideBy(thread, 32);
  Value warpRow = emitter.multiply(warp, number(warpRows));
  auto lineAt = [&](Value line, int64_t pitch, int64_t column = 0) {
    return emitter.add(emitter.multiply(line, number(pitch)), number(column));
  };
  SmallVector<Value> queries;
  for (int64_t k = 0; k < depth; k += matrixSize)
    queries.push_back(loadMatrix(tile, lineAt(warpRow, queriesPitch, k),
                                 queriesPitch, MatrixUse::A, false));
  Value own = emitter.add(warpRow, divideBy(lane, lanesOfRow));
  Point row = pointOf(clampRow(own));
  readAhead(row);
  gpu::BarrierOp::create(builder, loc);

  // Two threads share a row and process alternating chunks of it.
  constexpr int64_t chunks = step / lanesOfRow / wordElements;
  Value half =
      emitter.multiply(remainder(lane, lanesOfRow), number(wordElements));
  auto chunkAt = [&](int64_t i) {
    return emitter.add(half, number(i * lanesOfRow * wordElements));
  };
  auto fold = [&](Value value, function_ref<Value(Value, Value)> with) {
    return with(value, exchange(value, 1));
  };
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  };
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  size_t numSums = inner / matrixSize;
  carried.append(numSums, zeroMatrix());
  carried.append({least(), zero});
  carried = emitter.loop(
      columnBegin, columnEnd, number(step), carried,
      [&](Value at, ValueRange before) {
        storeLines(before.take_front(numWords), keyLines, tile);
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> values = readLines(valuesAt, valueLines, at);
        for (int64_t j = 0; j < step; j += matrixSize) {
          Value product = zeroMatrix();
          for (auto [k, query] : llvm::enumerate(queries)) {
            int64_t from = k * matrixSize;
            Value key = loadMatrix(
                tile,
                keyLines.ofColumns ? number(j * keyLines.pitch() + from)
                                   : number(from * keyLines.pitch() + j),
                keyLines.pitch(), MatrixUse::B, keyLines.ofColumns);
            product = addProduct(query, key, product);
          }
          storeMatrix(product, scores, lineAt(warpRow, scoresPitch, j),
                      scoresPitch);
        }
        gpu::BarrierOp::create(builder, loc);
        storeLines(values, valueLines, tile);
        SmallVector<Value> next =
            readLines(keysAt, keyLines, emitter.add(at, number(step)));

        Value most, sum, line = lineAt(own, scoresPitch);
        SmallVector<Value> own32;
        for (int64_t i = 0; i < chunks; ++i) {
          Value from = emitter.add(line, chunkAt(i));
          Value some = load(scores, from, wordElements);
          for (int64_t e = 0; e < wordElements; ++e) {
            Value column = emitter.add(emitter.add(at, chunkAt(i)), number(e));
            Value value = score(
                vector::ExtractOp::create(builder, loc, some, e), row, column);
            own32.push_back(value);
            most = most ? larger(most, value) : value;
          }
        }
        most =
            fold(most, [&](Value lhs, Value rhs) { return larger(lhs, rhs); });
        Value old = before[numWords + numSums];
        most = larger(old, most);
        Value shifted = shift(most), factor = exponential(old, shifted);
        for (int64_t i = 0; i < chunks; ++i) {
          ArrayRef<Value> some =
              ArrayRef(own32).slice(i * wordElements, wordElements);
          SmallVector<Value> powers;
          for (Value value : some) {
            powers.push_back(exponential(value, shifted));
            sum = sum ? add(sum, powers.back()) : powers.back();
          }
          Value wide = vector::FromElementsOp::create(
              builder, loc, VectorType::get(wordElements, f32), powers);
          store(arith::TruncFOp::create(
                    builder, loc, VectorType::get(wordElements, element), wide),
                weights, emitter.add(lineAt(own, weightsPitch), chunkAt(i)));
        }
        store(factor, factors, own);
        Value total = math::FmaOp::create(
            builder, loc, before[numWords + numSums + 1], factor, sum);
        gpu::BarrierOp::create(builder, loc);

        Value scale = loadMatrix(factors, warpRow, /*pitch=*/0, MatrixUse::Sums,
                                 /*byColumns=*/true);
        SmallVector<Value> parts;
        for (int64_t k = 0; k < step; k += matrixSize)
          parts.push_back(loadMatrix(weights, lineAt(warpRow, weightsPitch, k),
                                     weightsPitch, MatrixUse::A, false));
        for (size_t j = 0; j < numSums; ++j) {
          Value mixed = scaleMatrix(before[numWords + j], scale);
          for (auto [k, part] : llvm::enumerate(parts)) {
            Value value = loadMatrix(
                tile,
                number(k * matrixSize * valueLines.pitch() + j * matrixSize),
                valueLines.pitch(), MatrixUse::B, /*byColumns=*/false);
            mixed = addProduct(part, value, mixed);
          }
          next.push_back(mixed);
        }
        // The next keys overwrite these values.
        gpu::BarrierOp::create(builder, loc);
        next.append({most, total});
        return next;
      });

  Value total = fold(carried.back(), add);
  store(carried[numWords + numSums], states, own);
  store(total, states, emitter.add(own, number(blockRows)));
  for (int64_t from = 0; from < inner; from += step) {
    int64_t size = std::min(step, inner - from);
    if (from)
      gpu::BarrierOp::create(builder, loc);
    for (int64_t j = 0; j < size; j += matrixSize)
      storeMatrix(carried[numWords + (from + j) / matrixSize], scores,
                  lineAt(warpRow, scoresPitch, j), scoresPitch);
    gpu::BarrierOp::create(builder, loc);
    handOn(
        shares,
        [&](Value row, Value inner) {
          Value place = emitter.add(lineAt(row, scoresPitch),
                                    subtract(inner, number(from)));
          return load(scores, place, emitter.lanes);
        },
        [&](Value row) {
          Value maximum = memref::LoadOp::create(builder, loc, states, row);
          Value total = memref::LoadOp::create(
              builder, loc, states, emitter.add(row, number(blockRows)));
          return std::pair(maximum, total);
        },
        from, size);
  }
  return failure(hasFailed);
}
