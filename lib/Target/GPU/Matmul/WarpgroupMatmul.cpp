//===- WarpgroupMatmul.cpp - matmuls with warpgroups ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp of a block copies both operands into a ring buffer, one stage at a
// time; the others multiply, with 64 rows per warpgroup. Each stage has two
// barriers, one to signal that it is full and one that it is free:
//
//   copies      wait until it is free  |  copy, which completes `full`
//   products    wait until it is full  |  multiply, then arrive at `free`
//
// If there are few tiles, the blocks of a cluster can divide the depth
// (split-K); each block then adds up a part of the tile from the shared memory
// of all of them.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/ComputedWarpgroups.h"
#include "Target/GPU/Matmul/MatmulEmitter.h"
#include "Target/GPU/Matmul/Warpgroups.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

/// Rows per warpgroup.
static constexpr int64_t warpgroupRows = 64;
/// The maximum split-K factor. Larger factors are faster for up to 128 rows,
/// but gave wrong sums if two blocks shared a multiprocessor, so they stay
/// disabled until that is understood.
static constexpr int64_t maxSplit = 1;
static int64_t pitchOf(const WarpgroupTile &tile) {
  return tile.columns + TileEmitter::linePadding;
}

//===----------------------------------------------------------------------===//
// Choice of a tile
//===----------------------------------------------------------------------===//

/// Concurrent blocks if each uses all shared memory. Clusters stay within parts
/// of the GPU, which they cannot fill.
static double blocksAtOnce(int64_t split) {
  return split <= 2 ? 132 : split == 4 ? 112 : 96;
}

/// Estimated time of a matmul in ns: waves of blocks that are limited by
/// products or reads, but at least the time to read the matrix from memory.
static double costOf(const WarpgroupTile &tile, int64_t batches, int64_t rows,
                     int64_t columns, int64_t depth) {
  // Per ns: products and bytes of a block, and bytes of the whole GPU.
  constexpr double products = 3400, bytes = 105, allBytes = 3800;
  constexpr double start = 2000, leastStep = 180;
  double sums = tile.rows() * tile.columns;
  double tiles = batches * llvm::divideCeil(rows, tile.rows()) *
                 llvm::divideCeil(columns, tile.columns);
  double waves = std::ceil(tiles * tile.split / blocksAtOnce(tile.split));
  int64_t steps =
      llvm::divideCeil(llvm::divideCeil(depth, warpgroupLine), tile.split);
  double step = std::max(
      {sums * warpgroupLine / products, tile.stageBytes() / bytes, leastStep});
  double end =
      tile.split == 1 ? 0.05 * sums : 1000 + (0.05 + 0.065 * tile.split) * sums;
  double blocks = waves * (steps * step + start + end);
  double memory = start + 2.0 * batches * columns * depth / allBytes;
  return std::max(blocks, memory) + 0.1 * blocks;
}

