//===- Lifetimes.cpp - sizes, aliases and last uses -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Lifetimes.h"

#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Manipulate.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

int64_t relax::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

SymExprAttr relax::getByteSize(RankedTensorType type, SymBuilder &math) {
  SmallVector<SymExprAttr> factors(getSymDims(type));
  factors.push_back(math.constant(getElementBytes(type.getElementType())));
  return math.product(factors);
}

Value relax::getAliasedTensor(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return {};
  ArrayRef<int64_t> inplace = getInplaceIndices(op);
  if (!inplace.empty()) {
    int64_t index = inplace[cast<OpResult>(tensor).getResultNumber()];
    return index == -1 ? Value() : op->getOperand(index);
  }
  if (!isViewOp(op) || !isa<TensorType>(op->getOperand(0).getType()))
    return {};
  return op->getOperand(0);
}

bool relax::takesReference(OpOperand &use) {
  return isa<ReturnOp, YieldOp, OutputOp, WhileOp, MakeClosureOp>(
      use.getOwner());
}

bool relax::mayOutlive(OpOperand &use) {
  if (takesReference(use))
    return true;
  Operation *op = use.getOwner();
  if (!isReferenceCounted(use.get().getType()))
    return false;
  // A function may return its argument or let it be retained.
  if (isa<CallOp>(op) || isa<CallClosureOp>(op) || isKeptByLibrary(op))
    return true;
  // Nothing is known about ops of other dialects.
  return !isa_and_nonnull<RelaxDialect>(op->getDialect()) &&
         llvm::any_of(op->getResultTypes(), isReferenceCounted);
}

SmallVector<Value> relax::getOwnedValues(Block &block) {
  SmallVector<Value> owned;
  auto add = [&](Value value) {
    if (isReferenceCounted(value.getType()))
      owned.push_back(value);
  };
  if (auto loop = dyn_cast<WhileOp>(block.getParentOp());
      loop && block.getParent() == &loop.getBody())
    llvm::for_each(block.getArguments(), add);
  for (Operation &op : block) {
    if (isViewOp(&op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    ArrayRef<int64_t> inplace = getInplaceIndices(&op);
    for (OpResult result : op.getResults())
      if (inplace.empty() || inplace[result.getResultNumber()] == -1)
        add(result);
  }
  return owned;
}

void relax::walkUses(Value value, function_ref<void(OpOperand &)> fn) {
  llvm::SetVector<Value> aliases;
  aliases.insert(value);
  for (unsigned next = 0; next < aliases.size(); ++next)
    for (OpOperand &use : aliases[next].getUses()) {
      fn(use);
      walkDirectAliases(use, [&](Value alias) { aliases.insert(alias); });
    }
}

Operation *relax::getLastUser(Value value) {
  Block *block = value.getParentBlock();
  Operation *last = nullptr;
  walkUses(value, [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (!last || last->isBeforeInBlock(user))
      last = user;
  });
  return last;
}

LogicalResult relax::verifyNoDataflow(FuncOp function, StringRef pass) {
  WalkResult found = function.walk([&](DataflowOp dataflow) {
    dataflow.emitOpError() << "must not be left when " << pass
                           << " runs, since memory is a side effect; run "
                              "relax-inline-dataflow before";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

/// Inserts the kills of values that `block` itself owns.
static void insertKillsInto(Block &block) {
  // The op after which each kill is inserted; null is the start of the block.
  // Kills after the same op keep their order.
  DenseMap<Operation *, Operation *> lastKill;
  OpBuilder builder(block.getParentOp()->getContext());
  for (Value value : getOwnedValues(block)) {
    Operation *anchor = getLastUser(value);
    if (!anchor)
      anchor = value.getDefiningOp();
    if (anchor && anchor->hasTrait<OpTrait::IsTerminator>())
      builder.setInsertionPoint(anchor);
    else if (Operation *kill = lastKill.lookup(anchor))
      builder.setInsertionPointAfter(kill);
    else if (anchor)
      builder.setInsertionPointAfter(anchor);
    else
      builder.setInsertionPointToStart(&block);
    Location loc = anchor ? anchor->getLoc() : value.getLoc();
    lastKill[anchor] = KillOp::create(builder, loc, value);
  }
}

void relax::insertKills(FuncOp function) {
  function.walk([](KillOp kill) { kill.erase(); });
  function.walk([](Block *block) { insertKillsInto(*block); });
}
