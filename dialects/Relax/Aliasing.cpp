//===- Aliasing.cpp - aliasing of operands and results --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Aliasing.h"

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Ops/Memory.h"
#include "Relax/RuntimeLibraries.h"

using namespace mlir;
using namespace mlir::relax;

bool relax::isReferenceCounted(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), isReferenceCounted);
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getElementType().isIntOrFloat();
  return isa<StorageType, ObjectType, FunctionType>(type);
}

bool relax::isViewOp(Operation *op) {
  return isa<TensorFromStorageOp, MatchCastOp, ReshapeOp, FlattenOp,
             ExpandDimsOp, SqueezeOp, TupleOp, GetOp>(op);
}

ArrayRef<int64_t> relax::getInplaceIndices(Operation *op) {
  if (auto call = dyn_cast<CallTIRInplaceOp>(op))
    return call.getInplaceIndices();
  if (auto call = dyn_cast<CallLibraryInplaceOp>(op))
    return call.getInplaceIndices();
  return {};
}

void relax::walkDirectAliases(OpOperand &use, function_ref<void(Value)> fn) {
  Operation *op = use.getOwner();
  if (isViewOp(op))
    llvm::for_each(op->getResults(), fn);
  for (auto [result, index] :
       llvm::zip(op->getResults(), getInplaceIndices(op)))
    if (index == use.getOperandNumber())
      fn(result);
}

bool relax::isKeptByLibrary(Operation *op) {
  if (op->hasAttr(notes::kBorrows))
    return false;
  if (auto call = dyn_cast<CallLibraryOp>(op))
    return !isRuntimeLibrary(call.getLibraryFunction());
  if (auto call = dyn_cast<CallLibraryInplaceOp>(op))
    return !isRuntimeLibrary(call.getLibraryFunction());
  return false;
}

/// Whether called functions decide which operands a result may alias.
static bool passesThroughFunction(Operation *op) {
  return isa<CallOp, CallClosureOp, MakeClosureOp>(op);
}

void relax::walkSources(Value value, PassesOn passesOn,
                        function_ref<void(OpOperand &)> fn) {
  if (!isReferenceCounted(value.getType()))
    return;
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value))
    op = argument.getOwner()->getParentOp();
  unsigned index = isa<BlockArgument>(value)
                       ? cast<BlockArgument>(value).getArgNumber()
                       : cast<OpResult>(value).getResultNumber();
  // A function parameter gets its memory from outside, under no known name.
  if (isa<FuncOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return;
  if (auto loop = dyn_cast<WhileOp>(op)) {
    fn(loop->getOpOperand(index));
    fn(loop.getBody().front().getTerminator()->getOpOperand(index));
  } else if (isa<IfOp, DataflowOp>(op)) {
    for (Region &region : op->getRegions())
      fn(region.front().getTerminator()->getOpOperand(index));
  } else if (isa<TensorFromStorageOp>(op)) {
    // Allocated here, so there is no source.
  } else if (auto get = dyn_cast<GetOp>(op);
             get && get.getInput().getDefiningOp<TupleOp>()) {
    fn(get.getInput().getDefiningOp()->getOpOperand(get.getIndex()));
  } else if (passesThroughFunction(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (passesOn(op, operand.getOperandNumber(), index))
        fn(operand);
  } else if (isa_and_nonnull<RelaxDialect>(op->getDialect())) {
    // Views, tuples and in-place results alias; all other ops allocate.
    for (OpOperand &operand : op->getOpOperands())
      walkDirectAliases(operand, [&](Value alias) {
        if (alias == value)
          fn(operand);
      });
  } else {
    // Unknown ops may pass on any operand.
    for (OpOperand &operand : op->getOpOperands())
      fn(operand);
  }
}

void relax::walkTargets(OpOperand &use, PassesOn passesOn,
                        function_ref<void(Value)> fn) {
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
  } else if (passesThroughFunction(op)) {
    for (OpResult result : op->getResults())
      if (passesOn(op, index, result.getResultNumber()))
        fn(result);
  } else if (isa_and_nonnull<RelaxDialect>(op->getDialect())) {
    walkDirectAliases(use, fn);
  } else {
    llvm::for_each(op->getResults(), fn);
  }
}
