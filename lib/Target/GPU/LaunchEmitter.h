//===- LaunchEmitter.h - a nest as a kernel of a GPU ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest (Schedule/KernelGraph.h) becomes one launch, in one of two forms:
//
//   points   a thread for each point of the outer axes, neighbours along
//            memory; reductions run in the thread
//   rows     a block for each point of the outer axes: its threads share the
//            other axes of each stage, and combine what they reduce
//
// What stages hand on lies in registers, in memory of the block, or, where it
// is large or read by a later nest, in a buffer of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCHEMITTER_H
#define RELAX_TARGET_GPU_LAUNCHEMITTER_H

#include "Target/CPU/Schedule/Combiner.h"
#include "Target/CPU/Schedule/KernelGraph.h"
#include "Target/CPU/Schedule/PointEmitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::relax {

class LaunchEmitter {
public:
  /// `storage` has the results of nests before, and gets those of this one.
  LaunchEmitter(const KernelGraph &graph, const Nest &nest, OpBuilder &builder,
                Location loc, DenseMap<Value, Storage> &storage,
                unsigned subgroupSize)
      : graph(graph), nest(nest), builder(builder), loc(loc),
        emitter(builder, loc, /*lanes=*/1), storage(storage),
        subgroupSize(subgroupSize) {}

  LogicalResult emit();

private:
  using Point = DenseMap<Axis, Value>;

  LogicalResult findSizes();
  /// Whether a block takes a row; its threads, if so.
  bool chooseRows();
  void chooseStorage();
  /// A buffer in the memory of a block.
  Value allocateShared(ArrayRef<int64_t> shape, Type element);
  gpu::LaunchOp createLaunch(Value blocks, int64_t threads);

  void emitPoint(const Stage &stage, Point point);
  void emitRowStage(const Stage &stage, Point point);
  void emitShared(const Stage &stage, ArrayRef<Axis> axes, const Point &point);
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
  void keep(const Stage &stage, const Point &point, ArrayRef<Value> values,
            bool byOne);

  SmallVector<Lanes> loopsAt(const Stage &stage, const Point &point) const;
  SmallVector<Axis> axesOf(const Stage &stage, bool reduced) const;
  Value product(ArrayRef<Axis> axes);
  /// The coordinates of the point `number`, the last axis running fastest.
  void divide(Value number, ArrayRef<Axis> axes, Point &point);
  SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange inits,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);
  void fail() { hasFailed = true; }

  const KernelGraph &graph;
  const Nest &nest;
  OpBuilder &builder;
  Location loc;
  PointEmitter emitter;
  DenseMap<Value, Storage> &storage;
  unsigned subgroupSize;

  DenseMap<Axis, Value> sizes;
  /// The outer axes, the one that memory is contiguous along last.
  SmallVector<Axis> order;
  /// In a block of the form `rows`.
  int64_t threads = 0;
  Value thread;
  gpu::LaunchOp launch;
  DenseMap<Value, SmallVector<Value>> destinations;
  DenseMap<Value, Value> exported;
  bool hasFailed = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCHEMITTER_H
