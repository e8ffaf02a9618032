//===- MatrixMatmul.cpp - matmuls with cooperative matrices ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One stage of both operands is in shared memory; the next one is loaded into
// registers meanwhile. Lines are padded by 16 bytes, so that consecutive lines
// start in different banks. Reads past the end of an operand are clamped: along
// the depth, zeros are used instead; sums of rows and columns that do not exist
// are discarded. The sums later overwrite the operands.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatmulEmitter.h"

using namespace mlir;
using namespace mlir::relax;

/// Padding of the lines of sums.
static constexpr int64_t sumsPadding = 4;

namespace {

/// An operand in a block, and how its threads load it.
struct Part {
  Value source, shared;
  int64_t width;
  /// The distance from a step to the next in the operand.
  Value step;
  bool alongDepth;
  int64_t pitch;
  struct Line {
    Value from, to, depth;
  };
  SmallVector<Line> lines;
};

} // namespace

static int64_t pitchOf(const Panel &panel, int64_t count, const Tile &tile) {
  return (panel.alongDepth ? tile.depth : count) + TileEmitter::linePadding;
}

static int64_t sizeOf(const Panel &panel, int64_t count, const Tile &tile) {
  return (panel.alongDepth ? count : tile.depth) * pitchOf(panel, count, tile);
}

int64_t MatmulEmitter::matrixBytes(const Tile &tile, const Panel &a,
                                   const Panel &b) {
  return std::max(
      2 * (sizeOf(a, tile.rows(), tile) + sizeOf(b, tile.columns(), tile)),
      4 * tile.warpsM * matrixSize * (tile.columns() + sumsPadding));
}

