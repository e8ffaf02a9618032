//===- Aliases.h - alias analysis of graph functions ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two values may share memory if one is a view of the other, if a kernel writes
// one in place of the other, or if a tuple, a branch, a loop, a call or a
// closure passes one on. For each function, the analysis finds which parameters
// a result may alias. An unknown closure may return any of its arguments and
// its captured values.
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

  /// Calls `fn` on each operand from which `value` may get its memory in one
  /// step. For a loop-carried value these are the initial value and the yielded
  /// one.
  void walkSources(Value value, function_ref<void(OpOperand &)> fn) const;
  /// Calls `fn` on each value that may get its memory from `use` in one step.
  void walkTargets(OpOperand &use, function_ref<void(Value)> fn) const;

  /// Whether the operand of `use` may be retained and used at any later time:
  /// by a callback or a library, possibly inside of a called function.
  bool mayBeKept(OpOperand &use) const;

  /// `value` and all values from which it may get its memory.
  llvm::SetVector<Value> getSources(Value value) const;

  /// For each result of `function`, the parameters that it may alias.
  ArrayRef<llvm::SmallBitVector> getReturned(FuncOp function) const {
    return returned.find(function)->second;
  }

  /// Returns null if the name is not a function of the module.
  FuncOp lookup(StringRef name) const { return functions.lookup(name); }

  /// The function of a closure that is called where it is created; else null.
  FuncOp getKnownCallee(CallClosureOp call) const;

private:
  /// The same for a declaration: as declared, or all parameters.
  static SmallVector<llvm::SmallBitVector> getDeclared(FuncOp function);
  /// Updates which parameters the results of `function` may alias, and whether
  /// it lets arguments be retained. Returns whether anything changed.
  bool update(FuncOp function);
  /// Whether result `result` of the call `op` may alias operand `operand`.
  bool mayPassOn(Operation *op, unsigned operand, unsigned result) const;

  llvm::StringMap<FuncOp> functions;
  /// Functions that may let their arguments be retained.
  DenseSet<FuncOp> keepers;
  /// For each function, the parameters that each result may alias.
  DenseMap<FuncOp, SmallVector<llvm::SmallBitVector>> returned;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_ALIASES_H
