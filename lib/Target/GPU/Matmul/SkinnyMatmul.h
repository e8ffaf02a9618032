//===- SkinnyMatmul.h - skinny matmuls --------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product of a few rows with a computed matrix, such as a dequantized one.
// Performance depends on how fast the inputs of the matrix, which are small,
// can be read. They are copied to shared memory as they are and become tensor
// core operands in registers:
//
//   matrix, 16 columns at a time     x    rows, 8 at a time
//   lane t of 4 has of each unit          the same elements of its row
//   a quarter of the last axis
//
// The depth can be summed in any order, so elements need not be rearranged: the
// hardware gets consecutive elements of a lane together. The scale of a unit is
// applied to its sums.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_SKINNYMATMUL_H
#define RELAX_TARGET_GPU_MATMUL_SKINNYMATMUL_H

#include "Target/GPU/Matmul/MatmulEmitter.h"

namespace mlir::relax {

/// A matrix in memory, or an input that one is computed from, as a block copies
/// it: some elements of each line per stage.
struct StagedLines {
  Value tensor, buffer;
  /// Whether it has the last axis of the depth; otherwise there is one number
  /// per unit.
  bool hasLanes;
  /// Elements per line, and per unit of a line.
  int64_t length, perUnit;
  Type element;

  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Bytes per copy for a stage of `units` units.
  int64_t copiedBytes(int64_t units) const;
  /// The distance of lines in shared memory in bytes, chosen so that the lanes
  /// of a warp read different banks.
  int64_t pitch(int64_t lanes, int64_t units) const;
};

/// A matmul that this strategy supports.
struct SkinnyMatmul {
  /// Lanes that share a unit, and elements per lane in a step.
  static constexpr int64_t quad = 4, perStep = 4;

  static std::optional<SkinnyMatmul> match(const KernelGraph &graph,
                                           const Matmul &matmul, const Panel &a,
                                           const DepthUnits &units);

  linalg::GenericOp decode;
  /// The inputs of `decode`.
  SmallVector<StagedLines> inputs;
  StagedLines rows;
  /// The loops of `decode` within a unit, and their sizes.
  SmallVector<std::pair<unsigned, int64_t>> within;
  /// Consecutive elements per lane, elements per unit, and number of units.
  int64_t lanes, unit, count;
};

struct SkinnyTile {
  /// The shape of a tensor core operation.
  static constexpr int64_t blockColumns = 16, blockRows = 8;

  /// Chooses a tile for up to `rows` rows, a multiple of 8. `large`: the GPU
  /// has 227 KiB of shared memory per block.
  static SkinnyTile choose(const SkinnyMatmul &product, int64_t rows,
                           int64_t columns, bool large);

  int64_t rows, columns;
  /// Warps, which divide the depth of a stage, and units per warp.
  int64_t warps, units;
  int64_t stages;

  int64_t threads() const { return 32 * warps; }
  int64_t unitsOfStage() const { return warps * units; }
  int64_t stageBytes(const SkinnyMatmul &product) const;
  /// The distance of rows of sums; every second row starts in a different bank.
  int64_t pitch() const { return columns + 4; }
  /// Required shared memory in bytes: two stages, later the sums of all warps.
  int64_t leastBytes(const SkinnyMatmul &product) const;
};

/// Emits a skinny matmul for up to as many rows as the tile has.
LogicalResult emitSkinny(const KernelGraph &graph, const Matmul &matmul,
                         OpBuilder &builder, Location loc,
                         DenseMap<Value, Storage> &storage, int64_t lanes,
                         const SkinnyMatmul &product, const SkinnyTile &tile);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_SKINNYMATMUL_H
