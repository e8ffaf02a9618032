//===- Aliases.h - which values share memory --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two values may share memory where one is a view of the other, where a kernel
// writes one over the other, and where a tuple, a branch, a loop, a call or a
// closure passes one on. Of each function it is found which parameters a
// result may be; a closure that is not made where it is called may return any
// of its arguments, and what it captured.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_ALIASES_H
#define RELAX_TRANSFORMS_MEMORY_ALIASES_H

#include "Relax/Ops/Function.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::relax {

class Aliases {
public:
  explicit Aliases(ModuleOp module);

  /// Calls `fn` on each operand that `value` may have its memory from, in one
  /// step. Of what a loop carries these are the initial value and the one that
  /// the body yields.
  void walkSources(Value value, function_ref<void(OpOperand &)> fn) const;
  /// Calls `fn` on each value that may have its memory from `use`, in one step.
  void walkTargets(OpOperand &use, function_ref<void(Value)> fn) const;

  /// Whether somebody may keep the operand of `use`, and use it at any time: a
  /// callback or a library, maybe of a function that is called.
  bool mayBeKept(OpOperand &use) const;

  /// `value` and all that it may have its memory from.
  llvm::SetVector<Value> getSources(Value value) const;

  /// For each result of `function`, the parameters that it may be.
  ArrayRef<llvm::SmallBitVector> getReturned(FuncOp function) const {
    return returned.find(function)->second;
  }

  /// Null for what is no function of the module.
  FuncOp lookup(StringRef name) const { return functions.lookup(name); }

  /// The function of a closure that is called where it is made; null of others.
  FuncOp getKnownCallee(CallClosureOp call) const;

private:
  /// The same of a declaration: what it says, or all.
  static SmallVector<llvm::SmallBitVector> getDeclared(FuncOp function);
  /// Notes which parameters the results of `function` may be, and whether it
  /// hands on what is kept; whether that is new.
  bool update(FuncOp function);
  /// Whether result `result` of `op`, a call, may be operand `operand`.
  bool mayPassOn(Operation *op, unsigned operand, unsigned result) const;

  llvm::StringMap<FuncOp> functions;
  /// Functions that may hand what they have to those who keep it.
  DenseSet<FuncOp> keepers;
  /// By function: for each result the parameters that it may be.
  DenseMap<FuncOp, SmallVector<llvm::SmallBitVector>> returned;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_ALIASES_H
