//===- KernelGraph.h - what a kernel computes, by stages --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a graph of structured ops on tensors. Code is made of it by
// *stages*: an op that computes its result point by point and keeps it (in a
// register, a temporary or a destination). All other ops are computed where
// their results are used. Stages that share loops form a *nest*:
//
//   x ─▶ max(n|d) ─▶ exp(x-max) ─▶ sum(n|d) ─▶ exp/sum ─▶ out       softmax
//        stage       stage         stage       stage
//        └──────────── one nest, outer axis n ─────┘
//
// Loops of different ops are related by the tensors between them: an *axis* is
// a class of loops that run over the same dimension. An axis is *outer* in a
// nest if every stage has it as a parallel loop.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_KERNELGRAPH_H
#define RELAX_TARGET_SCHEDULE_KERNELGRAPH_H

#include "Target/Common/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::relax {

using Axis = unsigned;

/// An op that keeps its results.
struct Stage {
  mutable linalg::GenericOp op; // its methods are not const
  /// The axis of each loop of `op`.
  SmallVector<Axis> axes;
  /// The axis that vectors run along; none where nothing is contiguous.
  std::optional<Axis> lanes;

  bool isReduction() const { return op.getNumReductionLoops() > 0; }
  /// Whether two inputs each miss a parallel loop.
  bool isContraction() const;
  /// Whether the inputs of a contraction are each the same along one of two
  /// axes.
  bool isShared(Axis axis, Axis other) const;
  bool isParallel(unsigned loop) const {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
  }
  std::optional<unsigned> loopOf(Axis axis) const {
    const auto *found = llvm::find(axes, axis);
    if (found == axes.end())
      return std::nullopt;
    return found - axes.begin();
  }
};

/// Stages in the order of execution, with the axes that all of them share.
struct Nest {
  SmallVector<Stage> stages;
  SmallVector<Axis> outer;
  /// The outer axes that all contractions share an operand along, where several
  /// contractions are done for a block of rows (RowBlocks.cpp); else none.
  SmallVector<Axis> rows;
  /// The axis that the first contraction of them makes and the last sums over.
  std::optional<Axis> columns;

  bool isOuter(Axis axis) const { return llvm::is_contained(outer, axis); }
};

/// Where a result goes in the end: a buffer of the same type.
struct Output {
  OpResult value;
  Value buffer;
};

class KernelGraph;

/// Replaces what a kernel computes by code: brings it into the form that the
/// graph reads, lets `emit` make code of its nests at the end of the body, and
/// takes away what that replaces. Where any of it fails, the kernel is as
/// before. `rowBlocks`: contractions that share rows are one nest.
LogicalResult scheduleKernel(
    func::FuncOp kernel, bool rowBlocks,
    function_ref<LogicalResult(const KernelGraph &, OpBuilder &)> emit);

class KernelGraph {
public:
  /// Reads a kernel whose boundary are memrefs. Failure means that it holds
  /// something that only loops can do. `rowBlocks`: contractions that share
  /// rows are one nest.
  static FailureOr<KernelGraph> read(func::FuncOp kernel, bool rowBlocks);

  SmallVector<Nest> nests;
  SmallVector<Output> outputs;
  /// The ops that a schedule replaces.
  SmallVector<bufferization::MaterializeInDestinationOp> roots;

  /// The structured op behind a tensor, or null.
  static linalg::GenericOp producer(Value tensor);

  /// The tensors that an op reads, with the map from its loops to their
  /// dimensions (null where it is computed in the body).
  static SmallVector<std::pair<Value, AffineMap>> reads(linalg::GenericOp op);

  /// Calls `visit` for each op that is computed as part of `stage`: itself and
  /// the ones that are not stages.
  void visitInlined(linalg::GenericOp stage,
                    function_ref<void(linalg::GenericOp)> visit) const;

  Axis axisOf(linalg::GenericOp op, unsigned loop) const;

  /// The ops that read a result of a stage of `nest`, and whether they are
  /// computed in that nest.
  SmallVector<std::pair<linalg::GenericOp, bool>>
  readersOf(OpResult result, const Nest &nest) const;
  /// Whether a result of a stage of `nest` is read in another nest.
  bool isReadLater(OpResult result, const Nest &nest) const;

  /// Whether `op` reads `result` at its own point along all axes of that, and
  /// nowhere else.
  bool readsAtPoint(linalg::GenericOp op, OpResult result) const;

  bool isStage(Operation *op) const { return stageOps.contains(op); }

private:
  LogicalResult collect(func::FuncOp kernel);
  void relateAxes();
  void chooseStages();
  void formNests();
  void joinRowBlocks();
  std::optional<Nest> joined(ArrayRef<Nest> parts) const;
  /// The lanes of a stage, not along any of `outer`.
  std::optional<Axis> chooseLanes(const Stage &stage,
                                  ArrayRef<Axis> outer = {}) const;
  SmallVector<Axis> sharedAxes(ArrayRef<Stage> stages) const;

  /// In the order of the kernel.
  SmallVector<linalg::GenericOp> ops;
  llvm::SetVector<Operation *> stageOps;
  DenseMap<Operation *, unsigned> firstLoop;
  llvm::EquivalenceClasses<unsigned> classes;
  /// Loops whose results are read at other points than their own.
  DenseSet<unsigned> irregular;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_KERNELGRAPH_H
