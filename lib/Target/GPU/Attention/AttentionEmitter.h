//===- AttentionEmitter.h - emits attention for GPUs ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread block computes some rows and loops over blocks of columns. Scores
// are kept in registers and shared memory; each step rescales the previous sums
// to the new maximum (online softmax):
//
//   t' = max(t, s)   l' = l exp(t - t') + Σ exp(s - t')   y' = y exp(t - t') +
//   …
//
// If there are too few rows to occupy all multiprocessors, several blocks split
// the columns (split-KV), and a second launch combines their results
// (`combine`). Few rows are computed point by point (AttentionByPoint.cpp),
// many with tensor cores (AttentionByTensorCores.cpp) or cooperative matrices
// (AttentionByMatrices.cpp); the host chooses at run time.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H
#define RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H

#include "Target/GPU/Attention/Attention.h"
#include "Target/GPU/Chip.h"
#include "Target/GPU/Launch/TileEmitter.h"

namespace mlir::relax {

/// Emits a nest if it is attention. Fails otherwise, and may then leave partial
/// code.
LogicalResult emitAttention(const KernelGraph &graph, const Nest &nest,
                            OpBuilder &builder, Location loc,
                            DenseMap<Value, Storage> &storage, const Chip &chip,
                            bool asVectors);

/// How rows and columns are divided among blocks (split-KV), as computed on the
/// host.
struct SplitKV {
  /// Rows per block, and the maximum number of blocks.
  int64_t rows, blocks;
  /// Number of blocks along the rows, number of column splits, and columns per
  /// split.
  Value rowBlocks, splits, length;
  /// Partial results of the splits: sums [blocks * rows, inner], then the
  /// maxima and totals of the rows.
  Value sums, maxima, totals;
};

class AttentionEmitter : public TileEmitter {
public:
  AttentionEmitter(const KernelGraph &graph, const Attention &attention,
                   OpBuilder &builder, Location loc,
                   DenseMap<Value, Storage> &storage, int64_t lanes)
      : TileEmitter(graph, *attention.nest, builder, loc, storage,
                    /*subgroupSize=*/32, lanes),
        attention(attention) {}

  /// Columns per step, and threads per block.
  static constexpr int64_t step = 64, blockThreads = 128;

  /// How many elements of queries and results a thread can process at a time.
  static int64_t chooseWidth(const KernelGraph &graph,
                             const Attention &attention);
  /// Allocates buffers for `rows` rows of partial results.
  FailureOr<SplitKV> prepare(int64_t rows);
  /// The number of rows, computed on the host.
  Value countRows() { return count(nest.rows); }
  /// Divides the work among blocks of `kv.rows` rows with at least `least`
  /// steps each.
  void divideWork(SplitKV &kv, int64_t least);

  /// Whether blocks of `rows` rows can be computed point by point when `width`
  /// elements of a key are read at a time.
  static bool fitsPoints(const Attention &attention, int64_t rows,
                         int64_t width);
  LogicalResult emitByPoint(const SplitKV &kv, int64_t width);
  static bool fitsTensorCores(const Attention &attention);
  LogicalResult emitByTensorCores(const SplitKV &kv);
  /// Like `emitByTensorCores`, but with cooperative matrices.
  LogicalResult emitByMatrices(const SplitKV &kv);
  /// Emits the launch that combines the partial results of the splits.
  LogicalResult combine(const SplitKV &kv);

private:
  /// Rows per block and per subgroup if products are computed in tiles.
  static constexpr int64_t blockRows = 64, warpRows = 16;

  /// An operand at the position where this block reads it.
  struct Place {
    Value data, origin;
    DenseMap<Axis, Value> strides;
  };
  /// How threads divide a step that is computed point by point.
  struct Division;

