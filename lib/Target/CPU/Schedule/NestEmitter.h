//===- NestEmitter.h - loops for the stages of a nest -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a nest, from the outside:
//
//   scf.forall over blocks of the outer axes     one unit of work for a thread
//     loops over blocks of each outer axis       full blocks, then what is left
//       for each stage, for the points of the block together:
//         loops over its own parallel axes
//           loops over its reduction axes        accumulators in registers
//
// A block is some points along one or two outer axes whose code shares what it
// loads: 6 rows by 4 vectors in a contraction, so that 24 accumulators stay in
// registers while 4 vectors of one operand and 6 scalars of the other are read.
// What is left at the end of an axis is done by smaller blocks (rows) or by
// vectors with lanes off (columns).
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H
#define RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H

#include "Target/Schedule/Combiner.h"
#include "Target/Schedule/KernelGraph.h"
#include "Target/Schedule/PointEmitter.h"
#include "Target/Schedule/Softmax.h"

namespace mlir::relax {

/// What a point of an op costs, in simple vector operations.
int64_t costOf(linalg::GenericOp op);

class NestEmitter {
public:
  NestEmitter(const KernelGraph &graph, const Nest &nest, PointEmitter &emitter)
      : graph(graph), nest(nest), emitter(emitter), builder(emitter.builder),
        loc(emitter.loc) {}

  /// Emits the nest where the builder is. Results that later nests read are in
  /// `emitter.storage` afterwards.
  LogicalResult emit();

private:
  /// A point of the iteration space, or a vector of them.
  struct Point {
    DenseMap<Axis, Lanes> at;
    Value mask;
    /// The number in the block, and in the loops of a stage.
    unsigned id = 0, column = 0;
  };
  using Points = SmallVector<Point>;

  /// An outer axis: its loop, its block.
  struct Level {
    Axis axis;
    /// Points in a full block, and elements in a point.
    int64_t points = 1, elements = 1;
    /// Points that one thread takes at least, in elements.
    int64_t unit = 1;
    /// What is left is done point by point rather than by a smaller block.
    bool singleTail = false;
    /// Points of the smaller blocks for what is left, if not any number.
    SmallVector<int64_t> tails = {};
    /// The axes that are joined to this one, the last fastest.
    SmallVector<Axis> parts = {};
    int64_t step() const { return points * elements; }
  };
  /// The block of a level that is emitted.
  struct Block {
    Value base;
    int64_t points = 1;
    /// The last point has lanes off.
    bool partial = false;
  };

  void chooseLevels();
  void chooseRowLevels();
  void formGroups();
  bool mayFollow(ArrayRef<Stage> group, const Stage &stage) const;
  bool isLocal(OpResult result) const;
  /// The result of an earlier stage that `stage` reads last, where it writes
  /// `result`; null if there is none.
  Value overwritten(const Stage &stage, OpResult result) const;
  /// The axis of columns that a reduction along the lanes is done for together,
  /// so that its results are in lanes.
  std::optional<Axis> acrossOf(const Stage &stage) const;
  /// Finds columns that a mask hides, if leaving them out changes nothing.
  void findHidden();
  /// How many columns any of the points sees.
  Value visibleColumns(const Points &points);
  void chooseStorage();
  void allocateRows();
  void emitParallel();
  Value grain(Value total, ArrayRef<Level> levels);
  void emitLevel(unsigned level, ArrayRef<std::pair<Value, Value>> ranges);
  /// The positions along axes that were joined.
  SmallVector<Value> split(Value at, ArrayRef<Axis> axes);
  void emitBlock();

  void emitGroup(ArrayRef<Stage> group, const Points &points);
  void emitInner(ArrayRef<Stage> group, ArrayRef<Axis> axes,
                 const Points &points);
  void emitAcross(ArrayRef<Stage> group, Axis axis, const Points &points);
  void sumAcross(const Stage &stage, const Points &columns, const Point &all);
  void emitPoints(const Stage &stage, const Points &points);
  void emitReduction(const Stage &stage, const Points &points);
  /// The values of all results at all points, reduced along `axes` from
  /// `values` on; in blocks, where sums may be long. `lanesReduced`: lanes run
  /// along the last axis, and are not combined yet; `copies` of accumulators
  /// are.
  SmallVector<Value> reduceAll(const Stage &stage, ArrayRef<Axis> axes,
                               const Points &points, SmallVector<Value> values,
                               ArrayRef<std::optional<Combiner>> combiners,
                               bool lanesReduced, int64_t copies);
  /// The same of one block: all steps along `axes`.
  SmallVector<Value> reduce(const Stage &stage, ArrayRef<Axis> axes,
                            const Points &points, SmallVector<Value> values,
                            bool lanesReduced);
  /// The steps from `from` to `to` along the first axis; only whole vectors,
  /// where the lanes run along it.
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

  /// `body` gives what the loop carries on.
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
  /// Stages that share their inner loops as well, for a block of rows; what is
  /// read among them alone is never in memory.
  SmallVector<ArrayRef<Stage>> groups;
  SmallVector<Block> blocks;
  /// Buffers that a result is written to.
  DenseMap<Value, SmallVector<Value>> destinations;
  /// Results with a temporary for one point of the outer axes.
  SmallVector<std::pair<Value, SmallVector<unsigned>>> rows;
  /// Among them, results that take the place of earlier ones.
  DenseMap<Value, Value> inPlace;
  /// The columns that are hidden, if any are.
  std::optional<HiddenColumns> hidden;
  /// Results that later nests read from memory.
  DenseMap<Value, Value> exported;
  bool hasFailed = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_SCHEDULE_NESTEMITTER_H
