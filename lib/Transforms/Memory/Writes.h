//===- Writes.h - what functions write over ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels in place write into tensors, and a graph function that hands its
// parameters to them writes into those of its caller. A tensor that is written
// over dies there: only the result of the call may be used afterwards. Nothing
// that reads it may move across the write.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_WRITES_H
#define RELAX_TRANSFORMS_MEMORY_WRITES_H

#include "Transforms/Memory/Aliases.h"

namespace mlir::relax {

class Writes {
public:
  explicit Writes(ModuleOp module);

  /// The parameters that `function`, or what it calls, writes into.
  const llvm::SmallBitVector &getParameters(FuncOp function) const {
    return parameters.find(function)->second;
  }

  /// Whether `op`, with what it holds and calls, may write over a tensor that
  /// was there before it.
  bool mayWrite(Operation *op) const;

  /// Whether `op` may run where `place` is, which comes later in its block:
  /// nothing moves across a write.
  bool mayMove(Operation *op, Operation *place) const;

  /// Calls `fn` on each operand that `op` writes into. What a function writes
  /// of what it captures, `relax.make_closure` does.
  void walkWritten(Operation *op, function_ref<void(OpOperand &)> fn) const;

  /// The first op that uses what `written` writes over, or what shares its
  /// memory, again or afterwards; null where there is none.
  Operation *findLaterUse(OpOperand &written) const;

  /// Reports an error where a tensor is used after it was written over.
  LogicalResult verify(FuncOp function) const;

  const Aliases &getAliases() const { return aliases; }

private:
  /// Notes the parameters that `function` writes; whether there are new ones.
  bool update(FuncOp function);

  Aliases aliases;
  DenseMap<FuncOp, llvm::SmallBitVector> parameters;
  /// Functions that may write what their callers have.
  DenseSet<FuncOp> writers;
  /// By number of arguments: those that a closure may write into.
  DenseMap<unsigned, llvm::SmallBitVector> writtenByClosures;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_WRITES_H
