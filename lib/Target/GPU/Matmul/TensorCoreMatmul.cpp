//===- TensorCoreMatmul.cpp - matmuls with tensor cores -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages of both operands form a ring buffer in shared memory: while one is
// multiplied, the next ones are copied. Elements beyond the operands are copied
// as zeros.
//
// Eight elements form a chunk. Chunks are swizzled: they are permuted within
// each line, so that eight consecutive chunks of a column are in different
// banks.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatmulEmitter.h"

#include "Target/GPU/Launch/ReadFirst.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::relax;

/// The distance of consecutive points along `axis`.
Value MatmulEmitter::distance(const Panel &panel, Axis axis) {
  Value product = number(1);
  for (Axis other : llvm::reverse(panel.dims)) {
    if (other == axis)
      break;
    product = emitter.multiply(product, sizes[other]);
  }
  return product;
}

MatmulEmitter::Copies MatmulEmitter::prepareCopies(const Panel &panel,
                                                   ArrayRef<Axis> outer,
                                                   Value first, int64_t count,
                                                   const Tile &tile,
                                                   int64_t base) {
  Copies copies;
  copies.source = flatten(panel.buffer);
  copies.width = panel.width;
  int64_t lines = panel.alongDepth ? count : tile.depth;
  int64_t length = panel.alongDepth ? tile.depth : count;
  int64_t perLine = length / panel.width, threads = tile.threads();
  int64_t total = lines * perLine;
  Value depth = this->count(matmul.depth), limit = this->count(outer);
  Value pitch =
      distance(panel, panel.alongDepth ? outer.back() : matmul.depth.back());
  copies.depthStep = emitter.multiply(number(tile.depth),
                                      panel.alongDepth ? number(1) : pitch);
  Value origin = number(0);
  for (Axis axis : matmul.batch)
    origin = emitter.add(origin, emitter.multiply(corner.batch[axis].value,
                                                  distance(panel, axis)));
  for (int64_t done = 0; done < total; done += threads) {
    Value at = emitter.add(thread, number(done));
    Line line;
    if (done + threads > total)
      line.isOn = isLess(at, number(total));
    Value outerAt = divideBy(at, perLine), innerAt = remainder(at, perLine);
    if (threads % perLine == 0) {
      outerAt = emitter.add(divideBy(thread, perLine), number(done / perLine));
      innerAt = remainder(thread, perLine);
    }
    Value element = emitter.multiply(innerAt, number(panel.width));
    Value place = turn(outerAt, divideBy(element, chunk), length / chunk);
    line.to = emitter.add(
        emitter.add(number(base), emitter.multiply(outerAt, number(length))),
        emitter.add(emitter.multiply(place, number(chunk)),
                    remainder(element, chunk)));
    Value across = emitter.add(first, panel.alongDepth ? outerAt : element);
    Value along = panel.alongDepth ? element : outerAt;
    line.isInside = isInside(across, limit, count);
    if (*getConstantIntValue(depth) % tile.depth)
      line.depth = along;
    Value lineAt = panel.alongDepth ? across : along;
    Value inLine = panel.alongDepth ? along : across;
    line.from = emitter.add(
        origin, emitter.add(emitter.multiply(lineAt, pitch), inLine));
    copies.lines.push_back(line);
  }
  return copies;
}

void MatmulEmitter::copyStage(const Copies &copies, Value shared, Value stage,
                              Value step, const Tile &tile) {
  Value ahead = emitter.multiply(step, copies.depthStep);
  Value depthAt = emitter.multiply(step, number(tile.depth));
  int64_t bytes = copies.width * 2;
  for (const Line &line : copies.lines)
    onlyIf(line.isOn, [&] {
      Value inside = line.isInside;
      if (line.depth)
        inside = both(inside, isLess(emitter.add(depthAt, line.depth),
                                     count(matmul.depth)));
      Value elements;
      if (inside)
        elements = arith::SelectOp::create(builder, loc, inside,
                                           number(copies.width), number(0));
      Value to = emitter.add(stage, line.to);
      Value from = emitter.add(ahead, line.from);
      nvgpu::DeviceAsyncCopyOp::create(
          builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
          shared, to, copies.source, from, builder.getIndexAttr(copies.width),
          elements, bytes == 16 ? builder.getUnitAttr() : UnitAttr());
    });
}

