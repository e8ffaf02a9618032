//===- NestEmitter.h - emits the loops of a nest ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a nest, from outermost to innermost:
//
//   scf.forall over blocks of the outer axes     one unit of work for a thread
//     loops over blocks of each outer axis       full blocks, then the rest
//       for each stage, for the points of the block together:
//         loops over its own parallel axes
//           loops over its reduction axes        accumulators in registers
//
// A block is a group of points along one or two outer axes whose code shares
// loads: 6 rows by 4 vectors in a contraction, so that 24 accumulators stay in
// registers while 4 vectors of one operand and 6 scalars of the other are read.
// The remainder of an axis is handled by smaller blocks (rows) or by masked
// vectors (columns).
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H
#define RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H

#include "Target/Schedule/Combiner.h"
#include "Target/Schedule/KernelGraph.h"
#include "Target/Schedule/PointEmitter.h"
#include "Target/Schedule/Softmax.h"

namespace mlir::relax {

/// The cost of one point of an op, in simple vector operations.
int64_t costOf(linalg::GenericOp op);

class NestEmitter {
public:
  NestEmitter(const KernelGraph &graph, const Nest &nest, PointEmitter &emitter)
      : graph(graph), nest(nest), emitter(emitter), builder(emitter.builder),
        loc(emitter.loc) {}

  /// Emits the nest at the builder's insertion point. Afterwards,
  /// `emitter.storage` holds the results that later nests read.
  LogicalResult emit();

private:
  /// A point of the iteration space, or a vector of them.
  struct Point {
    DenseMap<Axis, Lanes> at;
    Value mask;
    /// The index of the point in the block, and in the loops of a stage.
    unsigned id = 0, column = 0;
  };
  using Points = SmallVector<Point>;

  /// An outer axis, its loop and its block.
  struct Level {
    Axis axis;
    /// Points in a full block, and elements per point.
    int64_t points = 1, elements = 1;
    /// The minimum work of a thread, in elements.
    int64_t unit = 1;
    /// Handle the remainder point by point instead of by a smaller block.
    bool singleTail = false;
    /// Use blocks of about equal size, so that none is much smaller.
    bool balanced = false;
    /// Sizes of the smaller blocks for the remainder.
    SmallVector<int64_t> tails = {};
    /// The axes that were merged into this one, the fastest-varying last.
    SmallVector<Axis> parts = {};
    int64_t step() const { return points * elements; }
  };
  /// The current block of a level.
  struct Block {
    Value base;
    int64_t points = 1;
    /// The last point is masked.
    bool partial = false;
  };

  /// A copy of the columns of an operand, for each step of the sum.
  struct Panel {
    const Stage *stage;
    unsigned operand;
    MemRefType type;
    Value buffer;
  };

  void chooseLevels();
  /// Decides whether the columns of an operand are copied for all rows.
  void choosePanel(const Stage &stage, Axis row);
  void allocatePanel();
  /// Copies the operand for the current block of columns.
  void packPanel();
  /// The columns of the copy at the step of the points, for each vector of a
  /// row.
  SmallVector<Value> readPanel(const Points &points);
  /// The number of the step of a reduction.
  Value stepAt(const Stage &stage, const Point &point);
  void chooseRowLevels();
  void formGroups();
  bool mayFollow(ArrayRef<Stage> group, const Stage &stage) const;
  bool isLocal(OpResult result) const;
  /// The result of an earlier stage whose last reader is `stage`, at the
  /// element of `result` that it writes, so that `result` can overwrite it;
  /// null if there is none.
  Value overwritten(const Stage &stage, OpResult result) const;
  /// The column axis for a reduction along the lanes that is done for several
  /// columns together, so that each lane ends up with one result.
  std::optional<Axis> acrossOf(const Stage &stage) const;
  /// Finds masked columns that can be skipped without changing the result.
  void findHidden();
  /// The number of columns that are visible from at least one of the points.
  Value visibleColumns(const Points &points);
  void chooseStorage();
  void allocateRows();
  /// Emits the loops; those of a contraction also for each small number of
  /// rows, which gets blocks with more columns.
  void emitBySize();
  /// The largest number of rows for which blocks need more columns; 0 if none.
  int64_t mostSkinny() const;
  /// Emits the loops of a contraction for this number of rows.
  void emitSkinny(int64_t rows);
  void emitParallel();
  Value grain(Value total, ArrayRef<Level> levels);
  /// Covers the range with the fewest blocks, whose sizes differ by at most
  /// one.
  void emitBalanced(unsigned level, Value from, Value to,
                    function_ref<void(Value, int64_t)> emitBlockOf);
  void emitLevel(unsigned level, ArrayRef<std::pair<Value, Value>> ranges);
  /// Splits the index of a merged axis into indices of the original axes.
  SmallVector<Value> split(Value at, ArrayRef<Axis> axes);
  void emitBlock();

