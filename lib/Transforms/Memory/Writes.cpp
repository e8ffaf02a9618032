//===- Writes.cpp - writes of functions to their arguments ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Writes.h"

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"

using namespace mlir;
using namespace mlir::relax;

void Writes::walkWritten(Operation *op,
                         function_ref<void(OpOperand &)> fn) const {
  auto walkInplace = [&](auto call) {
    for (int64_t index : call.getInplaceIndices())
      if (index >= 0)
        fn(call->getOpOperand(index));
  };
  if (auto call = dyn_cast<CallTIRInplaceOp>(op))
    return walkInplace(call);
  if (auto call = dyn_cast<CallLibraryInplaceOp>(op))
    return walkInplace(call);
  if (auto call = dyn_cast<CallOp>(op)) {
    if (FuncOp callee = aliases.lookup(call.getCallee()))
      for (unsigned index : getParameters(callee).set_bits())
        fn(op->getOpOperand(index));
  } else if (auto closure = dyn_cast<MakeClosureOp>(op)) {
    if (FuncOp callee = aliases.lookup(closure.getCallee()))
      for (unsigned index : getParameters(callee).set_bits())
        if (index < closure.getCaptures().size())
          fn(op->getOpOperand(index));
  } else if (auto call = dyn_cast<CallClosureOp>(op)) {
    unsigned count = op->getNumOperands() - 1;
    if (FuncOp callee = aliases.getKnownCallee(call)) {
      unsigned bound = callee.getNumArguments() - count;
      for (unsigned index : getParameters(callee).set_bits())
        if (index >= bound)
          fn(op->getOpOperand(1 + index - bound));
      return;
    }
    // An unknown closure may be any function with this many arguments.
    if (auto found = writtenByClosures.find(count);
        found != writtenByClosures.end())
      for (unsigned index : found->second.set_bits())
        fn(op->getOpOperand(1 + index));
  }
}

bool Writes::mayWrite(Operation *op) const {
  WalkResult walked = op->walk([&](Operation *nested) {
    bool writes = false;
    if (auto call = dyn_cast<CallOp>(nested)) {
      FuncOp callee = aliases.lookup(call.getCallee());
      writes = !call.getPure() && (!callee || writers.contains(callee));
    } else if (auto call = dyn_cast<CallClosureOp>(nested)) {
      // A closure from elsewhere may do anything.
      FuncOp callee = aliases.getKnownCallee(call);
      writes = !callee || writers.contains(callee);
    } else if (isa<CallTIRInplaceOp, CallLibraryInplaceOp>(nested))
      walkWritten(nested, [&](OpOperand &) { writes = true; });
    else if (!isa_and_nonnull<RelaxDialect>(nested->getDialect()))
      writes = !nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
               !isMemoryEffectFree(nested);
    return writes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

bool Writes::mayMove(Operation *op, Operation *place) const {
  for (Operation *at = op->getNextNode(); at != place; at = at->getNextNode())
    if (mayWrite(at))
      return false;
  return true;
}

bool Writes::update(FuncOp function) {
  llvm::SmallBitVector marked = getParameters(function);
  bool isNew = false, isWriter = false;
  function.walk([&](Operation *op) {
    walkWritten(op, [&](OpOperand &operand) {
      for (Value source : aliases.getSources(operand.get()))
        if (auto argument = dyn_cast<BlockArgument>(source);
            argument && argument.getOwner()->getParentOp() == function)
          marked.set(argument.getArgNumber());
    });
    if (isa<CallOp, CallClosureOp>(op))
      isWriter |= mayWrite(op);
    auto closure = dyn_cast<MakeClosureOp>(op);
    FuncOp callee = closure ? aliases.lookup(closure.getCallee()) : FuncOp();
    if (!callee)
      return;
    unsigned bound = closure.getCaptures().size(),
             count = callee.getNumArguments() - bound;
    llvm::SmallBitVector &written = writtenByClosures[count];
    written.resize(count);
    for (unsigned index : getParameters(callee).set_bits())
      if (index >= bound && !written.test(index - bound)) {
        written.set(index - bound);
        isNew = true;
      }
  });
  if (isWriter || marked.any())
    isNew |= writers.insert(function).second;
  isNew |= marked != getParameters(function);
  parameters[function] = marked;
  return isNew;
}

Writes::Writes(ModuleOp module) : aliases(module) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    llvm::SmallBitVector &marked = parameters[function];
    marked.resize(function.getNumArguments());
    // External functions declare which parameters they write.
    if (auto written =
            function->getAttrOfType<DenseI64ArrayAttr>(notes::kWritten))
      for (int64_t index : written.asArrayRef())
        if (index >= 0 && index < marked.size())
          marked.set(index);
    if (function.isExternal() && !function.getPure())
      writers.insert(function);
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

/// Whether a closure is called once, where it is created.
static bool isCalledOnce(MakeClosureOp closure) {
  if (!closure.getResult().hasOneUse())
    return false;
  OpOperand &use = *closure.getResult().use_begin();
  return isa<CallClosureOp>(use.getOwner()) && use.getOperandNumber() == 0 &&
         use.getOwner()->getBlock() == closure->getBlock();
}

LogicalResult Writes::verify(FuncOp function) const {
  WalkResult walked = function.walk([&](Operation *op) {
    bool valid = true;
    walkWritten(op, [&](OpOperand &operand) {
      if (!valid)
        return;
      auto closure = dyn_cast<MakeClosureOp>(op);
      if (closure && !isCalledOnce(closure)) {
        valid = false;
        op->emitOpError() << "captures operand " << operand.getOperandNumber()
                          << ", which @" << closure.getCallee()
                          << " overwrites at each call; pass it as an "
                             "argument, or call the closure once, in the block "
                             "that makes it";
        return;
      }
      Operation *user = findLaterUse(operand);
      if (!user)
        return;
      valid = false;
      InFlightDiagnostic error = op->emitOpError()
                                 << "overwrites operand "
                                 << operand.getOperandNumber();
      if (user == op) {
        error << ", which it uses again; pass a copy";
        return;
      }
      error << ", which is used afterwards; use the result, or pass a copy";
      error.attachNote(user->getLoc()) << "used here";
    });
    return valid ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
