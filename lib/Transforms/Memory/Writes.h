//===- Writes.h - what functions write over ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels in place write into tensors, and a graph function that hands its
// parameters to them writes into those of its caller. A tensor that is written
// over dies there: only the result of the call may be used afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_WRITES_H
#define RELAX_TRANSFORMS_MEMORY_WRITES_H

#include "Relax/Ops/Function.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::relax {

class Writes {
public:
  explicit Writes(ModuleOp module);

  /// The parameters that `function`, or what it calls, writes into.
  const llvm::SmallBitVector &getParameters(FuncOp function) const {
    return parameters.find(function)->second;
  }

  /// Reports an error where a tensor is used after it was written over.
  LogicalResult verify(FuncOp function) const;

private:
  /// Calls `fn` on each operand that `op` writes into.
  void walkWritten(Operation *op, function_ref<void(OpOperand &)> fn) const;
  /// Notes the parameters that `function` writes; whether there are new ones.
  bool update(FuncOp function);

  DenseMap<FuncOp, llvm::SmallBitVector> parameters;
  /// By name: the functions of the module.
  llvm::StringMap<FuncOp> functions;
  /// The types of what closures write into, when they are called.
  DenseSet<Type> writtenByClosures;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_WRITES_H