LogicalResult MatmulEmitter::emitByMatrices(const Tile &tile, bool manyRows,
                                            const Panel &a, const Panel &b) {
  OpBuilder::InsertionGuard guard(builder);
  int64_t threads = tile.threads(), pitch = tile.columns() + sumsPadding;
  if (failed(begin(tile.rows(), tile.columns(), threads,
                   matrixBytes(tile, a, b), manyRows)))
    return failure();
  PointEmitter::Scope scope(emitter);
  Value depth = count(matmul.depth);
  bool isWhole = *getConstantIntValue(depth) % tile.depth == 0;
  Type element = cast<MemRefType>(a.buffer.getType()).getElementType();
  auto atMost = [&](Value value, Value limit) -> Value {
    return arith::MinUIOp::create(builder, loc, value, limit);
  };
  auto prepare = [&](const Panel &panel, ArrayRef<Axis> outer, Value first,
                     int64_t size, int64_t byte) {
    Part part;
    part.source = flatten(panel.buffer);
    part.width = panel.width;
    part.alongDepth = panel.alongDepth;
    part.pitch = pitchOf(panel, size, tile);
    part.shared = viewShared(sizeOf(panel, size, tile), element, byte);
    int64_t lines = panel.alongDepth ? size : tile.depth;
    int64_t perLine = (panel.alongDepth ? tile.depth : size) / panel.width;
    Value distance = this->distance(
        panel, panel.alongDepth ? outer.back() : matmul.depth.back());
    part.step = emitter.multiply(number(tile.depth),
                                 panel.alongDepth ? number(1) : distance);
    Value origin = number(0);
    for (Axis axis : matmul.batch)
      origin =
          emitter.add(origin, emitter.multiply(corner.batch[axis].value,
                                               this->distance(panel, axis)));
    Value last =
        subtract(count(outer), number(panel.alongDepth ? 1 : panel.width));
    int64_t total = lines * perLine;
    for (int64_t done = 0; done < total; done += threads) {
      Value at = emitter.add(thread, number(done));
      if (done + threads > total) // excess threads duplicate work
        at = atMost(at, number(total - 1));
      Value line = divideBy(at, perLine);
      Value inLine =
          emitter.multiply(remainder(at, perLine), number(panel.width));
      Value across =
          atMost(emitter.add(first, panel.alongDepth ? line : inLine), last);
      Value along = panel.alongDepth ? inLine : line;
      Value from = panel.alongDepth
                       ? emitter.add(emitter.multiply(across, distance), along)
                       : emitter.add(emitter.multiply(along, distance), across);
      Value to =
          emitter.add(emitter.multiply(line, number(part.pitch)), inLine);
      part.lines.push_back({emitter.add(origin, from), to, along});
    }
    return part;
  };
  Part parts[] = {prepare(a, matmul.rows, corner.row, tile.rows(), 0),
                  prepare(b, matmul.columns, corner.column, tile.columns(),
                          2 * sizeOf(a, tile.rows(), tile))};
  Value sumsAt =
      viewShared(tile.warpsM * matrixSize * pitch, builder.getF32Type());

  auto read = [&](Value step, SmallVectorImpl<Value> &words) {
    for (const Part &part : parts)
      for (const Part::Line &line : part.lines) {
        Value from = emitter.add(line.from, emitter.multiply(step, part.step)),
              inside;
        if (!isWhole) {
          inside =
              isLess(emitter.add(line.depth,
                                 emitter.multiply(step, number(tile.depth))),
                     depth);
          from = arith::SelectOp::create(builder, loc, inside, from, number(0));
        }
        Value all = loadWords(part.source, from, part.width);
        if (inside) {
          Value zero = arith::ConstantOp::create(
              builder, loc, builder.getZeroAttr(all.getType()));
          all = arith::SelectOp::create(builder, loc, inside, all, zero);
        }
        words.push_back(all);
      }
  };
  Value warp = divideBy(thread, 32);
  Value rowAt = emitter.multiply(remainder(warp, tile.warpsM),
                                 number(tile.countM * matrixSize));
  int64_t across = tile.countN * 8 / matrixSize;
  Value columnAt = emitter.multiply(divideBy(warp, tile.warpsM),
                                    number(across * matrixSize));
  auto place = [&](const Part &part, Value outer, int64_t k) {
    Value pitch = number(part.pitch);
    return part.alongDepth
               ? emitter.add(emitter.multiply(outer, pitch), number(k))
               : emitter.add(emitter.multiply(number(k), pitch), outer);
  };
  size_t numSums = tile.countM * across;
  auto multiply = [&](ValueRange before) {
    SmallVector<Value> sums = llvm::to_vector(before);
    for (int64_t k = 0; k < tile.depth; k += matrixSize) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < tile.countM; ++i)
        rows.push_back(loadMatrix(
            parts[0].shared,
            place(parts[0], emitter.add(rowAt, number(i * matrixSize)), k),
            parts[0].pitch, MatrixUse::A, !parts[0].alongDepth));
      for (int64_t j = 0; j < across; ++j) {
        Value columns = loadMatrix(
            parts[1].shared,
            place(parts[1], emitter.add(columnAt, number(j * matrixSize)), k),
            parts[1].pitch, MatrixUse::B, parts[1].alongDepth);
        for (int64_t i = 0; i < tile.countM; ++i) {
          Value &sum = sums[i * across + j];
          sum = addProduct(rows[i], columns, sum);
        }
      }
    }
    return sums;
  };

  int64_t steps = llvm::divideCeil(*getConstantIntValue(depth), tile.depth);
  SmallVector<Value> carried(numSums, zeroMatrix());
  read(number(0), carried);
  carried = emitter.loop(
      number(0), number(steps), number(1), carried,
      [&](Value step, ValueRange before) {
        gpu::BarrierOp::create(builder, loc);
        ValueRange words = before.drop_front(numSums);
        for (const Part &part : parts)
          for (const Part::Line &line : part.lines) {
            storeWords(words.front(), part.shared, line.to);
            words = words.drop_front();
          }
        gpu::BarrierOp::create(builder, loc);
        SmallVector<Value> ahead;
        read(atMost(emitter.add(step, number(1)), number(steps - 1)), ahead);
        SmallVector<Value> next = multiply(before.take_front(numSums));
        llvm::append_range(next, ahead);
        return next;
      });

  // One row of matrices per warp at a time.
  int64_t lanes = emitter.lanes, perRow = tile.columns() / lanes;
  Value warpRow = emitter.multiply(remainder(warp, tile.warpsM),
                                   number(matrixSize * pitch));
  for (int64_t i = 0; i < tile.countM; ++i) {
    gpu::BarrierOp::create(builder, loc);
    for (int64_t j = 0; j < across; ++j)
      storeMatrix(
          carried[i * across + j], sumsAt,
          emitter.add(warpRow, emitter.add(columnAt, number(j * matrixSize))),
          pitch);
    gpu::BarrierOp::create(builder, loc);
    emitter.loop(
        thread, number(tile.warpsM * matrixSize * perRow), number(threads), {},
        [&](Value at, ValueRange) {
          Value line = divideBy(at, perRow);
          Value inLine = emitter.multiply(remainder(at, perRow), number(lanes));
          Value row = emitter.add(
              emitter.multiply(divideBy(line, matrixSize),
                               number(tile.countM * matrixSize)),
              emitter.add(number(i * matrixSize), remainder(line, matrixSize)));
          row = emitter.add(corner.row, row);
          Value column = emitter.add(corner.column, inLine);
          Value inside =
              both(isInside(row, count(matmul.rows), tile.rows()),
                   isInside(column, count(matmul.columns), tile.columns()));
          onlyIf(inside, [&] {
            Value from =
                emitter.add(emitter.multiply(line, number(pitch)), inLine);
            finishPoints(loadSums(sumsAt, from), row, column);
          });
          return SmallVector<Value>();
        });
  }
  return failure(hasFailed);
}
