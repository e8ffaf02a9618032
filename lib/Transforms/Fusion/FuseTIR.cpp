//===- FuseTIR.cpp - make one kernel of each primitive function -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/CallOrder.h"
#include "Analysis/Placement.h"
#include "Analysis/RangeProof.h"
#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Transforms/Fusion/MergeKernels.h"
#include "Transforms/Fusion/Passes.h"
#include "Transforms/Simplify/InlineDataflow.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSETIRPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct FuseTIR : relax::impl::FuseTIRPassBase<FuseTIR> {
  using FuseTIRPassBase::FuseTIRPassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    // A primitive function may call another one, whose kernel becomes part of
    // its own.
    for (FuncOp function : getCalleesFirst(getOperation(), table))
      if (function->hasAttr(notes::kPrimitive) &&
          failed(fuse(function, users, table)) && areFinal)
        return signalPassFailure();
  }

  LogicalResult fuse(FuncOp function, SymbolUserMap &users,
                     SymbolTable &table) {
    SmallVector<CallOp> calls;
    for (Operation *user : users.getUsers(function)) {
      auto call = dyn_cast<CallOp>(user);
      if (!call)
        return refuse(function, {"it is used as a value", user});
      if (function->isProperAncestor(call))
        return refuse(function, {"it calls itself", user});
      if (runsOnHost(call->getParentOfType<FuncOp>()) != runsOnHost(function))
        return refuse(function, {"a caller runs in another place", user});
      calls.push_back(call);
    }
    if (!function.isPrivate())
      return refuse(function,
                    {isUsedOutside(function)
                         ? "a function of the other side, host or device, "
                           "uses it"
                         : "it is public"});
    function.walk([](DataflowOp dataflow) { inlineDataflow(dataflow); });
    eraseDeadOps(function);
    MergeFailure why;
    FailureOr<MergedKernel> merged = mergeKernels(function, table, why);
    if (failed(merged))
      return refuse(function, why);
    SmallVector<ArrayAttr> integers;
    for (CallOp call : calls) {
      integers.push_back(solve(call, function, *merged, why));
      if (!integers.back()) {
        merged->function.erase();
        return refuse(function, why);
      }
    }
    table.remove(function);
    fuseLoopNests(merged->function);
    if (areFinal)
      merged->function->setAttr(notes::kPrimitive,
                                UnitAttr::get(&getContext()));
    OpBuilder(function).insert(merged->function);
    table.insert(merged->function);
    for (auto [call, values] : llvm::zip(calls, integers))
      replace(call, *merged, values);
    function.erase();
    return success();
  }

  /// Whether the module is the part of one side, and something in the other
  /// part uses the function.
  bool isUsedOutside(FuncOp function) {
    auto whole = getOperation()->getParentOfType<ModuleOp>();
    return whole && llvm::any_of(*whole.getBody(), [&](Operation &op) {
             return &op != getOperation() &&
                    !SymbolTable::symbolKnownUseEmpty(function.getSymNameAttr(),
                                                      &op);
           });
  }

  /// Legalization leaves some: the shapes that ops like full were given.
  static void eraseDeadOps(FuncOp function) {
    Block &body = function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Explains why a function is not fused.
  LogicalResult refuse(FuncOp function, const MergeFailure &why) {
    InFlightDiagnostic diagnostic =
        areFinal ? function.emitError() : function.emitRemark();
    diagnostic << "primitive function @" << function.getName();
    if (areFinal)
      diagnostic << " cannot become one kernel: " << why.reason
                 << "; change that, or remove the attribute '"
                 << notes::kPrimitive << "'";
    else
      diagnostic << " is not fused: " << why.reason;
    if (areFinal && why.op)
      diagnostic.attachNote(why.op->getLoc()) << "this op is in the way";
    return failure();
  }

  /// Whether an operand has what a parameter states, so that no check is lost
  /// if it is not passed.
  static bool isProved(Value operand, const Signature &signature,
                       unsigned index, const Unifier &unifier,
                       const Prover &prover) {
    const SymSubstitution &bindings = unifier.getBindings();
    if (StringAttr symbol = signature.parameterSymbols[index])
      return prover.provedEqual(getIntegerExpr(operand),
                                bindings.lookup(symbol));
    Type parameter = signature.parameters[index];
    bool areBound = true;
    walkSymbols(parameter,
                [&](StringAttr name) { areBound &= bindings.contains(name); });
    return areBound &&
           implies(operand.getType(), instantiate(parameter, unifier),
                   prover) == Truth::Yes;
  }

  /// The values of the integers of the kernel at a call; null, with a reason,
  /// if the call of the kernel would not check what the call of the function
  /// does.
  ArrayAttr solve(CallOp call, FuncOp function, const MergedKernel &merged,
                  MergeFailure &why) {
    Signature signature = Signature::of(function);
    SymbolFacts facts(signature.ranges);
    Prover prover(&getContext(), SymbolFacts::at(call));
    Unifier unifier(prover, &getContext());
    auto fail = [&](const Twine &reason) {
      why = {reason.str(), call};
      return ArrayAttr();
    };
    if (failed(unifyCall(call, signature, call.getOperands(), unifier,
                         merged.inputs)))
      return fail("a call does not fit it");
    for (Type type : call->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          !tensor || llvm::is_contained(getSymDims(tensor), SymExprAttr()))
        return fail("a result of a call has an unknown dimension; name those "
                    "of the operands with relax.match_cast");
    SmallVector<Attribute> values;
    for (SymExprAttr symbol : merged.integers) {
      values.push_back(unifier.getBindings().lookup(symbol.getName()));
      if (!values.back())
        return fail("a call does not determine symbol '" +
                    symbol.getName().getValue() + "'");
    }
    for (NamedAttribute range : signature.ranges ? signature.ranges.getValue()
                                                 : ArrayRef<NamedAttribute>()) {
      StringAttr name = range.getName();
      SymExprAttr value = unifier.getBindings().lookup(name);
      if (!value || !isProvedInRange(value, facts.get(name), prover))
        return fail("a call does not prove the bounds of symbol '" +
                    name.getValue() + "'; declare them in the caller, too");
    }
    for (unsigned index = 0; index < call.getNumOperands(); ++index)
      if (!llvm::is_contained(merged.inputs, index) &&
          !isProved(call.getOperand(index), signature, index, unifier, prover))
        return fail("a call does not prove the sizes that parameter " +
                    Twine(index) +
                    " states, which the kernel is not passed; use "
                    "relax.match_cast in the caller");
    return ArrayAttr::get(&getContext(), values);
  }

  void replace(CallOp call, MergedKernel &merged, ArrayAttr integers) {
    OpBuilder builder(call);
    SmallVector<Value> inputs =
        llvm::map_to_vector(merged.inputs, [&](unsigned index) -> Value {
          return call.getOperand(index);
        });
    for (ConstantOp constant : merged.constants)
      inputs.push_back(builder.clone(*constant)->getResult(0));
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