  LogicalResult begin(Value blocks, int64_t blockThreads, int64_t sharedBytes);
  /// Computes the rows and columns of this block.
  void locate(const SplitKV &kv);
  Place open(const Stored &region);
  Point pointOf(Value row);
  /// The index of a row of this block, clamped to the last row.
  Value clampRow(Value row);
  /// The end of the visible columns of a row; null if all are visible.
  Value endOf(const Point &row);
  void limitColumns(Value visible);
  /// Limits the columns to those visible from at least one of `rows` rows; uses
  /// 16 bytes of shared memory.
  void limitColumnsOfBlock(int64_t rows, int64_t sharedAt);
  /// Reads operands that do not depend on the column once.
  void readAhead(const Point &row);
  /// Elements of the query of a row, starting at `depth`.
  Lanes query(const Point &row, Lanes depth);
  /// Computes the score of a point from the product of query and key.
  Value score(Value product, const Point &row, Value column);
  Value exponential(Value value, Value maximum);
  Value shift(Value maximum);
  Value least();
  Value larger(Value lhs, Value rhs);
  /// Reduces a value over the whole block; `shared` has an element for each
  /// subgroup.
  Value combineAll(const Combiner &combiner, Value value, Value shared);
  /// Loads `width` elements of an array without conversion.
  Value load(Value array, Value at, int64_t width);
  void store(Value value, Value array, Value at);
  /// Extends a vector to f32.
  Value widen(Value vector);
  Value broadcast(Value value, int64_t width);

  /// Writes the results of this block: `sum` returns the elements of a row at
  /// an inner index, `state` its maximum and total. If `size` is not zero, only
  /// the `size` elements from `from` on are written.
  void handOn(const SplitKV &kv,
              function_ref<Value(Value row, Value inner)> sum,
              function_ref<std::pair<Value, Value>(Value row)> state,
              int64_t from = 0, int64_t size = 0);
  /// Runs the stages after the contractions at a point.
  void finish(const Point &row, Value inner, Value sum, Value maximum,
              Value total);

  // Point by point.
  SmallVector<Value> loadKeys(const Place &keys, const Division &by, Value at);
  /// The positions of the values that a thread reads in the step at column
  /// `at`.
  SmallVector<Value> findValues(const Place &values, const Division &by,
                                Value at);
  void stageQueries(const Division &by, Value shared);
  void storeProducts(const Division &by, ValueRange keys, Value queries,
                     Value products);
  SmallVector<Value> weigh(const Division &by, Value at, ArrayRef<Point> rows,
                           ValueRange states, Value products, Value weights,
                           Value factors);

  // With tensor cores.
  void stageQueries(Value shared, int64_t base);
  void copyStep(const Place &from, const Stored &region, Value shared,
                Value base, Value at);
  SmallVector<Value> multiplyKeys(ArrayRef<SmallVector<Value>> queries,
                                  Value shared, Value base);
  SmallVector<Value> mix(ValueRange weights, Value shared, Value base,
                         ValueRange sums);
  Value pack(Value low, Value high);
  /// The two rows of a thread, and the first of its columns.
  struct Fragment;
  SmallVector<SmallVector<Value>> loadQueries(Value shared, Fragment &own);
  Value combineQuad(Value value, function_ref<Value(Value, Value)> with);
  void weigh(const Fragment &own, Value at, MutableArrayRef<Value> scores,
             ValueRange before, SmallVectorImpl<Value> &state,
             SmallVectorImpl<Value> &factors);
  void handOnFragments(const SplitKV &kv, const Fragment &own,
                       ValueRange carried);

  // With cooperative matrices.
  struct Lines;
  SmallVector<Value> readLines(const Place &from, const Lines &lines, Value at);
  void storeLines(ValueRange words, const Lines &lines, Value shared);
  void stageRows(Value shared, int64_t pitch);
  struct Tiles;
  Value lineAt(Value line, int64_t pitch, int64_t column = 0);
  void view(Tiles &tiles);
  SmallVector<Value> loadQueries(Tiles &tiles);
  void storeProducts(const Tiles &tiles, ValueRange queries);
  std::pair<Value, Value> weigh(const Tiles &tiles, Value at, Value old,
                                Value total);
  SmallVector<Value> mix(const Tiles &tiles, ValueRange sums);
  void handOnMatrices(const SplitKV &kv, const Tiles &tiles, ValueRange sums,
                      Value maximum, Value total);

  const Attention &attention;
  Value split, rowBegin, columnBegin, columnEnd, block;
  Point batchPoint;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H
