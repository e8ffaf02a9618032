//===- Forwarding.cpp - when one value may stand for another --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Forwarding.h"

#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Manipulate.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Values that may share memory, found in both directions: of what a value is
/// made, and what is made of it.
class SharedMemory {
public:
  void add(Value value) { values.insert(value); }

  /// Whether an op may write over one of them.
  bool mayBeWritten() {
    for (unsigned next = 0; next < values.size(); ++next) {
      Value value = values[next];
      addSources(value);
      for (OpOperand &use : value.getUses())
        if (writes(use))
          return true;
    }
    return false;
  }

private:
  static bool isView(Operation *op) {
    return isa<MatchCastOp, ReshapeOp, FlattenOp, ExpandDimsOp, SqueezeOp,
               TupleOp, GetOp>(op);
  }

  void addCarried(WhileOp loop, unsigned index) {
    add(loop.getInits()[index]);
    add(loop.getResult(index));
    for (Region *region : {&loop.getConditionRegion(), &loop.getBody()})
      add(region->getArgument(index));
    add(loop.getBody().front().getTerminator()->getOperand(index));
  }

  void addSources(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp()))
        addCarried(loop, argument.getArgNumber());
      return;
    }
    Operation *op = value.getDefiningOp();
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<WhileOp>(op))
      addCarried(loop, index);
    else if (isa<IfOp, DataflowOp>(op))
      for (Region &region : op->getRegions())
        add(region.front().getTerminator()->getOperand(index));
    else if (isView(op))
      for (Value operand : op->getOperands())
        add(operand);
  }

  /// Whether `use` may write; notes what it passes on.
  bool writes(OpOperand &use) {
    Operation *op = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (auto call = dyn_cast<CallTIRInplaceOp>(op))
      return llvm::is_contained(call.getInplaceIndices(), index);
    if (auto call = dyn_cast<CallLibraryInplaceOp>(op))
      return llvm::is_contained(call.getInplaceIndices(), index);
    if (auto call = dyn_cast<CallOp>(op); call && call.getPure()) {
      for (Value result : op->getResults())
        add(result);
      return false;
    }
    if (isa<ReturnOp>(op))
      return op->getParentOfType<FuncOp>().isPrivate();
    if (isa<CallOp, CallClosureOp, MakeClosureOp>(op))
      return true;
    if (auto loop = dyn_cast<WhileOp>(op))
      addCarried(loop, index);
    else if (auto loop = dyn_cast<WhileOp>(op->getParentOp());
             loop && isa<YieldOp>(op))
      addCarried(loop, index);
    else if (isa<YieldOp, OutputOp>(op))
      add(op->getParentOp()->getResult(index));
    else if (isView(op))
      for (Value result : op->getResults())
        add(result);
    return false;
  }

  llvm::SetVector<Value> values;
};

} // namespace

bool relax::canForward(Value value, Operation *op) {
  SharedMemory memory;
  memory.add(value);
  for (Value result : op->getResults())
    memory.add(result);
  return !memory.mayBeWritten();
}
