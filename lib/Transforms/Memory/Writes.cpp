//===- Writes.cpp - what functions write over -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Writes.h"

#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Transforms/Memory/Lifetimes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Marks the parameters that `value` may share its storage with.
static void markParameters(Value value, llvm::SmallBitVector &marked) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (isa<FuncOp>(argument.getOwner()->getParentOp()))
        marked.set(argument.getArgNumber());
      else
        // A loop's carried value: any of the initial ones.
        llvm::append_range(pending,
                           argument.getOwner()->getParentOp()->getOperands());
      continue;
    }
    // What a tensor is a view of, or written over; a tuple has several members.
    if (isa<TensorType>(next.getType()))
      if (Value aliased = getAliasedTensor(next)) {
        pending.push_back(aliased);
        continue;
      }
    Operation *op = next.getDefiningOp();
    // What was allocated here; a kernel's new result is none of its operands.
    if (isa<TensorFromStorageOp, CallTIROp, CallLibraryOp, CallTIRInplaceOp,
            CallLibraryInplaceOp>(op))
      continue;
    llvm::append_range(pending, op->getOperands());
    // What a branch or a body yields.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(pending, block.getTerminator()->getOperands());
  }
}

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
    auto callee = functions.find(call.getCallee());
    if (callee == functions.end())
      return;
    for (unsigned index : getParameters(callee->second).set_bits())
      fn(op->getOpOperand(index));
  } else if (auto call = dyn_cast<CallClosureOp>(op)) {
    // Which function it is, is not known: any that has such a type.
    if (writtenByClosures.contains(call.getCallee().getType()))
      for (OpOperand &operand : op->getOpOperands().drop_front())
        fn(operand);
  }
}

bool Writes::update(FuncOp function) {
  llvm::SmallBitVector marked = getParameters(function);
  bool isNew = false;
  function.walk([&](Operation *op) {
    walkWritten(
        op, [&](OpOperand &operand) { markParameters(operand.get(), marked); });
    auto closure = dyn_cast<MakeClosureOp>(op);
    if (!closure)
      return;
    auto callee = functions.find(closure.getCallee());
    if (callee == functions.end())
      return;
    unsigned bound = closure.getCaptures().size();
    for (unsigned index : getParameters(callee->second).set_bits()) {
      if (index < bound)
        markParameters(closure.getCaptures()[index], marked);
      else
        isNew |= writtenByClosures.insert(closure.getType()).second;
    }
  });
  isNew |= marked != getParameters(function);
  parameters[function] = marked;
  return isNew;
}

Writes::Writes(ModuleOp module) {
  for (FuncOp function : module.getOps<FuncOp>()) {
    functions[function.getSymName()] = function;
    parameters[function].resize(function.getNumArguments());
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

//===----------------------------------------------------------------------===//
// Uses of what is gone
//===----------------------------------------------------------------------===//

/// Whether `use` reads no element.
static bool isHarmless(OpOperand &use) {
  return isa<KillOp, ShapeOfOp, DimOp>(use.getOwner());
}

/// The loop around `writer` in whose every round it writes into `root` again.
static WhileOp findLoop(Operation *writer, Value root) {
  for (Operation *at = writer; at->getBlock() != root.getParentBlock();
       at = at->getParentOp())
    if (auto loop = dyn_cast<WhileOp>(at->getParentOp()))
      return loop;
  return {};
}

/// Whether `user` may run after `writer`, with the same `root`.
static bool mayFollow(Operation *user, Operation *writer, Value root) {
  for (Operation *at = writer;; at = at->getParentOp()) {
    Block *block = at->getBlock();
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && at->isBeforeInBlock(ancestor))
      return true;
    if (block == root.getParentBlock())
      return false;
  }
}

namespace {

/// Looks for a use of `written`, or of what shares its memory, after `writer`.
class LaterUse {
public:
  LaterUse(OpOperand &written) : written(written), writer(written.getOwner()) {}

  /// The op that uses it; null where there is none.
  Operation *find() { return find(written.get()); }

private:
  Operation *find(Value value) {
    while (Value aliased = getAliasedTensor(value))
      value = aliased;
    if (!seen.insert(value).second)
      return nullptr;
    if (findLoop(writer, value))
      return writer;
    if (Operation *user = findUser(value))
      return user;
    // What else the memory belongs to.
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
      return loop ? findAround(loop, argument.getArgNumber()) : nullptr;
    }
    unsigned index = cast<OpResult>(value).getResultNumber();
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<WhileOp>(op))
      return find(loop.getInits()[index]);
    if (isa<IfOp>(op))
      for (Region &region : op->getRegions()) {
        Value yielded = region.front().getTerminator()->getOperand(index);
        // Inside the region nothing follows.
        if (region.isAncestor(yielded.getParentRegion()))
          continue;
        if (Operation *user = find(yielded))
          return user;
      }
    return nullptr;
  }

  /// The same of what a loop that holds the writer begins with.
  static Operation *findAround(WhileOp loop, unsigned index) {
    return LaterUse(loop->getOpOperand(index)).find();
  }

  Operation *findUser(Value root) {
    llvm::SetVector<Value> aliases;
    aliases.insert(root);
    for (unsigned next = 0; next < aliases.size(); ++next)
      for (OpOperand &use : aliases[next].getUses()) {
        Operation *user = use.getOwner();
        // These read no element.
        if (&use == &written || isa<KillOp, ShapeOfOp, DimOp>(user))
          continue;
        if (user == writer || mayFollow(user, writer, root))
          return user;
        // Members of tuples are followed no further.
        if (!isa<TupleOp, GetOp>(user))
          walkDirectAliases(use, [&](Value alias) { aliases.insert(alias); });
      }
    return nullptr;
  }

  OpOperand &written;
  Operation *writer;
  DenseSet<Value> seen;
};

} // namespace

LogicalResult Writes::verify(FuncOp function) const {
  WalkResult walked = function.walk([&](Operation *op) {
    bool valid = true;
    walkWritten(op, [&](OpOperand &operand) {
      Operation *user = valid ? LaterUse(operand).find() : nullptr;
      if (!user)
        return;
      valid = false;
      InFlightDiagnostic error = op->emitOpError()
                                 << "writes over operand "
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
