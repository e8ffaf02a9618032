//===- LaunchEmitter.h - a nest as a kernel of a GPU ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest (Schedule/KernelGraph.h) becomes one launch, in one of three forms:
//
//   points   a thread for each point of the outer axes, neighbours along
//            memory; reductions run in the thread
//   columns  a block for some neighbours along memory, whose sums are long: its
//            threads share each sum, and combine their parts in memory
//   rows     a block for each point of the outer axes: its threads share the
//            other axes of each stage, and combine what they reduce; where a
//            subgroup does for a row, it has several
//
// A thread takes several elements along memory at once where all that touches
// them allows it: 16 bytes of the narrowest operand.
//
// What stages hand on lies in registers, in memory of the block, or, where it
// is large or read by a later nest, in a buffer of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_LAUNCHEMITTER_H
#define RELAX_TARGET_GPU_LAUNCH_LAUNCHEMITTER_H

#include "Target/Schedule/Combiner.h"
#include "Target/Schedule/KernelGraph.h"
#include "Target/Schedule/PointEmitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::relax {

class LaunchEmitter {
public:
  /// `storage` has the results of nests before, and gets those of this one.
  /// `lanes`: elements that a thread takes at once (`chooseWidth`).
  LaunchEmitter(const KernelGraph &graph, const Nest &nest, OpBuilder &builder,
                Location loc, DenseMap<Value, Storage> &storage,
                unsigned subgroupSize, int64_t lanes)
      : graph(graph), nest(nest), builder(builder), loc(loc),
        emitter(builder, loc, lanes), storage(storage),
        subgroupSize(subgroupSize) {
    emitter.alignedBuffers = true;
    emitter.gathers = false;
  }

  /// How many elements a thread can take at once.
  static int64_t chooseWidth(const KernelGraph &graph, const Nest &nest);

  LogicalResult emit();

protected:
  using Point = DenseMap<Axis, Lanes>;

  /// Steps of a thread whose loads are under way together.
  static constexpr int64_t stepsAtOnce = 8;

  LogicalResult findSizes() {
    auto found = emitter.sizes(nest);
    if (succeeded(found))
      sizes = std::move(*found);
    return failure(failed(found));
  }
  /// Whether a block takes a row; its threads, if so.
  bool chooseRows();
  /// Whether blocks take columns.
  bool chooseColumns();
  void emitColumns();
  /// Results that `storage` has a buffer for already are put there.
  void chooseStorage();
  /// Whether a later nest reads the result of a stage of this one.
  bool isReadLater(OpResult result) const;
  /// A buffer in the memory of a block.
  Value allocateShared(ArrayRef<int64_t> shape, Type element);
  gpu::LaunchOp createLaunch(Value blocks, int64_t threads);
  /// In the form `rows`: the row of a thread, out of `total`.
  Value chooseRow(Value total);

  /// In the form `points`: those of the thread `number`, of `total`.
  void emitPoints(Value number, Value total);
  void emitPoint(const Stage &stage, Point point);
  void emitRowStage(const Stage &stage, Point point);
  void emitShared(const Stage &stage, ArrayRef<Axis> axes, const Point &point);
  /// Runs `body` for every so manieth number below `count`, that of this thread
  /// first. Few steps are written out one by one, so that what they load is
  /// asked for at once; the last of them, where `isOn` says which threads have
  /// one (null: all).
  SmallVector<Value>
  share(Value count, ValueRange inits,
        function_ref<SmallVector<Value>(Value number, Value isOn, ValueRange)>
            body,
        ArrayRef<std::optional<Combiner>> combiners = {});
  /// Runs `body` for every `stride`th number below `count` from `first`, which
  /// is less than `stride`, on; in blocks of `most` steps where sums of floats
  /// may be longer.
  SmallVector<Value>
  addInBlocks(Value first, Value count, int64_t stride, int64_t most,
              ValueRange inits, ArrayRef<std::optional<Combiner>> combiners,
              function_ref<SmallVector<Value>(Value number, ValueRange)> body);
  FailureOr<SmallVector<Lanes>> evaluate(const Stage &stage,
                                         const Point &point);
  FailureOr<SmallVector<Value>> initialValues(const Stage &stage,
                                              const Point &point);
  SmallVector<Value> reduceInOrder(const Stage &stage, const Point &point);
  /// The values of the whole block, for each thread.
  SmallVector<Value> reduceTogether(const Stage &stage, const Point &point,
                                    ArrayRef<Combiner> combiners);
  Value combineInBlock(const Combiner &combiner, Value value);
  Value exchange(Value value, int64_t mask);
  SmallVector<Value> accumulate(const Stage &stage, const Point &point,
                                ValueRange before);
  void keep(const Stage &stage, const Point &point, ArrayRef<Lanes> values,
            bool byOne);

  SmallVector<Lanes> loopsAt(const Stage &stage, const Point &point) const;
  SmallVector<Axis> axesOf(const Stage &stage, bool reduced) const;
  /// The axes that stages run along memory with: those inside of rows, if there
  /// are any.
  static SmallVector<Axis> lanesOf(const Nest &nest);
  /// Values as they are carried by a loop, with or without lanes.
  static SmallVector<Lanes> asLanes(ArrayRef<Value> values);
  bool isWide(Axis axis) const { return llvm::is_contained(wide, axis); }
  /// Whether the values of a stage differ from lane to lane at a point.
  bool isVector(const Stage &stage, const Point &point) const;
  /// How many points the axes have, where a vector is one.
  Value count(ArrayRef<Axis> axes);
  /// The coordinates of the point `number`, the last axis running fastest.
  void divide(Value number, ArrayRef<Axis> axes, Point &point);
  void fail() { hasFailed = true; }

  const KernelGraph &graph;
  const Nest &nest;
  OpBuilder &builder;
  Location loc;
  PointEmitter emitter;
  DenseMap<Value, Storage> &storage;
  unsigned subgroupSize;

  DenseMap<Axis, Value> sizes;
  /// The axes that vectors run along, if there are any.
  SmallVector<Axis> wide;
  /// The outer axes, the one that memory is contiguous along last.
  SmallVector<Axis> order;
  /// In the form `columns`: the axis that neighbours lie along, how many a
  /// block takes at once, and how the results combine.
  Axis column = 0;
  int64_t width = 0;
  SmallVector<Combiner> combiners;
  /// In the form `rows`: the threads of a row, how many rows a block has, the
  /// number of a thread within its row, and whether there is such a row (null:
  /// always).
  int64_t threads = 0, rowsOfBlock = 1;
  Value thread, hasRow;
  gpu::LaunchOp launch;
  DenseMap<Value, SmallVector<Value>> destinations;
  DenseMap<Value, Value> exported;
  bool hasFailed = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_LAUNCHEMITTER_H