WarpgroupTile WarpgroupTile::choose(int64_t batches, int64_t rows,
                                    int64_t columns, int64_t depth) {
  WarpgroupTile best = {};
  double least = std::numeric_limits<double>::infinity();
  int64_t steps = llvm::divideCeil(depth, warpgroupLine);
  for (int64_t warpgroups : {2, 1})
    for (int64_t width : {256, 128, 64})
      for (int64_t split = 1; split <= maxSplit; split *= 2) {
        // Each block must have a part of the depth.
        if ((split - 1) * llvm::divideCeil(steps, split) >= steps)
          continue;
        WarpgroupTile tile = {warpgroups, width, split};
        double cost = costOf(tile, batches, rows, columns, depth);
        if (cost < least)
          best = tile, least = cost;
      }
  return best;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A tensor map has one dimension for all of `outer`, and one for the depth.
static unsigned mapRank(const Matmul &matmul, const Panel &panel,
                        ArrayRef<Axis> outer) {
  return panel.dims.size() - outer.size() - matmul.depth.size() + 2;
}

bool MatmulEmitter::canUseWarpgroups(const Matmul &matmul, const Panel &a,
                                     const std::optional<Panel> &b,
                                     const std::optional<DepthUnits> &units) {
  if (!a.alongDepth || a.width != 8 ||
      mapRank(matmul, a, matmul.rows) > maxTensorMapRank)
    return false;
  if (!b)
    return units && canComputeForWarpgroups(matmul, *units);
  return matmul.depth.size() == 1 && b->width == 8 &&
         mapRank(matmul, *b, matmul.columns) <= maxTensorMapRank;
}

/// The first row that a warpgroup computes if it should start at `row`. Boxes
/// that are partly out of bounds are slow to copy, so the last ones overlap
/// their predecessors instead.
Value MatmulEmitter::firstRow(Value row, int64_t rows) {
  Value size = count(matmul.rows);
  if (std::optional<int64_t> known = getConstantIntValue(size);
      known && *known % rows == 0)
    return row;
  Value last = subtract(
      builder.createOrFold<arith::MaxUIOp>(loc, size, number(warpgroupRows)),
      number(warpgroupRows));
  return builder.createOrFold<arith::MinUIOp>(loc, row, last);
}

MatmulEmitter::Boxes MatmulEmitter::prepareBoxes(const Panel &panel,
                                                 ArrayRef<Axis> outer,
                                                 ArrayRef<Value> starts,
                                                 int64_t lines,
                                                 int64_t offset) {
  Boxes boxes;
  boxes.alongDepth = panel.alongDepth;
  boxes.offset = offset;
  boxes.lines = lines;
  boxes.starts = llvm::to_vector(starts);
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> box;
  for (auto [dim, axis] : llvm::enumerate(panel.dims)) {
    bool isOuter = llvm::is_contained(outer, axis);
    bool isDepth = llvm::is_contained(matmul.depth, axis);
    if ((isOuter && axis != outer.front()) ||
        (isDepth && axis != matmul.depth.front())) {
      groups.back().push_back(dim);
      continue;
    }
    if (isOuter) {
      boxes.outerDim = groups.size();
      box.push_back(lines);
      boxes.at.push_back(Value());
    } else if (isDepth) {
      boxes.depthDim = groups.size();
      box.push_back(warpgroupLine);
      boxes.at.push_back(Value());
    } else {
      box.push_back(1);
      boxes.at.push_back(corner.batch[axis].value);
    }
    groups.push_back({static_cast<int64_t>(dim)});
  }
  OpBuilder::InsertionGuard outside(builder);
  builder.setInsertionPoint(launch);
  Value buffer = panel.buffer;
  if (groups.size() < panel.dims.size())
    buffer = memref::CollapseShapeOp::create(builder, loc, buffer, groups);
  boxes.map = WarpgroupBuilder(builder, loc).makeTensorMap(buffer, box);
  return boxes;
}

//===----------------------------------------------------------------------===//
// Roles of warps
//===----------------------------------------------------------------------===//

/// Starts to copy the operands of a step to the stage at `start`.
void MatmulEmitter::copyBoxes(const Boxes &boxes, Value step, Value barriers,
                              Value stage, Value start) {
  SmallVector<Value> at = boxes.at;
  at[boxes.depthDim] = emitter.multiply(step, number(warpgroupLine));
  for (auto [index, outer] : llvm::enumerate(boxes.starts)) {
    at[boxes.outerDim] = outer;
    int64_t ahead = boxes.offset + index * boxes.lines * warpgroupLineBytes;
    WarpgroupBuilder(builder, loc)
        .copyBox(boxes.map, at, barriers, stage,
                 emitter.add(start, number(ahead)));
  }
}

void MatmulEmitter::produce(const WarpgroupTile &tile, ArrayRef<Boxes> operands,
                            Value barriers, Value base, Value firstStep,
                            Value endStep) {
  WarpgroupBuilder warpgroups(builder, loc);
  int64_t stages = warpgroupStages(tile.stageBytes());
  Value isOdd = arith::ConstantIntOp::create(builder, loc, 1, 1);
  emitter.loop(firstStep, endStep, number(1), {number(0), isOdd},
               [&](Value step, ValueRange values) {
                 Value stage = values[0], parity = values[1];
                 warpgroups.wait(barriers, emitter.add(stage, number(stages)),
                                 parity);
                 warpgroups.arriveExpecting(barriers, stage, tile.stageBytes());
                 Value start = emitter.add(
                     base, emitter.multiply(stage, number(tile.stageBytes())));
                 for (const Boxes &boxes : operands)
                   copyBoxes(boxes, step, barriers, stage, start);
                 return advance(stage, parity, stages);
               });
}

/// Returns the next stage of the ring buffer and the parity of its phase.
SmallVector<Value> MatmulEmitter::advance(Value stage, Value parity,
                                          int64_t stages) {
  Value next = emitter.add(stage, number(1));
  Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, number(stages));
  return {arith::SelectOp::create(builder, loc, isEnd, number(0), next),
          arith::XOrIOp::create(builder, loc, parity, isEnd)};
}

