//===- Aliases.cpp - alias analysis of graph functions --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Aliases.h"

#include "Relax/Aliasing.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"

using namespace mlir;
using namespace mlir::relax;

Aliases::Aliases(ModuleOp module) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    functions[function.getSymName()] = function;
    if (function.isExternal()) {
      returned[function] = getDeclared(function);
      keepers.insert(function);
      continue;
    }
    returned[function].assign(function.getNumResults(),
                              llvm::SmallBitVector(function.getNumArguments()));
  }
  // Takes as many rounds as the longest chain of calls; in most modules callees
  // come first.
  for (bool changed = true; changed;) {
    changed = false;
    for (FuncOp function : module.getOps<FuncOp>())
      if (!function.isExternal())
        changed |= update(function);
  }
}

SmallVector<llvm::SmallBitVector> Aliases::getDeclared(FuncOp function) {
  SmallVector<llvm::SmallBitVector> declared;
  unsigned count = function.getNumArguments();
  if (auto note = function->getAttrOfType<ArrayAttr>(notes::kReturned)) {
    for (auto parameters : note.getAsRange<DenseI64ArrayAttr>()) {
      llvm::SmallBitVector &result = declared.emplace_back(count);
      for (int64_t index : parameters.asArrayRef())
        if (index >= 0 && index < count)
          result.set(index);
    }
    return declared;
  }
  // Nothing is known about external functions.
  declared.assign(function.getNumResults(), llvm::SmallBitVector(count, true));
  return declared;
}

bool Aliases::update(FuncOp function) {
  bool isNew = false;
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [index, operand] : llvm::enumerate(terminator->getOperands())) {
    if (!isReferenceCounted(operand.getType()))
      continue;
    llvm::SmallBitVector &known = returned[function][index];
    for (Value source : getSources(operand))
      if (auto argument = dyn_cast<BlockArgument>(source);
          argument && argument.getOwner()->getParentOp() == function) {
        isNew |= !known.test(argument.getArgNumber());
        known.set(argument.getArgNumber());
      }
  }
  WalkResult walked = function.walk([&](Operation *op) {
    return llvm::any_of(op->getOpOperands(),
                        [&](OpOperand &use) { return mayBeKept(use); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    isNew |= keepers.insert(function).second;
  return isNew;
}

bool Aliases::mayBeKept(OpOperand &use) const {
  Operation *op = use.getOwner();
  if (!isReferenceCounted(use.get().getType()))
    return false;
  FuncOp callee;
  if (auto call = dyn_cast<CallOp>(op))
    callee = lookup(call.getCallee());
  else if (auto call = dyn_cast<CallClosureOp>(op))
    callee = getKnownCallee(call);
  else
    return isKeptByLibrary(op) ||
           !isa_and_nonnull<RelaxDialect>(op->getDialect());
  return !callee || keepers.contains(callee);
}

FuncOp Aliases::getKnownCallee(CallClosureOp call) const {
  auto closure = call.getCallee().getDefiningOp<MakeClosureOp>();
  return closure ? lookup(closure.getCallee()) : FuncOp();
}

bool Aliases::mayPassOn(Operation *op, unsigned operand,
                        unsigned result) const {
  if (isa<MakeClosureOp>(op))
    return true;
  if (!isReferenceCounted(op->getOperand(operand).getType()) ||
      !isReferenceCounted(op->getResult(result).getType()))
    return false;
  if (auto call = dyn_cast<CallOp>(op)) {
    FuncOp callee = lookup(call.getCallee());
    return !callee || returned.find(callee)->second[result].test(operand);
  }
  auto call = cast<CallClosureOp>(op);
  FuncOp callee = getKnownCallee(call);
  if (!callee)
    return true;
  const llvm::SmallBitVector &parameters =
      returned.find(callee)->second[result];
  unsigned bound = callee.getNumArguments() - call.getArgs().size();
  if (operand > 0)
    return parameters.test(bound + operand - 1);
  int first = parameters.find_first();
  return first >= 0 && first < static_cast<int>(bound);
}

void Aliases::walkSources(Value value,
                          function_ref<void(OpOperand &)> fn) const {
  relax::walkSources(
      value,
      [&](Operation *op, unsigned operand, unsigned result) {
        return mayPassOn(op, operand, result);
      },
      fn);
}

void Aliases::walkTargets(OpOperand &use, function_ref<void(Value)> fn) const {
  relax::walkTargets(
      use,
      [&](Operation *op, unsigned operand, unsigned result) {
        return mayPassOn(op, operand, result);
      },
      fn);
}

llvm::SetVector<Value> Aliases::getSources(Value value) const {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (unsigned next = 0; next < sources.size(); ++next)
    walkSources(sources[next],
                [&](OpOperand &source) { sources.insert(source.get()); });
  return sources;
}