SmallVector<Value> MatmulEmitter::multiplyStage(const Tile &tile, Value shared,
                                                Value stage, bool bAlongDepth,
                                                ValueRange sums) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  int64_t rowChunks = tile.depth / chunk, columnChunks = tile.columns() / chunk;
  Value lane = remainder(thread, 32), warp = divideBy(thread, 32);
  Value lane8 = remainder(lane, 8), half = divideBy(lane, 16);
  Value quarter = remainder(divideBy(lane, 8), 2);
  Value warpM = remainder(warp, tile.warpsM);
  Value warpN = remainder(divideBy(warp, tile.warpsM), tile.warpsN);
  Value warpK = divideBy(warp, tile.warpsM * tile.warpsN);
  Value rowA = emitter.add(emitter.multiply(warpM, number(tile.countM * 16)),
                           remainder(lane, 16));
  Value startA = emitter.add(stage, emitter.multiply(rowA, number(tile.depth)));
  Value startB = emitter.add(stage, number(tile.rows() * tile.depth));
  Value columnB = emitter.multiply(warpN, number(tile.countN * 8));
  SmallVector<Value> next = llvm::to_vector(sums);
  int64_t steps = tile.depth / 16 / tile.warpsK;
  for (int64_t step = 0; step < steps; ++step) {
    // The first of the two chunks of this step.
    Value at = emitter.add(emitter.multiply(warpK, number(2 * steps)),
                           number(2 * step));
    SmallVector<SmallVector<Value>> a, b;
    Value turned = turn(rowA, emitter.add(at, half), rowChunks);
    for (int64_t i = 0; i < tile.countM; ++i) {
      Value line = emitter.add(startA, number(i * 16 * tile.depth));
      a.push_back(loadMatrices(
          shared, emitter.add(line, emitter.multiply(turned, number(chunk))),
          /*transpose=*/false));
    }
    for (int64_t j = 0; j < tile.countN; j += 2) {
      Value place;
      if (bAlongDepth) {
        Value line =
            emitter.add(emitter.add(columnB, number(j * 8)),
                        emitter.add(lane8, emitter.multiply(half, number(8))));
        Value turned = turn(line, emitter.add(at, quarter), rowChunks);
        place = emitter.add(emitter.multiply(line, number(tile.depth)),
                            emitter.multiply(turned, number(chunk)));
      } else {
        Value line = emitter.add(
            emitter.multiply(emitter.add(at, quarter), number(8)), lane8);
        Value column = emitter.add(
            divideBy(emitter.add(columnB, number(j * 8)), chunk), half);
        Value turned = turn(line, column, columnChunks);
        place = emitter.add(emitter.multiply(line, number(tile.columns())),
                            emitter.multiply(turned, number(chunk)));
      }
      SmallVector<Value> words = loadMatrices(
          shared, emitter.add(startB, place), /*transpose=*/!bAlongDepth);
      b.push_back({words[0], words[1]});
      b.push_back({words[2], words[3]});
    }
    for (int64_t i = 0; i < tile.countM; ++i)
      for (int64_t j = 0; j < tile.countN; ++j) {
        int64_t first = (i * tile.countN + j) * 4;
        llvm::copy(multiplyMatrices(a[i], b[j],
                                    ArrayRef<Value>(next).slice(first, 4),
                                    element),
                   next.begin() + first);
      }
  }
  return next;
}

/// Stores the sums of all warps row by row in shared memory.
Value MatmulEmitter::storeSums(const Tile &tile, ValueRange sums) {
  int64_t pitch = tile.columns() + linePadding;
  Value shared =
      viewShared(tile.warpsK * tile.rows() * pitch, builder.getF32Type());
  Value lane = remainder(thread, 32), warp = divideBy(thread, 32);
  Value warpM = remainder(warp, tile.warpsM);
  Value warpN = remainder(divideBy(warp, tile.warpsM), tile.warpsN);
  Value warpK = divideBy(warp, tile.warpsM * tile.warpsN);
  Value row = emitter.add(
      emitter.add(emitter.multiply(warpK, number(tile.rows())),
                  emitter.multiply(warpM, number(tile.countM * 16))),
      divideBy(lane, 4));
  Value column = emitter.add(emitter.multiply(warpN, number(tile.countN * 8)),
                             emitter.multiply(remainder(lane, 4), number(2)));
  Value start = emitter.add(emitter.multiply(row, number(pitch)), column);
  auto two = VectorType::get(2, builder.getF32Type());
  for (int64_t i = 0; i < tile.countM; ++i)
    for (int64_t j = 0; j < tile.countN; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t first = (i * tile.countN + j) * 4 + 2 * half;
        Value pair = vector::FromElementsOp::create(
            builder, loc, two, ValueRange{sums[first], sums[first + 1]});
        Value at =
            emitter.add(start, number((i * 16 + half * 8) * pitch + j * 8));
        vector::StoreOp::create(builder, loc, pair, shared, at,
                                /*nontemporal=*/false, llvm::MaybeAlign(8));
      }
  return shared;
}

