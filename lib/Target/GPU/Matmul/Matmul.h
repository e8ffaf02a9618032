//===- Matmul.h - matches matmuls and their operands ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest whose first stage is a contraction of two operands,
//
//   out[batch, rows, columns] += a[batch, rows, k] * b[batch, columns, k]
//
// with dimensions in any order, followed by element-wise stages on the same
// points. Batch, rows, columns and depth may each consist of several axes.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_MATMUL_H
#define RELAX_TARGET_GPU_MATMUL_MATMUL_H

#include "Target/Schedule/KernelGraph.h"
#include "Target/Schedule/PointEmitter.h"

namespace mlir::relax {

/// Whether the body of `op` adds the product of its two inputs.
bool addsProduct(linalg::GenericOp op);

struct Matmul {
  /// Matches a nest; none if it is not a matmul.
  static std::optional<Matmul> match(const Nest &nest);

  const Stage &stage() const { return nest->stages.front(); }
  Value operand(unsigned number) const {
    return stage().op->getOperand(number);
  }

  const Nest *nest;
  /// The operands of the contraction that have the rows and the columns.
  unsigned a = 0, b = 1;
  SmallVector<Axis> batch, rows, columns;
  /// The reduction axes, in the order of `b`.
  SmallVector<Axis> depth;
};

/// A contiguous matrix in memory, or a batch of them.
struct Panel {
  /// Matches operand `number`, whose lines are indexed by `outer` (rows or
  /// columns) or, if transposed, by the depth. None if it is not in memory or
  /// its lines are not equidistant. `storage` has the results of earlier nests.
  static std::optional<Panel> match(const Matmul &matmul, unsigned number,
                                    ArrayRef<Axis> outer,
                                    const DenseMap<Value, Storage> &storage);

  Value buffer;
  /// The axes of the operand's dimensions.
  SmallVector<Axis> dims;
  /// Their static sizes.
  SmallVector<int64_t> shape;
  /// Whether lines run along the depth or along `outer`; elements per line.
  bool alongDepth = true;
  int64_t line = 1;
  /// Elements per copy: a power of two, at most 8.
  int64_t width = 1;
};

/// How a thread divides the depth of a matmul.
struct DepthUnits {
  /// None if the axes of a unit are unknown or too long. The results of
  /// `prepared`, which the rows are read from, are computed where they are
  /// used.
  static std::optional<DepthUnits> choose(const KernelGraph &graph,
                                          const Matmul &matmul,
                                          const Nest *prepared = nullptr);

  /// Elements of the last axis per vector.
  int64_t lanes = 1;
  /// The axes that count units, and the axes within a unit. The last axis may
  /// be in either list.
  SmallVector<Axis> across, within;
  /// Bytes of both operands that are read for a unit.
  int64_t vectorBytes = 0, matrixBytes = 0;
};

/// The rows, columns and depth that a block processes per stage, and how its
/// warps divide them.
struct Tile {
  /// Warps along rows, columns and depth.
  int64_t warpsM, warpsN, warpsK;
  /// Fragments of 16 rows and of 8 columns per warp.
  int64_t countM, countN;
  /// Depth of a stage, and number of stages in memory.
  int64_t depth, stages;

  int64_t rows() const { return warpsM * countM * 16; }
  int64_t columns() const { return warpsN * countN * 8; }
  int64_t threads() const { return warpsM * warpsN * warpsK * 32; }
};

/// A tile for warpgroups; blocks of a cluster may split the depth.
struct WarpgroupTile {
  /// Warpgroups, each of which computes 64 rows.
  int64_t warpgroups;
  int64_t columns;
  /// Split-K: the number of blocks of a cluster that divide the depth.
  int64_t split;

  bool operator==(const WarpgroupTile &other) const {
    return warpgroups == other.warpgroups && columns == other.columns &&
           split == other.split;
  }
  int64_t rows() const { return 64 * warpgroups; }
  /// Threads that multiply.
  int64_t threads() const { return 128 * warpgroups; }
  /// A fast tile for a matmul of this size, as far as is known.
  static WarpgroupTile choose(int64_t batches, int64_t rows, int64_t columns,
                              int64_t depth);
  /// Bytes of both operands in a stage.
  int64_t stageBytes() const { return (rows() + columns) * 128; }
};

/// The rows, columns and depth that a block processes per stage if each thread
/// computes `countM` by `countN` points, in groups of four.
struct ScalarTile {
  int64_t threadsM, threadsN;
  int64_t countM, countN;
  int64_t depth;

  int64_t rows() const { return threadsM * countM; }
  int64_t columns() const { return threadsN * countN; }
  int64_t threads() const { return threadsM * threadsN; }

  /// Padding of lines of the operands and, later, of the sums.
  static constexpr int64_t padding = 4;
  int64_t sharedBytes() const {
    return 4 * std::max(depth * (rows() + columns() + 2 * padding),
                        rows() * (columns() + padding));
  }
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_MATMUL_H
