//===- ComputedWarpgroups.cpp - computed operands for warpgroups ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand that is computed, such as a dequantized matrix, cannot be copied
// as it is. Instead, dedicated producer warpgroups compute it stage by stage
// while the others multiply (see WarpgroupMatmul.cpp), and store it in the
// layout that a copy would produce. Its inputs are loaded a few steps ahead.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/ComputedWarpgroups.h"

#include "Target/GPU/Matmul/MatmulEmitter.h"
#include "Target/GPU/Matmul/Warpgroups.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Choice of a tile
//===----------------------------------------------------------------------===//

int64_t relax::producerThreads(const WarpgroupTile &tile) {
  // Use two producer warpgroups if there are enough registers.
  return tile.columns >= 128 && tile.warpgroups <= 2 ? 2 * warpgroupThreads
                                                     : warpgroupThreads;
}

WarpgroupTile relax::chooseComputedTile(int64_t batches, int64_t rows,
                                        int64_t columns) {
  // Cost model per step of the depth: products per ns, elements that a
  // warpgroup computes per ns, and the minimum time in ns; number of concurrent
  // blocks.
  constexpr double products = 3400, elements = 16, leastStep = 180;
  constexpr double blocks = 132;
  WarpgroupTile best = {};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t warpgroups : {4, 2, 1})
    for (int64_t width : {128, 64}) {
      WarpgroupTile tile = {warpgroups, width, 1};
      double tiles = batches * llvm::divideCeil(rows, tile.rows()) *
                     llvm::divideCeil(columns, width);
      double made = width * warpgroupLine / elements * warpgroupThreads /
                    producerThreads(tile);
      double step = std::max(
          {tile.rows() * width * warpgroupLine / products, made, leastStep});
      double cost = std::ceil(tiles / blocks) * step;
      if (cost < least)
        best = tile, least = cost;
    }
  return best;
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// Pipelines a loop so that it loads the inputs of a later step before it
/// processes its own.
static LogicalResult readAhead(OpBuilder &builder, scf::ForOp loop,
                               unsigned steps) {
  moveLoopInvariantCode(loop);
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions slice;
  slice.inclusive = true;
  slice.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  for (Operation &op : *loop.getBody())
    if (isa<memref::LoadOp, vector::LoadOp>(op))
      (void)getBackwardSlice(&op, &needed, slice);
  scf::PipeliningOption options;
  options.getScheduleFn =
      [&](scf::ForOp, std::vector<std::pair<Operation *, unsigned>> &schedule) {
        for (bool isFirst : {true, false})
          for (Operation &op : loop.getBody()->without_terminator())
            if (needed.contains(&op) == isFirst)
              schedule.emplace_back(&op, isFirst ? 0 : steps);
      };
  IRRewriter rewriter(builder);
  rewriter.setInsertionPoint(loop);
  FailureOr<scf::ForOp> ahead = scf::pipelineForLoop(rewriter, loop, options);
  if (failed(ahead))
    return failure();
  // Unroll, so that loaded values stay in their registers; register-to-register
  // copies would wait for the loads.
  return steps > 1 ? LogicalResult(loopUnrollByFactor(*ahead, steps))
                   : success();
}

/// The number of elements in a unit.
static int64_t sizeOfUnit(const Matmul &matmul, const DepthUnits &units) {
  int64_t size = 1;
  SmallVector<int64_t> ranges = matmul.stage().op.getStaticLoopRanges();
  for (auto [loop, axis] : llvm::enumerate(matmul.stage().axes))
    if (llvm::is_contained(units.within, axis))
      size *= ranges[loop];
  return std::max(size, units.lanes);
}

bool MatmulEmitter::canComputeForWarpgroups(const Matmul &matmul,
                                            const DepthUnits &units) {
  // Units must be contiguous along the depth, and fill whole lines.
  ArrayRef<Axis> last = ArrayRef(matmul.depth).take_back(units.within.size());
  int64_t size = sizeOfUnit(matmul, units);
  return last == ArrayRef<Axis>(units.within) && size > 0 &&
         units.lanes % chunk == 0 && warpgroupLine % size == 0;
}

LogicalResult MatmulEmitter::produceComputed(const WarpgroupTile &tile,
                                             const Boxes &a,
                                             const DepthUnits &units,
                                             Value barriers, Value base,
                                             int64_t steps) {
  WarpgroupBuilder warpgroups(builder, loc);
  int64_t stages = warpgroupStages(tile.stageBytes());
  int64_t warps = producerThreads(tile) / 32;
  // Describe the stages of the matrix as a tile, computed by the threads of the
  // producers in lines of one step.
  Tile part = {1, warps, 1, 1, tile.columns / (8 * warps), warpgroupLine, 1};
  Value outer = thread;
  thread = subtract(thread, number(tile.threads()));
  auto restore = llvm::make_scope_exit([&] { thread = outer; });
  FailureOr<Computed> computed = prepareUnits(units, part, /*base=*/0);
  if (failed(computed))
    return failure();
  Type element =
      cast<MemRefType>(a.map.getDefiningOp()->getOperand(0).getType())
          .getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value shared = viewShared(
      (warpgroupAlignment + stages * tile.stageBytes()) / bytes, element);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 number(0));
  };
  Value isFirst = isZero(thread), isLeader = isZero(remainder(thread, 32));
  int64_t boxBytes = tile.rows() * warpgroupLineBytes;
  Value isOdd = arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<Value> last = emitter.loop(
      number(0), number(steps), number(1), {number(0), isOdd},
      [&](Value step, ValueRange values) {
        Value stage = values[0], parity = values[1];
        warpgroups.wait(barriers, emitter.add(stage, number(stages)), parity);
        Value start = emitter.add(
            base, emitter.multiply(stage, number(tile.stageBytes())));
        onlyIf(isFirst, [&] {
          warpgroups.arriveExpecting(barriers, stage, boxBytes);
          copyBoxes(a, step, barriers, stage, start);
        });
        Value place = divideBy(emitter.add(start, number(boxBytes)), bytes);
        for (const Unit &unit : computed->units) {
          // Store immediately to save registers.
          Computed one = {units, {unit}, computed->size};
          SmallVector<Value> made = computeUnits(one, step, part);
          if (hasFailed)
            return SmallVector<Value>{stage, parity};
          storeUnits(one, made, shared, place);
        }
        // Make the stores visible to the tensor cores.
        MLIRContext *context = builder.getContext();
        NVVM::FenceProxyOp::create(
            builder, loc,
            NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
            NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
        NVVM::SyncWarpOp::create(builder, loc,
                                 arith::ConstantIntOp::create(
                                     builder, loc, builder.getI32Type(), -1));
        onlyIf(isLeader, [&] { warpgroups.arrive(barriers, stage); });
        return advance(stage, parity, stages);
      });
  if (hasFailed)
    return failure();
  auto loop = cast<scf::ForOp>(last.front().getDefiningOp());
  // Load ahead as many steps as there are registers for; the more threads, the
  // fewer registers each.
  constexpr int64_t words = 34;
  int64_t each = llvm::divideCeil(units.matrixBytes, 4);
  if (!units.within.empty())
    ++each; // the value that a unit shares
  int64_t most = tile.warpgroups > 2 ? 2 : 4;
  int64_t ahead = std::clamp<int64_t>(
      words / (each * static_cast<int64_t>(computed->units.size())), 1, most);
  ahead = std::min(ahead, steps - 1);
  return ahead ? readAhead(builder, loop, ahead) : success();
}
