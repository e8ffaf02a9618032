//===- LaunchEmitter.h - emits a nest as a GPU kernel -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest (Schedule/KernelGraph.h) becomes one launch of one of these forms:
//
//   points   a thread for each point of the outer axes, adjacent threads along
//            contiguous memory; reductions run in the thread
//   columns  a block for some adjacent points with long sums: its threads
//            divide each sum and combine their parts in shared memory
//   rows     a block for each point of the outer axes: its threads divide the
//            other axes of each stage and combine partial reductions; if a
//            subgroup is enough for a row, a block has several rows
//
// A thread processes several contiguous elements at a time if all accesses
// allow it: 16 bytes of the narrowest operand.
//
// Intermediate results are kept in registers, in shared memory or, if they are
// large or read by a later nest, in a buffer of the kernel.
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
  /// `storage` contains the results of earlier nests and receives the results
  /// of this one. `lanes`: elements that a thread processes at a time
  /// (`chooseWidth`).
  LaunchEmitter(const KernelGraph &graph, const Nest &nest, OpBuilder &builder,
                Location loc, DenseMap<Value, Storage> &storage,
                unsigned subgroupSize, int64_t lanes)
      : graph(graph), nest(nest), builder(builder), loc(loc),
        emitter(builder, loc, lanes), storage(storage),
        subgroupSize(subgroupSize) {
    emitter.alignedBuffers = true;
    emitter.gathers = false;
  }

  /// How many elements a thread can process at a time.
  static int64_t chooseWidth(const KernelGraph &graph, const Nest &nest);

  LogicalResult emit();

protected:
  using Point = DenseMap<Axis, Lanes>;

  /// Iterations of a thread whose loads are issued together.
  static constexpr int64_t stepsAtOnce = 8;

  LogicalResult findSizes() {
    auto found = emitter.sizes(nest);
    if (succeeded(found))
      sizes = std::move(*found);
    return failure(failed(found));
  }
  /// Whether a block computes a row; if so, also chooses the threads.
  bool chooseRows();
  /// Whether blocks compute columns.
  bool chooseColumns();
  void emitColumns();
  /// Chooses where results are stored; buffers that `storage` already has are
  /// reused.
  void chooseStorage();
  /// Whether a later nest reads the result of a stage.
  bool isReadLater(OpResult result) const;
  /// Allocates a buffer in shared memory.
  Value allocateShared(ArrayRef<int64_t> shape, Type element);
  gpu::LaunchOp createLaunch(Value blocks, int64_t threads);
  /// In the form `rows`: the row of this thread, out of `total`.
  Value chooseRow(Value total);

  /// In the form `points`: emits the points of thread `number`, out of `total`.
  void emitPoints(Value number, Value total);
  void emitPoint(const Stage &stage, Point point);
  void emitRowStage(const Stage &stage, Point point);
  void emitShared(const Stage &stage, ArrayRef<Axis> axes, const Point &point);
  /// Distributes the iterations below `count` cyclically among the threads and
  /// runs `body` for each. Short loops are unrolled, so that their loads are
  /// issued together; in the last iteration, `isOn` says whether the thread
  /// takes part (null: all threads do).
  SmallVector<Value>
  share(Value count, ValueRange inits,
        function_ref<SmallVector<Value>(Value number, Value isOn, ValueRange)>
            body,
        ArrayRef<std::optional<Combiner>> combiners = {});
  /// Runs `body` for every `stride`th index below `count`, starting at `first`,
  /// which is less than `stride`; in blocks of `most` iterations if float sums
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
  /// Reduces over the whole block; every thread gets the result.
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
  /// The contiguous axes of the stages; in a row, only inner axes if there are
  /// any.
  static SmallVector<Axis> lanesOf(const Nest &nest);
  /// Wraps loop-carried values as scalars or vectors by their type.
  static SmallVector<Lanes> asLanes(ArrayRef<Value> values);
  bool isWide(Axis axis) const { return llvm::is_contained(wide, axis); }
  /// Whether the values of a stage at a point are vectors.
  bool isVector(const Stage &stage, const Point &point) const;
  /// The number of points of the axes, where a vector counts as one point.
  Value count(ArrayRef<Axis> axes);
  /// Splits a linear index into coordinates; the last axis varies fastest.
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
  /// The vectorized axes, if any.
  SmallVector<Axis> wide;
  /// The outer axes; the contiguous one is last.
  SmallVector<Axis> order;
  /// In the form `columns`: the axis along which threads are adjacent, how many
  /// points of it a block computes at a time, and how the results are combined.
  Axis column = 0;
  int64_t width = 0;
  SmallVector<Combiner> combiners;
  /// In the form `rows`: threads per row, rows per block, the index of a thread
  /// within its row, and whether that row exists (null: always).
  int64_t threads = 0, rowsOfBlock = 1;
  Value thread, hasRow;
  gpu::LaunchOp launch;
  DenseMap<Value, SmallVector<Value>> destinations;
  DenseMap<Value, Value> exported;
  bool hasFailed = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_LAUNCHEMITTER_H
