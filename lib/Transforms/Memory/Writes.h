//===- Writes.h - writes of functions to their arguments --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In-place kernels write into tensors, and a graph function that passes its
// parameters to them writes into its caller's tensors. An overwritten tensor is
// dead: only the result of the call may be used afterwards, and no op that
// reads the tensor may move across the write.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_WRITES_H
#define RELAX_TRANSFORMS_MEMORY_WRITES_H

#include "Transforms/Memory/Aliases.h"

namespace mlir::relax {

class Writes {
public:
  explicit Writes(ModuleOp module);

  /// The parameters that `function`, or one of its callees, writes.
  const llvm::SmallBitVector &getParameters(FuncOp function) const {
    return parameters.find(function)->second;
  }

  /// Whether `op`, including nested and called ops, may overwrite a tensor that
  /// existed before it.
  bool mayWrite(Operation *op) const;

  /// Whether `op` may run at `place`, later in its block: nothing moves across
  /// a write.
  bool mayMove(Operation *op, Operation *place) const;

  /// Calls `fn` on each operand that `op` writes. Writes of a function to
  /// captured values are attributed to `relax.make_closure`.
  void walkWritten(Operation *op, function_ref<void(OpOperand &)> fn) const;

  /// The first op that uses the memory overwritten by `written` again or
  /// afterwards; null if there is none.
  Operation *findLaterUse(OpOperand &written) const;

  /// Reports an error if a tensor is used after it was overwritten.
  LogicalResult verify(FuncOp function) const;

  const Aliases &getAliases() const { return aliases; }

private:
  /// Updates the parameters that `function` writes; returns whether any are
  /// new.
  bool update(FuncOp function);

  Aliases aliases;
  DenseMap<FuncOp, llvm::SmallBitVector> parameters;
  /// Functions that may overwrite tensors of their callers.
  DenseSet<FuncOp> writers;
  /// For each number of arguments, the arguments that a closure may write.
  DenseMap<unsigned, llvm::SmallBitVector> writtenByClosures;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_WRITES_H
