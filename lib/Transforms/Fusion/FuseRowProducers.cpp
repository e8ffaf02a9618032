//===- FuseRowProducers.cpp - fuse normalizations with neighbors ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelPattern.h"
#include "Relax/Notes.h"
#include "Transforms/Fusion/Groups.h"
#include "Transforms/Fusion/Outliner.h"
#include "Transforms/Fusion/Passes.h"
#include "Transforms/Memory/Writes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSEROWPRODUCERSPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Whether a kernel has one element-wise result that depends on a reduction of
/// its inputs.
static bool isRowProducer(func::FuncOp kernel) {
  if (!llvm::hasSingleElement(kernel.getBody()) || kernel.getNumResults() != 1)
    return false;
  bool reduces = false;
  for (auto op : kernel.getOps<linalg::LinalgOp>()) {
    if (isContraction(op))
      return false;
    reduces |= op.getNumReductionLoops() > 0;
  }
  auto last = kernel.getBody()
                  .front()
                  .getTerminator()
                  ->getOperand(0)
                  .getDefiningOp<linalg::LinalgOp>();
  return reduces && last && !last.getNumReductionLoops();
}

/// Whether a call is element-wise, and its reader reads each element at most
/// once.
static bool isElementWise(func::FuncOp kernel, func::FuncOp reader,
                          unsigned index) {
  return classifyKernel(kernel) <= KernelPattern::Broadcast &&
         llvm::is_contained(
             {KernelPattern::ElementWise, KernelPattern::Injective},
             classifyRead(reader, index));
}

/// Whether a kernel reads a parameter only in contractions.
static bool isOnlyContracted(func::FuncOp kernel, unsigned index) {
  bool isRead = false;
  for (Operation *user : kernel.getArgument(index).getUsers()) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (op && isContraction(op))
      isRead = true;
    else if (!isa<tensor::DimOp>(user))
      return false;
  }
  return isRead;
}

namespace {

struct FuseRowProducers
    : relax::impl::FuseRowProducersPassBase<FuseRowProducers> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    Outliner outliner(table);
    Writes writes(getOperation());
    for (FuncOp function : llvm::to_vector(getOperation().getOps<FuncOp>())) {
      if (function->hasAttr(notes::kPrimitive))
        continue;
      SmallVector<std::pair<CallTIROp, CallTIROp>> pairs;
      llvm::SmallDenseSet<Operation *> taken;
      function.walk([&](CallTIROp call) {
        CallTIROp consumer = findConsumer(call, table, writes);
        if (consumer && !taken.contains(call) && taken.insert(consumer).second)
          pairs.emplace_back(call, consumer);
      });
      for (auto [call, consumer] : pairs)
        outliner.outline({call, consumer}, consumer);
      for (auto call : findRowProducers(function, table))
        if (CallTIROp producer = findProducer(call, table, writes))
          outliner.outline({producer, call}, call);
    }
  }

  static SmallVector<CallTIROp> findRowProducers(FuncOp function,
                                                 SymbolTable &table) {
    SmallVector<CallTIROp> calls;
    function.walk([&](CallTIROp call) {
      func::FuncOp kernel = getKernel(call, table);
      if (kernel && isRowProducer(kernel))
        calls.push_back(call);
    });
    return calls;
  }

  /// The element-wise call that computes an operand of `call`, if nothing reads
  /// that operand before `call`.
  static CallTIROp findProducer(CallTIROp call, SymbolTable &table,
                                const Writes &writes) {
    func::FuncOp kernel = getKernel(call, table);
    for (OpOperand &operand : call->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<CallTIROp>();
      if (!producer || producer->getBlock() != call->getBlock() ||
          !writes.mayMove(producer, call))
        continue;
      func::FuncOp other = getKernel(producer, table);
      if (other && isElementWise(other, kernel, operand.getOperandNumber()) &&
          llvm::all_of(producer->getUsers(), [&](Operation *user) {
            Operation *place = call->getBlock()->findAncestorOpInBlock(*user);
            return place == call || call->isBeforeInBlock(place);
          }))
        return producer;
    }
    return {};
  }

  /// The call that multiplies the rows computed by `call`; null if anything
  /// else reads them.
  static CallTIROp findConsumer(CallTIROp call, SymbolTable &table,
                                const Writes &writes) {
    func::FuncOp kernel = getKernel(call, table);
    if (!kernel || !isRowProducer(kernel) || call->getNumResults() != 1 ||
        !call->getResult(0).hasOneUse())
      return {};
    OpOperand &use = *call->getResult(0).use_begin();
    auto consumer = dyn_cast<CallTIROp>(use.getOwner());
    if (!consumer || consumer->getBlock() != call->getBlock())
      return {};
    func::FuncOp other = getKernel(consumer, table);
    bool contracts = other && isOnlyContracted(other, use.getOperandNumber());
    return contracts && writes.mayMove(call, consumer) ? consumer : nullptr;
  }

  /// The kernel of a call that may join a group.
  static func::FuncOp getKernel(CallTIROp call, SymbolTable &table) {
    auto kernel = table.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || kernel.isExternal() || isFinal(kernel))
      return {};
    for (Type type : call->getOperandTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || llvm::is_contained(getSymDims(tensor), SymExprAttr()))
        return {};
    }
    return solveProvedCall(call, kernel) ? kernel : nullptr;
  }
};

} // namespace
