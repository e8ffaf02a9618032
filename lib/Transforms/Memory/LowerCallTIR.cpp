//===- LowerCallTIR.cpp - give each call its destinations -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Transforms/Memory/Copies.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"
#include "Transforms/Memory/Writes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERCALLTIRPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

class CallLowering {
public:
  explicit CallLowering(Operation *call)
      : call(call), builder(call), operands(call->getOperands()) {}

  /// Allocates the results for which `inplace` is -1 and appends them to the
  /// operands.
  LogicalResult allocate(SmallVector<int64_t> &inplace) {
    SymBuilder math(call->getContext(), [&] { return call->emitOpError(); });
    for (auto [result, index] : llvm::zip(call->getResults(), inplace)) {
      if (index != -1)
        continue;
      index = operands.size();
      // The verifier of calls ensures that all dimensions are known.
      auto type = cast<RankedTensorType>(result.getType());
      SymExprAttr bytes = getByteSize(type, math);
      if (math.failed())
        return failure();
      Location loc = call->getLoc();
      auto storage = AllocStorageOp::create(
          builder, loc, StorageType::get(call->getContext()), bytes,
          kStorageAlignment);
      // A copy states the place of its result.
      if (Attribute place = call->getAttr(notes::kDevice))
        storage->setAttr(notes::kDevice, place);
      operands.push_back(TensorFromStorageOp::create(
          builder, loc, type, storage, math.constant(0)));
    }
    return success();
  }

  LogicalResult lower(CallTIROp op) {
    SmallVector<int64_t> inplace(op.getNumResults(), -1);
    if (failed(allocate(inplace)))
      return failure();
    return replace(CallTIRInplaceOp::create(
        builder, op.getLoc(), op.getResultTypes(), op.getCalleeAttr(), operands,
        builder.getDenseI64ArrayAttr(inplace), op.getSymArgsAttr()));
  }
  LogicalResult lower(CallLibraryOp op) {
    SmallVector<int64_t> inplace(op.getNumResults(), -1);
    if (failed(allocate(inplace)))
      return failure();
    return replace(CallLibraryInplaceOp::create(
        builder, op.getLoc(), op.getResultTypes(), op.getLibraryFunctionAttr(),
        operands, builder.getDenseI64ArrayAttr(inplace), op.getSymArgsAttr()));
  }
  template <typename InplaceOp>
  LogicalResult lowerInplace(InplaceOp op) {
    SmallVector<int64_t> inplace(op.getInplaceIndices());
    if (!llvm::is_contained(inplace, -1))
      return success();
    if (failed(allocate(inplace)))
      return failure();
    op->setOperands(operands);
    op.setInplaceIndices(inplace);
    return success();
  }

private:
  LogicalResult replace(Operation *lowered) {
    lowered->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    call->replaceAllUsesWith(lowered);
    call->erase();
    return success();
  }

  Operation *call;
  OpBuilder builder;
  SmallVector<Value> operands;
};

struct LowerCallTIR : relax::impl::LowerCallTIRPassBase<LowerCallTIR> {
  void runOnOperation() override {
    Writes writes(getOperation());
    SymbolTable table(getOperation());
    Copies copies(table);
    copyWrittenConstants(getOperation(), writes, copies);
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (failed(verifyNoDataflow(function, getArgument())) ||
          failed(writes.verify(function)))
        return signalPassFailure();
      function.setPure(false);
    }
    WalkResult walked = getOperation().walk([](Operation *op) -> WalkResult {
      CallLowering lowering(op);
      if (auto call = dyn_cast<CallTIROp>(op))
        return lowering.lower(call);
      if (auto call = dyn_cast<CallLibraryOp>(op))
        return lowering.lower(call);
      if (auto call = dyn_cast<CallTIRInplaceOp>(op))
        return lowering.lowerInplace(call);
      if (auto call = dyn_cast<CallLibraryInplaceOp>(op))
        return lowering.lowerInplace(call);
      if (auto call = dyn_cast<CallOp>(op))
        call.setPure(false);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
