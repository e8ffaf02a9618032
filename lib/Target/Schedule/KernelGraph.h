//===- KernelGraph.h - kernels as a graph of stages -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a graph of structured ops on tensors. An op that computes its
// result point by point and keeps it (in a register, a temporary or a
// destination) is a *stage*; code is generated for stages. All other ops are
// inlined where their results are used. Stages that share loops form a *nest*:
//
//   x ─▶ max(n|d) ─▶ exp(x-max) ─▶ sum(n|d) ─▶ exp/sum ─▶ out       softmax
//        stage       stage         stage       stage
//        └──────────── one nest, outer axis n ─────┘
//
// Loops of different ops are related through the tensors between them: an
// *axis* is a class of loops over the same dimension. An axis is *outer* in a
// nest if it is a parallel loop of every stage.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_KERNELGRAPH_H
#define RELAX_TARGET_SCHEDULE_KERNELGRAPH_H

#include "Target/Common/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::relax {

using Axis = unsigned;

/// An op whose results are kept.
struct Stage {
  mutable linalg::GenericOp op; // its methods are not const
  /// The axis of each loop of `op`.
  SmallVector<Axis> axes;
  /// The axis that is vectorized; none if nothing is contiguous.
  std::optional<Axis> lanes;

  bool isReduction() const { return op.getNumReductionLoops() > 0; }
  /// Whether two inputs each lack a parallel loop.
  bool isContraction() const;
  /// Whether each of the two axes indexes an input of the contraction that the
  /// other one does not.
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

/// Stages in execution order, with the axes that all of them share.
struct Nest {
  SmallVector<Stage> stages;
  SmallVector<Axis> outer;
  /// If several contractions are computed together for blocks of rows
  /// (RowBlocks.cpp): the outer axes along which they all share an operand.
  /// Otherwise empty.
  SmallVector<Axis> rows;
  /// The axis that the first of these contractions produces and the last sums
  /// over.
  std::optional<Axis> columns;

  bool isOuter(Axis axis) const { return llvm::is_contained(outer, axis); }
};

/// The destination of a result: a buffer of the same type.
struct Output {
  OpResult value;
  Value buffer;
};

class KernelGraph;

/// Replaces the computations of a kernel by generated code: brings the kernel
/// into the form that the graph reads, calls `emit` to generate code for its
/// nests at the end of the body, and erases the replaced ops. On failure, the
/// kernel does not change. `rowBlocks`: contractions that share rows form one
/// nest.
LogicalResult scheduleKernel(
    func::FuncOp kernel, bool rowBlocks,
    function_ref<LogicalResult(const KernelGraph &, OpBuilder &)> emit);

class KernelGraph {
public:
  /// Reads a kernel with memref parameters. Fails if it contains ops that only
  /// plain loops support. `rowBlocks`: contractions that share rows form one
  /// nest.
  static FailureOr<KernelGraph> read(func::FuncOp kernel, bool rowBlocks);

  SmallVector<Nest> nests;
  SmallVector<Output> outputs;
  /// The ops that a schedule replaces.
  SmallVector<bufferization::MaterializeInDestinationOp> roots;

  /// The structured op that computes a tensor, or null.
  static linalg::GenericOp producer(Value tensor);

  /// The tensors that an op reads, with the maps from its loops to their
  /// dimensions (null if the index is computed in the body).
  static SmallVector<std::pair<Value, AffineMap>> reads(linalg::GenericOp op);

  /// Calls `visit` for each op that is computed as part of `stage`: the stage
  /// and the ops inlined into it.
  void visitInlined(linalg::GenericOp stage,
                    function_ref<void(linalg::GenericOp)> visit) const;

  Axis axisOf(linalg::GenericOp op, unsigned loop) const;

  /// The ops that read a result of a stage of `nest`, and whether they are
  /// computed in that nest.
  SmallVector<std::pair<linalg::GenericOp, bool>>
  readersOf(OpResult result, const Nest &nest) const;
  /// Whether a result of a stage of `nest` is read in another nest.
  bool isReadLater(OpResult result, const Nest &nest) const;

  /// Whether all reads of `result` in `op` are at its own point along all axes
  /// of the result.
  bool readsAtPoint(linalg::GenericOp op, OpResult result) const;

  bool isStage(Operation *op) const { return stageOps.contains(op); }

private:
  LogicalResult collect(func::FuncOp kernel);
  void relateAxes();
  void chooseStages();
  void formNests();
  void joinRowBlocks();
  std::optional<Nest> joined(ArrayRef<Nest> parts) const;
  /// The axis to vectorize a stage along, excluding `outer`.
  std::optional<Axis> chooseLanes(const Stage &stage,
                                  ArrayRef<Axis> outer = {}) const;
  SmallVector<Axis> sharedAxes(ArrayRef<Stage> stages) const;

  /// In the order of the kernel.
  SmallVector<linalg::GenericOp> ops;
  llvm::SetVector<Operation *> stageOps;
  DenseMap<Operation *, unsigned> firstLoop;
  llvm::EquivalenceClasses<unsigned> classes;
  /// Axes of results that are read at points other than the reader's own.
  DenseSet<unsigned> irregular;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_KERNELGRAPH_H
