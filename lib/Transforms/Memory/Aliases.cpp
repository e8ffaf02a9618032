//===- Aliases.cpp - which values share memory ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Aliases.h"

#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Memory.h"
#include "Transforms/Memory/Lifetimes.h"

using namespace mlir;
using namespace mlir::relax;

Aliases::Aliases(ModuleOp module) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    functions[function.getSymName()] = function;
    // Of what is elsewhere nothing is known.
    returned[function].assign(function.getNumResults(),
                              llvm::SmallBitVector(function.getNumArguments(),
                                                   function.isExternal()));
  }
  // A chain of calls settles in as many rounds as it is long; callees come
  // first in most modules.
  for (bool changed = true; changed;) {
    changed = false;
    for (FuncOp function : module.getOps<FuncOp>())
      if (!function.isExternal())
        changed |= update(function);
  }
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
  return isNew;
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
  if (!isReferenceCounted(value.getType()))
    return;
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value))
    op = argument.getOwner()->getParentOp();
  unsigned index = isa<BlockArgument>(value)
                       ? cast<BlockArgument>(value).getArgNumber()
                       : cast<OpResult>(value).getResultNumber();
  // The name has arguments of a function for what comes from its callers.
  if (isa<FuncOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return;
  if (auto loop = dyn_cast<WhileOp>(op)) {
    fn(loop->getOpOperand(index));
    fn(loop.getBody().front().getTerminator()->getOpOperand(index));
  } else if (isa<IfOp, DataflowOp>(op)) {
    for (Region &region : op->getRegions())
      fn(region.front().getTerminator()->getOpOperand(index));
  } else if (isa<TensorFromStorageOp>(op)) {
    // What is allocated here.
  } else if (auto get = dyn_cast<GetOp>(op);
             get && get.getInput().getDefiningOp<TupleOp>()) {
    fn(get.getInput().getDefiningOp()->getOpOperand(get.getIndex()));
  } else if (isa<CallOp, CallClosureOp, MakeClosureOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (mayPassOn(op, operand.getOperandNumber(), index))
        fn(operand);
  } else if (isa_and_nonnull<RelaxDialect>(op->getDialect())) {
    // Views, tuples and what is in place; all else makes a tensor.
    for (OpOperand &operand : op->getOpOperands())
      walkDirectAliases(operand, [&](Value alias) {
        if (alias == value)
          fn(operand);
      });
  } else {
    // Nothing is known.
    for (OpOperand &operand : op->getOpOperands())
      fn(operand);
  }
}

void Aliases::walkTargets(OpOperand &use, function_ref<void(Value)> fn) const {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  auto carry = [&](WhileOp loop, unsigned position) {
    fn(loop.getResult(position));
    for (Region *region : {&loop.getConditionRegion(), &loop.getBody()})
      fn(region->getArgument(position));
  };
  if (auto loop = dyn_cast<WhileOp>(op)) {
    carry(loop, index);
  } else if (isa<YieldOp, OutputOp>(op)) {
    if (auto loop = dyn_cast<WhileOp>(op->getParentOp()))
      carry(loop, index);
    else
      fn(op->getParentOp()->getResult(index));
  } else if (isa<TupleOp>(op)) {
    for (Operation *user : op->getResult(0).getUsers()) {
      auto get = dyn_cast<GetOp>(user);
      if (!get)
        fn(op->getResult(0));
      else if (get.getIndex() == index)
        fn(get.getResult());
    }
  } else if (isa<CallOp, CallClosureOp, MakeClosureOp>(op)) {
    for (OpResult result : op->getResults())
      if (mayPassOn(op, index, result.getResultNumber()))
        fn(result);
  } else if (isa_and_nonnull<RelaxDialect>(op->getDialect())) {
    walkDirectAliases(use, fn);
  } else {
    llvm::for_each(op->getResults(), fn);
  }
}

llvm::SetVector<Value> Aliases::getSources(Value value) const {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (unsigned next = 0; next < sources.size(); ++next)
    walkSources(sources[next],
                [&](OpOperand &source) { sources.insert(source.get()); });
  return sources;
}
