//===- FewRows.h - computed matrices times few rows -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of some rows with a matrix that is computed, as a quantised one:
// what counts is how fast that is read, which is small. What it is computed
// from is copied to the memory of the block as it is, and becomes operands of
// tensor cores in registers:
//
//   matrix, 16 columns at a time     x    rows, 8 at a time
//   lane t of 4 has of each unit          the same elements of its row
//   a quarter of the last axis
//
// A sum over the depth may be in any order, so elements stay where they lie:
// those of a lane that follow each other are what the hardware takes together.
// The scale of a unit multiplies its sums.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_FEWROWS_H
#define RELAX_TARGET_GPU_MATMUL_FEWROWS_H

#include "Target/GPU/Matmul/MatmulEmitter.h"

namespace mlir::relax {

/// A matrix in memory, or what one is computed from, as a block copies it: so
/// many elements of each line in a stage.
struct StagedLines {
  Value tensor, buffer;
  /// Whether it has the last axis of the depth; else one number for each unit.
  bool hasLanes;
  /// Elements of a line: all, of a unit.
  int64_t length, perUnit;
  Type element;

  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// How many can be copied at once, of so many units.
  int64_t copiedBytes(int64_t units) const;
  /// How far lines are from each other in the memory of a block, in bytes, so
  /// that what the lanes of a warp read is in banks of its own.
  int64_t pitch(int64_t lanes, int64_t units) const;
};

/// What a product must be for this.
struct FewRows {
  /// Lanes that share a unit, and elements that one of them has in a step.
  static constexpr int64_t quad = 4, perStep = 4;

  static std::optional<FewRows> match(const KernelGraph &graph,
                                      const Matmul &matmul, const Panel &a,
                                      const DepthUnits &units);

  linalg::GenericOp decode;
  /// Of the inputs of `decode`.
  SmallVector<StagedLines> inputs;
  StagedLines rows;
  /// The loops of `decode` within a unit, and their sizes.
  SmallVector<std::pair<unsigned, int64_t>> within;
  /// Elements that a lane has side by side; elements and number of units.
  int64_t lanes, unit, count;
};

struct FewRowsTile {
  /// What tensor cores take at once.
  static constexpr int64_t blockColumns = 16, blockRows = 8;

  /// For up to so many rows, a multiple of 8. `large`: a GPU whose blocks can
  /// have 227 KiB of memory.
  static FewRowsTile choose(const FewRows &product, int64_t rows,
                            int64_t columns, bool large);

  int64_t rows, columns;
  /// Warps, which share the depth of a stage, with so many units each.
  int64_t warps, units;
  int64_t stages;

  int64_t threads() const { return 32 * warps; }
  int64_t unitsOfStage() const { return warps * units; }
  int64_t stageBytes(const FewRows &product) const;
  /// Of sums, so that rows that follow each other by two start in other banks.
  int64_t pitch() const { return columns + 4; }
  /// What a block needs, at least: two stages, later the sums of its warps.
  int64_t leastBytes(const FewRows &product) const;
};

/// For as many rows as the tile has.
LogicalResult emitFewRows(const KernelGraph &graph, const Matmul &matmul,
                          OpBuilder &builder, Location loc,
                          DenseMap<Value, Storage> &storage, int64_t lanes,
                          const FewRows &product, const FewRowsTile &tile);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_FEWROWS_H
