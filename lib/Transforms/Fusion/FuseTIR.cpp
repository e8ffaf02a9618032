//===- FuseTIR.cpp - make one kernel of each primitive function -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Core.h"
#include "Transforms/Fusion/MergeKernels.h"
#include "Transforms/Fusion/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSETIRPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct FuseTIR : relax::impl::FuseTIRPassBase<FuseTIR> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<FuncOp>()))
      if (function->hasAttr(notes::kPrimitive) && !function.isExternal())
        fuse(function, users, table);
  }

  void fuse(FuncOp function, SymbolUserMap &users, SymbolTable &table) {
    std::string reason;
    SmallVector<CallOp> calls;
    for (Operation *user : users.getUsers(function)) {
      auto call = dyn_cast<CallOp>(user);
      if (!call)
        reason = "it is used as a value";
      calls.push_back(call);
    }
    if (!function.isPrivate())
      reason = "it is public";
    FailureOr<MergedKernel> merged = failure();
    if (reason.empty())
      merged = mergeKernels(function, table, reason);
    if (failed(merged))
      return emitReason(function, reason);
    SmallVector<ArrayAttr> integers;
    for (CallOp call : calls) {
      integers.push_back(solve(call, function, merged->integers));
      if (!integers.back())
        return emitReason(function, "a call does not determine a symbol");
    }
    table.remove(function);
    fuseLoopNests(merged->function);
    OpBuilder(function).insert(merged->function);
    table.insert(merged->function);
    for (auto [call, values] : llvm::zip(calls, integers))
      replace(call, *merged, values);
    function.erase();
  }

  /// Explains why a function was not fused.
  void emitReason(FuncOp function, StringRef reason) {
    function.emitRemark() << "primitive function @" << function.getName()
                          << " is not fused: " << reason;
  }

  /// The values of `symbols` of `function` at a call; null if they are unknown.
  ArrayAttr solve(CallOp call, FuncOp function, ArrayRef<SymExprAttr> symbols) {
    Prover prover(&getContext(), SymbolFacts::at(call));
    Unifier unifier(prover, &getContext());
    if (failed(unifyCall(call, Signature::of(function), call.getOperands(),
                         unifier)))
      return {};
    SmallVector<Attribute> values;
    for (SymExprAttr symbol : symbols) {
      values.push_back(unifier.getBindings().lookup(symbol.getName()));
      if (!values.back())
        return {};
    }
    return ArrayAttr::get(&getContext(), values);
  }

  void replace(CallOp call, MergedKernel &merged, ArrayAttr integers) {
    OpBuilder builder(call);
    SmallVector<Value> inputs =
        llvm::map_to_vector(merged.inputs, [&](unsigned index) -> Value {
          return call.getOperand(index);
        });
    auto fused =
        CallTIROp::create(builder, call.getLoc(), call.getResultTypes(),
                          merged.function.getName(), inputs, integers);
    call->replaceAllUsesWith(fused);
    SmallVector<Value> operands(call.getOperands());
    call->erase();
    for (Value operand : operands)
      if (auto sym = operand.getDefiningOp<SymOp>(); sym && sym->use_empty())
        sym->erase();
  }
};

} // namespace
