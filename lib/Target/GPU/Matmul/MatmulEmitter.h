//===- MatmulEmitter.h - products of matrices on a GPU ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes a tile of the product. It copies what it needs of both
// matrices to its memory, some steps of the depth at a time, and multiplies
// from there: with tensor cores (TensorCoreMatmul.cpp), with matrices of a
// subgroup (MatrixMatmul.cpp), or point by point (ScalarMatmul.cpp). The tile
// then goes through its memory once more, so that the element-wise stages that
// follow run along memory, wide.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_MATMULEMITTER_H
#define RELAX_TARGET_GPU_MATMUL_MATMULEMITTER_H

#include "Target/GPU/Launch/TileEmitter.h"
#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

class MatmulEmitter : public TileEmitter {
public:
  /// `lanes`: columns that a thread takes at once in the stages that follow.
  MatmulEmitter(const KernelGraph &graph, const Matmul &matmul,
                OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, int64_t lanes)
      : TileEmitter(graph, *matmul.nest, builder, loc, storage,
                    /*subgroupSize=*/32, lanes),
        matmul(matmul) {}

  /// How many columns a thread can take at once in the stages that follow.
  static int64_t chooseWidth(const KernelGraph &graph, const Matmul &matmul);

  /// The number of rows, for the host.
  FailureOr<Value> countRows();
  /// Makes places for what later nests read, whoever writes it.
  void allocateResults();

  /// With `manyRows`, for any number of rows; else for those of one tile.
  /// `b` is in memory, or computed by units.
  LogicalResult emit(const Tile &tile, bool manyRows, const Panel &a,
                     const std::optional<Panel> &b,
                     const std::optional<DepthUnits> &units);
  LogicalResult emit(const ScalarTile &tile, bool manyRows);
  /// With matrices that a subgroup has together; `matrixBytes` is what a block
  /// needs.
  LogicalResult emitByMatrices(const Tile &tile, bool manyRows, const Panel &a,
                               const Panel &b);
  static int64_t matrixBytes(const Tile &tile, const Panel &a, const Panel &b);
  /// Whether warpgroups can multiply these.
  static bool canUseWarpgroups(const Matmul &matmul, const Panel &a,
                               const std::optional<Panel> &b,
                               const std::optional<DepthUnits> &units);
  static bool canComputeForWarpgroups(const Matmul &matmul,
                                      const DepthUnits &units);
  /// For any number of rows. `b` is in memory, or computed by units.
  LogicalResult emit(const WarpgroupTile &tile, const Panel &a,
                     const std::optional<Panel> &b,
                     const std::optional<DepthUnits> &units);

protected:
  /// Where the block is: its first row and column, and the batch.
  struct Corner {
    Value row, column;
    Point batch;
  };

  /// A launch of blocks for all tiles, `split` for each of them.
  LogicalResult begin(int64_t rows, int64_t columns, int64_t threads,
                      int64_t sharedBytes, bool manyRows, int64_t split = 1);
  Corner locate(Value tile, int64_t rows, int64_t columns, bool manyRows);
  /// Lets the stages that follow run on the tile in the memory of the block:
  /// `parts` of it, to be added up.
  void finish(Value sums, int64_t parts, int64_t rows, int64_t columns,
              int64_t pitch);
  /// The same of some of its places, by what `load` gives for them. Where
  /// `rowsAtOnce` is not zero, so many follow each other from `firstRow` on.
  void finishTile(Value first, Value step, int64_t rows, int64_t columns,
                  int64_t pitch, int64_t rowsAtOnce,
                  function_ref<Value(Value)> load);
  void finishPoints(Value sum, Value row, Value column);
  /// One or more sums, as a thread takes them.
  Value loadSums(Value sums, Value at);
  Type sumsType();

  // With tensor cores.
  /// What a thread copies in each stage.
  struct Line {
    Value from, to;
    /// Whether it is in the matrix, but for the depth; null where it always is.
    Value isInside;
    /// Its place along the depth; null where all of that is inside.
    Value depth;
    /// Whether this thread has anything to copy; null where all have.
    Value isOn;
  };
  /// The part of a panel that a block copies in each stage.
  struct Copies {
    Value source;
    SmallVector<Line> lines;
    /// Elements that are copied at once.
    int64_t width;
    /// How far a stage is from the next one.
    Value depthStep;
  };
  Value distance(const Panel &panel, Axis axis);
  Copies prepareCopies(const Panel &panel, ArrayRef<Axis> outer, Value first,
                       int64_t count, const Tile &tile, int64_t base);
  void copyStage(const Copies &copies, Value shared, Value stage, Value step,
                 const Tile &tile);
  /// What a thread computes at once: its column, its place in a stage's depth,
  /// and where its chunks go.
  struct Unit {
    Value column, depth;
    SmallVector<Value> to;
    /// Whether this thread has it; null where all have.
    Value isOn;
  };
  /// The part of a computed matrix that a block makes in each stage.
  struct Computed {
    DepthUnits shape;
    SmallVector<Unit> units;
    /// Elements of a unit.
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
  /// An operand as it is copied to the memory of a block.
  struct Boxes {
    Value map;
    /// Where a box is, the outermost first; null along the two dimensions in
    /// which boxes differ.
    SmallVector<Value> at;
    unsigned depthDim, outerDim;
    bool alongDepth;
    /// Rows or columns of a box, and where those of a stage begin.
    int64_t lines;
    SmallVector<Value> starts;
    /// Where it lies in a stage, in bytes.
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
  /// The same where threads of a warpgroup compute `b`
  /// (ComputedWarpgroups.cpp).
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