Value MatmulEmitter::consume(const WarpgroupTile &tile, const Boxes &a,
                             bool bAlongDepth, Value barriers, Value base,
                             Value warp, Value steps) {
  WarpgroupBuilder warpgroups(builder, loc);
  int64_t stages = warpgroupStages(tile.stageBytes());
  Type element =
      cast<MemRefType>(a.map.getDefiningOp()->getOperand(0).getType())
          .getElementType();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        remainder(thread, 32), number(0));
  Value rows =
      emitter.multiply(divideBy(warp, 4), number(64 * warpgroupLineBytes));
  auto address = [&](Value start, int64_t offset) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      emitter.add(start, number(offset)));
  };
  Value isEven = arith::ConstantIntOp::create(builder, loc, 0, 1);
  SmallVector<Value> last = emitter.loop(
      number(0), steps, number(1),
      {warpgroups.zeroSums(tile.columns), number(0), isEven,
       number(stages - 1)},
      [&](Value step, ValueRange values) {
        Value sums = values[0], stage = values[1], parity = values[2];
        warpgroups.wait(barriers, stage, parity);
        Value start = emitter.add(
            base, emitter.multiply(stage, number(tile.stageBytes())));
        WarpgroupMatrix lhs = {address(emitter.add(start, rows), a.offset),
                               a.alongDepth, 0};
        WarpgroupMatrix rhs = {address(start, tile.rows() * warpgroupLineBytes),
                               bAlongDepth, warpgroupLine * warpgroupLineBytes};
        warpgroups.beginProducts();
        for (int64_t part = 0; part < warpgroupLine / 16; ++part)
          sums =
              warpgroups.multiply(sums, lhs, rhs, part, element, tile.columns);
        warpgroups.endProducts();
        // The products of the previous stage are done.
        warpgroups.waitForProducts(1);
        Value isLater = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne, step, number(0));
        onlyIf(both(isFirst, isLater), [&] {
          warpgroups.arrive(barriers, emitter.add(values[3], number(stages)));
        });
        SmallVector<Value> next = advance(stage, parity, stages);
        return SmallVector<Value>{sums, next[0], next[1], stage};
      });
  warpgroups.waitForProducts(0);
  return last[0];
}

