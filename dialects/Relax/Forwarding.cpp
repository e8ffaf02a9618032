//===- Forwarding.cpp - replacing an op by its operand --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Forwarding.h"

#include "Relax/Aliasing.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Function.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

/// Whether the program calls `function` or makes a closure of it. A part that
/// is lowered separately is a module nested in the program, so all enclosing
/// modules are searched.
static bool isCalled(FuncOp function) {
  Operation *program = function;
  while (program->getParentOp())
    program = program->getParentOp();
  StringRef name = function.getSymName();
  WalkResult walked = program->walk([&](Operation *op) {
    auto call = dyn_cast<CallOp>(op);
    auto closure = dyn_cast<MakeClosureOp>(op);
    bool isUse = (call && call.getCallee() == name) ||
                 (closure && closure.getCallee() == name);
    return isUse ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

/// Conservatively, a result of a function may be any of its arguments.
static bool mayPassOn(Operation *op, unsigned operand, unsigned result) {
  return isReferenceCounted(op->getOperand(operand).getType()) &&
         isReferenceCounted(op->getResult(result).getType());
}

namespace {

/// The set of values that may share memory, followed in both directions: to the
/// sources of a value and to its targets.
class SharedMemory {
public:
  void add(Value value) { values.insert(value); }

  /// Whether an op may overwrite one of them.
  bool mayBeWritten() {
    for (unsigned next = 0; next < values.size(); ++next) {
      Value value = values[next];
      walkSources(value, mayPassOn,
                  [&](OpOperand &source) { add(source.get()); });
      for (OpOperand &use : value.getUses()) {
        if (writes(use))
          return true;
        walkTargets(use, mayPassOn, [&](Value target) { add(target); });
      }
    }
    return false;
  }

private:
  bool writes(OpOperand &use) {
    Operation *op = use.getOwner();
    if (llvm::is_contained(getInplaceIndices(op), use.getOperandNumber()))
      return true;
    if (auto call = dyn_cast<CallOp>(op))
      return !call.getPure();
    // Callers of the function may overwrite what it returns.
    if (isa<ReturnOp>(op)) {
      if (!called)
        called = isCalled(op->getParentOfType<FuncOp>());
      return *called;
    }
    return isa<CallClosureOp, MakeClosureOp>(op);
  }

  llvm::SetVector<Value> values;
  std::optional<bool> called; // whether the function is called
};

} // namespace

bool relax::canForward(Value value, Operation *op) {
  SharedMemory memory;
  memory.add(value);
  for (Value result : op->getResults())
    memory.add(result);
  return !memory.mayBeWritten();
}