LogicalResult MatmulEmitter::emit(const Tile &tile, bool manyRows,
                                  const Panel &a, const std::optional<Panel> &b,
                                  const std::optional<DepthUnits> &units) {
  int64_t stageSize = (tile.rows() + tile.columns()) * tile.depth;
  int64_t pitch = tile.columns() + linePadding;
  int64_t bytes = std::max(tile.stages * stageSize * 2,
                           tile.warpsK * tile.rows() * pitch * 4);
  OpBuilder::InsertionGuard guard(builder);
  if (failed(
          begin(tile.rows(), tile.columns(), tile.threads(), bytes, manyRows)))
    return failure();
  PointEmitter::Scope scope(emitter);
  Type element = cast<MemRefType>(a.buffer.getType()).getElementType();
  Value shared = viewShared(tile.stages * stageSize, element);
  SmallVector<Copies, 2> copies = {
      prepareCopies(a, matmul.rows, corner.row, tile.rows(), tile, /*base=*/0)};
  int64_t baseB = tile.rows() * tile.depth;
  std::optional<Computed> computed;
  if (b) {
    copies.push_back(prepareCopies(*b, matmul.columns, corner.column,
                                   tile.columns(), tile, baseB));
  } else {
    FailureOr<Computed> prepared = prepareUnits(*units, tile, baseB);
    if (failed(prepared))
      return failure();
    computed = *prepared;
  }
  int64_t steps = llvm::divideCeil(a.line, tile.depth);
  // Empty groups are committed too, since waits count groups.
  auto endGroup = [&] { NVVM::CpAsyncCommitGroupOp::create(builder, loc); };
  auto waitFor = [&](int32_t others) {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, others);
    gpu::BarrierOp::create(builder, loc);
  };
  for (int64_t ahead = 0; ahead + 1 < tile.stages; ++ahead) {
    if (ahead < steps) {
      Value stage = number(ahead * stageSize);
      for (const Copies &some : copies)
        copyStage(some, shared, stage, number(ahead), tile);
      if (computed)
        storeUnits(*computed, computeUnits(*computed, number(ahead), tile),
                   shared, stage);
    }
    endGroup();
  }
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  int64_t count = tile.countM * tile.countN * 4;
  SmallVector<Value> carried(count, zero);
  // The offsets of the stage to multiply and the stage to copy.
  carried.push_back(number(0));
  carried.push_back(number((tile.stages - 1) * stageSize));
  auto after = [&](Value stage) -> Value {
    Value next = emitter.add(stage, number(stageSize));
    Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, number(tile.stages * stageSize));
    return arith::SelectOp::create(builder, loc, isEnd, number(0), next);
  };
  auto lastOp = [&] {
    return builder.getInsertionBlock()->empty()
               ? nullptr
               : &builder.getInsertionBlock()->back();
  };
  auto lastOf = [&](Value step) -> Value {
    return arith::MinUIOp::create(builder, loc, step, number(steps - 1));
  };
  // Moves computations on loaded values after the product.
  auto computeBehind = [&](Operation *before, Operation *behind) {
    Block *block = builder.getInsertionBlock();
    Operation *from = before->getNextNode(), *to = behind->getNextNode();
    readFirst(block, from, to);
    Operation *last = nullptr;
    for (Operation *op = from; op != to; op = op->getNextNode())
      if (isa<memref::LoadOp, vector::LoadOp>(op))
        last = op;
    if (!last)
      return;
    for (Operation *op = last->getNextNode(), *next; op != to; op = next) {
      next = op->getNextNode();
      op->moveBefore(block, builder.getInsertionPoint());
    }
  };
  SmallVector<Value> sums =
      emitter.loop(number(0), number(steps), number(1), carried,
                   [&](Value step, ValueRange values) {
                     Value stage = values[count], free = values[count + 1];
                     waitFor(tile.stages - 2);
                     Value ahead = emitter.add(step, number(tile.stages - 1));
                     onlyIf(isLess(ahead, number(steps)), [&] {
                       for (const Copies &some : copies)
                         copyStage(some, shared, free, ahead, tile);
                     });
                     endGroup();
                     Operation *before = lastOp();
                     SmallVector<Value> made;
                     if (computed)
                       made = computeUnits(*computed, lastOf(ahead), tile);
                     Operation *behind = lastOp();
                     SmallVector<Value> next =
                         multiplyStage(tile, shared, stage, !b || b->alongDepth,
                                       values.take_front(count));
                     if (computed && !hasFailed) {
                       computeBehind(before, behind);
                       storeUnits(*computed, made, shared, free);
                     }
                     next.push_back(after(stage));
                     next.push_back(after(free));
                     return next;
                   });
  waitFor(0);
  Value stored = storeSums(tile, ArrayRef<Value>(sums).take_front(count));
  gpu::BarrierOp::create(builder, loc);
  finish(stored, tile.warpsK, tile.rows(), tile.columns(), pitch);
  return failure(hasFailed);
}