void MatmulEmitter::finishWarpgroups(const WarpgroupTile &tile, Value sums,
                                     Value warp, Value part) {
  WarpgroupBuilder warpgroups(builder, loc);
  int64_t pitch = pitchOf(tile), threads = tile.threads();
  Value lane = remainder(thread, 32);
  // The products have read the stages, which the sums now overwrite.
  warpgroups.barrier(1, threads);
  Value stored = viewShared(tile.rows() * pitch, builder.getF32Type());
  Value row =
      emitter.add(emitter.multiply(warp, number(16)), divideBy(lane, 4));
  Value start = emitter.add(emitter.multiply(row, number(pitch)),
                            emitter.multiply(remainder(lane, 4), number(2)));
  for (int64_t pair = 0; pair < tile.columns / 8; ++pair)
    for (int64_t half = 0; half < 2; ++half)
      vector::StoreOp::create(
          builder, loc, warpgroups.sumsOf(sums, pair, half), stored,
          emitter.add(start, number(half * 8 * pitch + pair * 8)),
          /*nontemporal=*/false, llvm::MaybeAlign(8));
  if (tile.split == 1) {
    warpgroups.barrier(1, threads);
    return finishTile(thread, number(threads), tile.rows(), tile.columns, pitch,
                      /*rowsAtOnce=*/warpgroupRows,
                      [&](Value place) { return loadSums(stored, place); });
  }
  warpgroups.clusterBarrier();
  SmallVector<Value> parts;
  for (int64_t i = 0; i < tile.split; ++i)
    parts.push_back(warpgroups.addressInCluster(stored, i));
  Value first = emitter.add(emitter.multiply(part, number(threads)), thread);
  finishTile(first, number(threads * tile.split), tile.rows(), tile.columns,
             pitch, /*rowsAtOnce=*/warpgroupRows, [&](Value place) {
               Value sum;
               for (Value from : parts) {
                 Value some = warpgroups.loadInCluster(from, place, sumsType());
                 sum = sum ? arith::AddFOp::create(builder, loc, sum, some)
                           : some;
               }
               return sum;
             });
  // Other blocks may still read this block's sums.
  warpgroups.clusterBarrier();
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

LogicalResult MatmulEmitter::emit(const WarpgroupTile &tile, const Panel &a,
                                  const std::optional<Panel> &b,
                                  const std::optional<DepthUnits> &units) {
  int64_t stages = warpgroupStages(tile.stageBytes());
  int64_t bytes =
      warpgroupAlignment +
      std::max(stages * tile.stageBytes(), tile.rows() * pitchOf(tile) * 4);
  OpBuilder::InsertionGuard guard(builder);
  // The last warp copies; for a computed operand, there are several producer
  // warps.
  int64_t others = b ? 32 : producerThreads(tile);
  if (failed(begin(tile.rows(), tile.columns, tile.threads() + others, bytes,
                   /*manyRows=*/true, tile.split)))
    return failure();
  blockThreads = tile.threads();
  if (tile.split > 1)
    launch->setDiscardableAttr(
        "nvvm.cluster_dim",
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(tile.split), 1, 1}));
  PointEmitter::Scope scope(emitter);
  WarpgroupBuilder warpgroups(builder, loc);
  // Boxes of rows, one per warpgroup, and boxes of columns.
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < tile.warpgroups; ++i)
    rows.push_back(firstRow(emitter.add(corner.row, number(i * warpgroupRows)),
                            tile.rows()));
  int64_t width = !b || b->alongDepth ? tile.columns : warpgroupLine;
  for (int64_t i = 0; i < tile.columns; i += width)
    columns.push_back(emitter.add(corner.column, number(i)));
  SmallVector<Boxes, 2> operands = {
      prepareBoxes(a, matmul.rows, rows, warpgroupRows, /*offset=*/0)};
  if (b)
    operands.push_back(prepareBoxes(*b, matmul.columns, columns, width,
                                    tile.rows() * warpgroupLineBytes));
  Value barriers = warpgroups.createBarriers(2 * stages);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 number(0));
  };
  onlyIf(isZero(thread), [&] {
    for (const Boxes &boxes : operands)
      warpgroups.prefetch(boxes.map);
    // Arrivals: one for copies, plus one per warp that computes.
    warpgroups.initBarriers(barriers, 0, stages, b ? 1 : 1 + others / 32);
    warpgroups.initBarriers(barriers, stages, stages, 4 * tile.warpgroups);
    warpgroups.endInit();
  });
  gpu::BarrierOp::create(builder, loc);
  // The range of the depth that this block processes.
  int64_t steps = llvm::divideCeil(a.line, warpgroupLine);
  int64_t each = llvm::divideCeil(steps, tile.split);
  Value part = remainder(launch.getBlockIds().x, tile.split);
  Value first = emitter.multiply(part, number(each));
  Value end = builder.createOrFold<arith::MinUIOp>(
      loc, emitter.add(first, number(each)), number(steps));
  Value start = warpgroups.dynamicMemory();
  Value ahead = remainder(subtract(number(0), start), warpgroupAlignment);
  Value warp = warpgroups.warpOf(thread);
  auto roles =
      scf::IfOp::create(builder, loc, isLess(warp, number(4 * tile.warpgroups)),
                        /*withElseRegion=*/true);
  builder.setInsertionPoint(roles.elseBlock()->getTerminator());
  if (b)
    onlyIf(isZero(remainder(thread, 32)),
           [&] { produce(tile, operands, barriers, ahead, first, end); });
  else if (failed(produceComputed(tile, operands[0], *units, barriers, ahead,
                                  steps)))
    return failure();
  // Producers must also take part in the cluster barriers that exchange sums.
  for (int64_t i = 0; i < (tile.split > 1 ? 2 : 0); ++i)
    warpgroups.clusterBarrier();
  builder.setInsertionPoint(roles.thenBlock()->getTerminator());
  PointEmitter::Scope inner(emitter);
  Value sums = consume(tile, operands[0], !b || b->alongDepth, barriers,
                       emitter.add(start, ahead), warp, subtract(end, first));
  finishWarpgroups(tile, sums, warp, part);
  return failure(hasFailed);
}