  void emitGroup(ArrayRef<Stage> group, const Points &points);
  void emitInner(ArrayRef<Stage> group, ArrayRef<Axis> axes,
                 const Points &points);
  void emitAcross(ArrayRef<Stage> group, Axis axis, const Points &points);
  void sumAcross(const Stage &stage, const Points &columns, const Point &all);
  void emitPoints(const Stage &stage, const Points &points);
  void emitReduction(const Stage &stage, const Points &points);
  /// Computes all results at all points, reduced along `axes` starting from
  /// `values`, in blocks if the sums may be long. `lanesReduced`: the lanes run
  /// along the last axis and are not combined yet; there are `copies` sets of
  /// accumulators.
  SmallVector<Value> reduceAll(const Stage &stage, ArrayRef<Axis> axes,
                               const Points &points, SmallVector<Value> values,
                               ArrayRef<std::optional<Combiner>> combiners,
                               bool lanesReduced, int64_t copies);
  /// Reduces one block: all steps along `axes`.
  SmallVector<Value> reduce(const Stage &stage, ArrayRef<Axis> axes,
                            const Points &points, SmallVector<Value> values,
                            bool lanesReduced);
  /// Reduces the steps from `from` to `to` along the first axis; if the lanes
  /// run along it, only whole vectors.
  SmallVector<Value> reduceSteps(const Stage &stage, ArrayRef<Axis> axes,
                                 const Points &points,
                                 SmallVector<Value> values, bool lanesReduced,
                                 Value from, Value to);
  SmallVector<Value> reduceRest(const Stage &stage, Axis axis,
                                const Points &points,
                                SmallVector<Value> values);
  int64_t copiesOf(const Stage &stage, const Points &points,
                   ArrayRef<Value> values) const;
  SmallVector<Value> accumulate(const Stage &stage, const Points &points,
                                ArrayRef<Value> values, bool asVectors);
  void keep(const Stage &stage, const Point &point, ArrayRef<Lanes> values);

  void enter(const Point &point);
  SmallVector<Axis> innerAxes(const Stage &stage) const;
  std::optional<Axis> lanesOf(const Stage &stage) const;
  SmallVector<Lanes> loopsAt(const Stage &stage, const Point &point) const;
  Value maskFor(Value base, Axis axis);

  /// Emits a loop; `body` returns the next loop-carried values.
  SmallVector<Value>
  loop(Value from, Value to, int64_t step, ArrayRef<Value> inits,
       function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body);
  void loop(Value from, Value to, int64_t step, function_ref<void(Value)> body);
  std::optional<int64_t> staticSize(Axis axis) const;
  /// The size of an axis, rounded down to a multiple of `step`.
  Value wholeSteps(Axis axis, int64_t step) const;
  void fail() { hasFailed = true; }

  const KernelGraph &graph;
  const Nest &nest;
  PointEmitter &emitter;
  OpBuilder &builder;
  Location loc;

  DenseMap<Axis, Value> sizes;
  SmallVector<Level> levels;
  std::optional<Axis> outerLanes;
  std::optional<Panel> panel;
  /// Stages that also share their inner loops, for a block of rows. Values that
  /// are only read within a group stay out of memory.
  SmallVector<ArrayRef<Stage>> groups;
  SmallVector<Block> blocks;
  /// Buffers that a result is written to.
  DenseMap<Value, SmallVector<Value>> destinations;
  /// Results with a temporary for one point of the outer axes.
  SmallVector<std::pair<Value, SmallVector<unsigned>>> rows;
  /// The results in `rows` that reuse the temporary of an earlier result.
  DenseMap<Value, Value> inPlace;
  /// The masked columns, if any.
  std::optional<HiddenColumns> hidden;
  /// Results that later nests read from memory.
  DenseMap<Value, Value> exported;
  bool hasFailed = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H
