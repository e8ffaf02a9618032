//===- Matmul.h - nests that multiply matrices ------------------*- C++ -*-===//
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
// in whatever order the dimensions are, followed by element-wise stages on the
// same points. Each of batch, rows, columns and the depth may be several axes.
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
  /// The product that a nest computes; none where it is anything else.
  static std::optional<Matmul> match(const Nest &nest);

  const Stage &stage() const { return nest->stages.front(); }
  Value operand(unsigned number) const {
    return stage().op->getOperand(number);
  }

  const Nest *nest;
  /// The operands of the contraction that have the rows and the columns.
  unsigned a = 0, b = 1;
  SmallVector<Axis> batch, rows, columns;
  /// The axes to sum over, in the order that they have in `b`.
  SmallVector<Axis> depth;
};

/// A matrix in memory without gaps, or a batch of them.
struct Panel {
  /// That of operand `number`, whose lines are at `outer` (rows or columns) or,
  /// the other way round, at `depth`. None where it is not in memory, or lines
  /// are not at equal distances. `storage` has what nests before have made.
  static std::optional<Panel> match(const Matmul &matmul, unsigned number,
                                    ArrayRef<Axis> outer,
                                    const DenseMap<Value, Storage> &storage);

  Value buffer;
  /// The axes of the dimensions, as the operand has them.
  SmallVector<Axis> dims;
  /// Static sizes of them.
  SmallVector<int64_t> shape;
  /// Whether lines run along the depth, or along the columns; their length.
  bool alongDepth = true;
  int64_t line = 1;
  /// How many elements can be copied at once: a power of two, at most 8.
  int64_t width = 1;
};

/// How a thread takes the depth of a product.
struct DepthUnits {
  /// None where the axes that a unit has are not known, or too long.
  /// What `prepared` makes of rows in the end is computed where it is read.
  static std::optional<DepthUnits> choose(const KernelGraph &graph,
                                          const Matmul &matmul,
                                          const Nest *prepared = nullptr);

  /// Elements of the last axis that are taken at once.
  int64_t lanes = 1;
  /// The axes that units are counted by, and those within a unit. The last axis
  /// may be among either.
  SmallVector<Axis> across, within;
  /// What is read of both operands for a unit.
  int64_t vectorBytes = 0, matrixBytes = 0;
};

/// How many rows, columns and steps of the depth a block takes at once, and how
/// its warps share them.
struct Tile {
  /// Warps along rows, columns and depth.
  int64_t warpsM, warpsN, warpsK;
  /// 16 rows and 8 columns of a warp at a time, this often.
  int64_t countM, countN;
  /// Steps of the depth in a stage, and stages in memory at once.
  int64_t depth, stages;

  int64_t rows() const { return warpsM * countM * 16; }
  int64_t columns() const { return warpsN * countN * 8; }
  int64_t threads() const { return warpsM * warpsN * warpsK * 32; }
};

/// The same where warpgroups multiply, and blocks may share the depth.
struct WarpgroupTile {
  /// Warpgroups, each of which takes 64 rows.
  int64_t warpgroups;
  int64_t columns;
  /// Blocks of a cluster, each of which takes a part of the depth.
  int64_t split;

  bool operator==(const WarpgroupTile &other) const {
    return warpgroups == other.warpgroups && columns == other.columns &&
           split == other.split;
  }
  int64_t rows() const { return 64 * warpgroups; }
  /// Those that multiply.
  int64_t threads() const { return 128 * warpgroups; }
  /// What is fast for a product of this size, as far as it is known.
  static WarpgroupTile choose(int64_t batches, int64_t rows, int64_t columns,
                              int64_t depth);
  /// Bytes of both matrices in a stage.
  int64_t stageBytes() const { return (rows() + columns) * 128; }
};

/// How many rows, columns and steps of the depth a block takes at once where
/// each thread takes `countM` times `countN` points, in groups of four.
struct ScalarTile {
  int64_t threadsM, threadsN;
  int64_t countM, countN;
  int64_t depth;

  int64_t rows() const { return threadsM * countM; }
  int64_t columns() const { return threadsN * countN; }
  int64_t threads() const { return threadsM * threadsN; }

  /// Lines of both operands, and of the sums after them, are this much longer.
  static constexpr int64_t padding = 4;
  int64_t sharedBytes() const {
    return 4 * std::max(depth * (rows() + columns() + 2 * padding),
                        rows() * (columns() + padding));
  }
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_MATMUL_H
