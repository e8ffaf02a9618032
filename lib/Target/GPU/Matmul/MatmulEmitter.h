//===- MatmulEmitter.h - matmuls on a GPU -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes one tile of the product. It copies its parts of both
// operands to shared memory, one stage of the depth at a time, and multiplies
// from there: with tensor cores (TensorCoreMatmul.cpp), with cooperative
// matrices (MatrixMatmul.cpp), or point by point (ScalarMatmul.cpp). The tile
// then goes through shared memory once more, so that element-wise stages in the
// epilogue can use wide contiguous accesses.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_MATMULEMITTER_H
#define RELAX_TARGET_GPU_MATMUL_MATMULEMITTER_H

#include "Target/GPU/Launch/TileEmitter.h"
#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

class MatmulEmitter : public TileEmitter {
public:
  /// `lanes`: columns that a thread processes at a time in the epilogue.
  MatmulEmitter(const KernelGraph &graph, const Matmul &matmul,
                OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, int64_t lanes)
      : TileEmitter(graph, *matmul.nest, builder, loc, storage,
                    /*subgroupSize=*/32, lanes),
        matmul(matmul) {}

  /// How many columns a thread can process at a time in the epilogue.
  static int64_t chooseWidth(const KernelGraph &graph, const Matmul &matmul);

  /// The number of rows, computed on the host.
  FailureOr<Value> countRows();
  /// Allocates buffers for results that later nests read, whichever kernel
  /// writes them.
  void allocateResults();

  /// Emits a kernel for any number of rows with `manyRows`, otherwise for the
  /// rows of one tile. `b` is in memory, or computed in units.
  LogicalResult emit(const Tile &tile, bool manyRows, const Panel &a,
                     const std::optional<Panel> &b,
                     const std::optional<DepthUnits> &units);
  LogicalResult emit(const ScalarTile &tile, bool manyRows);
  /// The same with cooperative matrices.
  LogicalResult emitByMatrices(const Tile &tile, bool manyRows, const Panel &a,
                               const Panel &b);
  static int64_t matrixBytes(const Tile &tile, const Panel &a, const Panel &b);
  /// Whether warpgroups can multiply these operands.
  static bool canUseWarpgroups(const Matmul &matmul, const Panel &a,
                               const std::optional<Panel> &b,
                               const std::optional<DepthUnits> &units);
  static bool canComputeForWarpgroups(const Matmul &matmul,
                                      const DepthUnits &units);
  /// Emits a kernel with warpgroups for any number of rows. `b` is in memory,
  /// or computed in units.
  LogicalResult emit(const WarpgroupTile &tile, const Panel &a,
                     const std::optional<Panel> &b,
                     const std::optional<DepthUnits> &units);

protected:
  /// The position of a block: its first row and column, and the batch.
  struct Corner {
    Value row, column;
    Point batch;
  };

  /// Creates a launch with `split` blocks per tile.
  LogicalResult begin(int64_t rows, int64_t columns, int64_t threads,
                      int64_t sharedBytes, bool manyRows, int64_t split = 1);
  Corner locate(Value tile, int64_t rows, int64_t columns, bool manyRows);
  /// Runs the epilogue on a tile in shared memory, given as `parts` partial
  /// sums.
  void finish(Value sums, int64_t parts, int64_t rows, int64_t columns,
              int64_t pitch);
  /// The same for a subset of the points, whose sums `load` returns. If
  /// `rowsAtOnce` is not zero, that many consecutive rows start at `firstRow`.
  void finishTile(Value first, Value step, int64_t rows, int64_t columns,
                  int64_t pitch, int64_t rowsAtOnce,
                  function_ref<Value(Value)> load);
  void finishPoints(Value sum, Value row, Value column);
  /// One sum, or a vector of sums.
  Value loadSums(Value sums, Value at);
  Type sumsType();

  // With tensor cores.
  /// The elements that a thread copies in each stage.
  struct Line {
    Value from, to;
    /// Whether the line is inside the matrix, regardless of the depth; null if
    /// it always is.
    Value isInside;
    /// The position along the depth; null if it is always inside.
    Value depth;
    /// Whether this thread takes part; null if all threads do.
    Value isOn;
  };
  /// The part of a panel that a block copies in each stage.
  struct Copies {
    Value source;
    SmallVector<Line> lines;
    /// Elements per copy.
    int64_t width;
    /// The distance from a stage to the next.
    Value depthStep;
  };
  Value distance(const Panel &panel, Axis axis);
  Copies prepareCopies(const Panel &panel, ArrayRef<Axis> outer, Value first,
                       int64_t count, const Tile &tile, int64_t base);
  void copyStage(const Copies &copies, Value shared, Value stage, Value step,
                 const Tile &tile);
  /// The elements that a thread computes together: their column, their position
  /// along the depth of a stage, and where their chunks are stored.
  struct Unit {
    Value column, depth;
    SmallVector<Value> to;
    /// Whether this thread takes part; null if all threads do.
    Value isOn;
  };
  /// The part of a computed operand that a block produces in each stage.
  struct Computed {
    DepthUnits shape;
    SmallVector<Unit> units;
    /// Elements per unit.
    int64_t size;
  };
  FailureOr<Computed> prepareUnits(const DepthUnits &units, const Tile &tile,
                                   int64_t base);
  SmallVector<Value> computeUnits(const Computed &computed, Value step,
                                  const Tile &tile);
  void storeUnits(const Computed &computed, ValueRange values, Value shared,
                  Value stage);
  SmallVector<Value> multiplyStage(const Tile &tile, Value shared, Value stage,
                                   bool bAlongDepth, ValueRange sums);
  Value storeSums(const Tile &tile, ValueRange sums);

  // With warpgroups.
  /// An operand as it is copied to shared memory.
  struct Boxes {
    Value map;
    /// The indices of a box, outermost first; null for the two dimensions in
    /// which boxes differ.
    SmallVector<Value> at;
    unsigned depthDim, outerDim;
    bool alongDepth;
    /// Rows or columns per box, and where the boxes of a stage start.
    int64_t lines;
    SmallVector<Value> starts;
    /// The offset in a stage, in bytes.
    int64_t offset;
  };
  Boxes prepareBoxes(const Panel &panel, ArrayRef<Axis> outer,
                     ArrayRef<Value> starts, int64_t lines, int64_t offset);
  Value firstRow(Value row, int64_t rows);
  SmallVector<Value> advance(Value stage, Value parity, int64_t stages);
  void copyBoxes(const Boxes &boxes, Value step, Value barriers, Value stage,
                 Value start);
  void produce(const WarpgroupTile &tile, ArrayRef<Boxes> operands,
               Value barriers, Value base, Value firstStep, Value endStep);
  /// Producer code for a `b` that is computed (ComputedWarpgroups.cpp).
  LogicalResult produceComputed(const WarpgroupTile &tile, const Boxes &a,
                                const DepthUnits &units, Value barriers,
                                Value base, int64_t steps);
  Value consume(const WarpgroupTile &tile, const Boxes &a, bool bAlongDepth,
                Value barriers, Value base, Value warp, Value steps);
  void finishWarpgroups(const WarpgroupTile &tile, Value sums, Value warp,
                        Value part);

  // Point by point.
  void stageScalars(unsigned operand, ArrayRef<Axis> outer, Value first,
                    int64_t count, const ScalarTile &tile, Value step,
                    Value shared, int64_t base);

  const Matmul &matmul;
  Corner corner;
  int64_t blockThreads = 0;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_MATMULEMITTER_H
