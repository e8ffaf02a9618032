//===- AttentionEmitter.h - attention on a GPU ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block takes some rows and goes through columns, some at a time. Scores are
// in registers and in the memory of the block; with each step, what was summed
// before is brought to the new maximum:
//
//   t' = max(t, s)   l' = l exp(t - t') + Σ exp(s - t')   y' = y exp(t - t') +
//   …
//
// Where rows are too few for all multiprocessors, several blocks share the
// columns, and a second launch adds up what they found (combine). Few rows are
// computed point by point (AttentionByPoint.cpp), many by tensor cores
// (AttentionByTensorCores.cpp) or by matrices of a subgroup
// (AttentionByMatrices.cpp); the host chooses.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H
#define RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H

#include "Target/GPU/Attention/Attention.h"
#include "Target/GPU/Chip.h"
#include "Target/GPU/Launch/TileEmitter.h"

namespace mlir::relax {

/// Emits a nest that mixes values by scores; fails where it is something else,
/// and may then leave something behind.
LogicalResult emitAttention(const KernelGraph &graph, const Nest &nest,
                            OpBuilder &builder, Location loc,
                            DenseMap<Value, Storage> &storage, const Chip &chip,
                            bool asVectors);

/// How rows and columns are shared among blocks, as the host knows it.
struct Shares {
  /// Rows of a block, and the most blocks that columns are shared among.
  int64_t rows, blocks;
  /// Blocks along rows; those that share the columns, and columns of each.
  Value rowBlocks, splits, length;
  /// What blocks find that share columns: sums [blocks * rows, inner], then the
  /// maxima and totals of these.
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

  /// Columns that are taken at once, and the threads of a block.
  static constexpr int64_t step = 64, blockThreads = 128;

  /// How many elements a thread can take at once of queries and results.
  static int64_t chooseWidth(const KernelGraph &graph,
                             const Attention &attention);
  /// Makes room for `rows` of what blocks find that share columns.
  FailureOr<Shares> prepare(int64_t rows);
  /// The number of rows, for the host.
  Value countRows() { return count(nest.rows); }
  /// Finds how blocks of `shares.rows` rows share what there is: at least
  /// `least` steps each.
  void share(Shares &shares, int64_t least);

  /// Whether blocks of so many rows can be computed point by point; keys are
  /// read by `width` elements.
  static bool fitsPoints(const Attention &attention, int64_t rows,
                         int64_t width);
  LogicalResult emitByPoint(const Shares &shares, int64_t width);
  static bool fitsTensorCores(const Attention &attention);
  LogicalResult emitByTensorCores(const Shares &shares);
  /// The same with matrices that a subgroup has together.
  LogicalResult emitByMatrices(const Shares &shares);
  /// The launch that adds up what blocks found that share columns.
  LogicalResult combine(const Shares &shares);

private:
  /// Where products are of tiles: the rows of a block and of a subgroup.
  static constexpr int64_t blockRows = 64, warpRows = 16;

  /// An operand, where this block reads it.
  struct Place {
    Value data, origin;
    DenseMap<Axis, Value> strides;
  };
  /// The ways that threads share a step, point by point.
  struct Division;

  LogicalResult begin(Value blocks, int64_t blockThreads, int64_t sharedBytes);
  /// Finds out which rows and columns this block takes.
  void locate(const Shares &shares);
  Place open(const Stored &region);
  Point pointOf(Value row);
  /// A row of this block; the last one there is where it is beyond that.
  Value clampRow(Value row);
  /// The end of the columns that a row sees; null where it sees all.
  Value endOf(const Point &row);
  void limitColumns(Value visible);
  /// The same by the most that any of so many rows sees; with 16 bytes of
  /// the block's memory.
  void limitColumnsOfBlock(int64_t rows, int64_t sharedAt);
  /// What does not depend on the column is read once.
  void readAhead(const Point &row);
  /// The queries of a row, from `depth` on.
  Lanes query(const Point &row, Lanes depth);
  /// The score of a point, given the product.
  Value score(Value product, const Point &row, Value column);
  Value exponential(Value value, Value maximum);
  Value shift(Value maximum);
  Value least();
  Value larger(Value lhs, Value rhs);
  /// The value of the whole block; `shared` has an element for each subgroup.
  Value combineAll(const Combiner &combiner, Value value, Value shared);
  /// Elements of an array as they are, `width` of them.
  Value load(Value array, Value at, int64_t width);
  void store(Value value, Value array, Value at);
  /// A vector in f32.
  Value widen(Value vector);
  Value broadcast(Value value, int64_t width);

  /// Hands on the results of this block: for each row the lanes that `sum`
  /// gives at an element, its maximum and its total. Only of `size` elements
  /// from one on, where that is not zero.
  void handOn(const Shares &shares,
              function_ref<Value(Value row, Value inner)> sum,
              function_ref<std::pair<Value, Value>(Value row)> state,
              int64_t from = 0, int64_t size = 0);
  /// Lets the stages that follow run at a point.
  void finish(const Point &row, Value inner, Value sum, Value maximum,
              Value total);

  // Point by point.
  SmallVector<Value> loadKeys(const Place &keys, const Division &by, Value at);
  /// Where a thread reads values in the step at a column.
  SmallVector<Value> findValues(const Place &values, const Division &by,
                                Value at);
  void stageQueries(const Division &by, Value shared);
  void storeProducts(const Division &by, ValueRange keys, Value queries,
                     Value products);
  SmallVector<Value> weigh(const Division &by, Value at, ArrayRef<Point> rows,
                           ValueRange states, Value products, Value weights,
                           Value factors);

  // By tensor cores.
  void stageQueries(Value shared, int64_t base);
  void copyStep(const Place &from, const Stored &region, Value shared,
                Value base, Value at);
  SmallVector<Value> multiplyKeys(ArrayRef<SmallVector<Value>> queries,
                                  Value shared, Value base);
  SmallVector<Value> mix(ValueRange weights, Value shared, Value base,
                         ValueRange sums);
  Value pack(Value low, Value high);

  // By matrices of a subgroup.
  struct Lines;
  SmallVector<Value> readLines(const Place &from, const Lines &lines, Value at);
  void storeLines(ValueRange words, const Lines &lines, Value shared);
  void stageRows(Value shared, int64_t pitch);

  const Attention &attention;
  Value split, rowBegin, columnBegin, columnEnd, block;
  Point batchPoint;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_ATTENTION_ATTENTIONEMITTER_H
