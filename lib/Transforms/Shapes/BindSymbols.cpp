//===- BindSymbols.cpp - bind symbols to values ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. find which functions define which symbols; check that the values are
//      in the declared ranges
//   2. rewrite these functions
//   3. fix references to them: add casts after calls whose result types are now
//      coarser, and wrappers with the old signature for closures
//
//===----------------------------------------------------------------------===//

#include "Relax/CallUtils.h"
#include "Relax/DeductionScope.h"
#include "Relax/Ops/Manipulate.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_BINDSYMBOLSPASS
#include "Transforms/Shapes/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

using Values = llvm::MapVector<StringAttr, int64_t>;

/// The symbols that a function defines, in order.
llvm::SetVector<StringAttr> getDefinedSymbols(FuncOp function) {
  llvm::SetVector<StringAttr> symbols;
  auto define = [&](StringAttr name) { symbols.insert(name); };
  function.walkParameterSymbols(define);
  function.walk(
      [&](MatchCastOp cast) { walkDefinedSymbols(cast.getType(), define); });
  return symbols;
}

LogicalResult checkValue(FuncOp function, StringAttr symbol, int64_t value) {
  SymbolFacts::Range range = SymbolFacts::at(function).get(symbol);
  auto emitError = [&] {
    return function.emitError()
           << "cannot bind symbol '" << symbol.getValue() << "' of @"
           << function.getName() << " to " << value << ": ";
  };
  if (value < range.lower)
    return emitError() << "its lower bound is " << range.lower;
  if (range.upper && value > *range.upper)
    return emitError() << "its upper bound is " << *range.upper;
  if (value % range.multipleOf != 0)
    return emitError() << "it is a multiple of " << range.multipleOf;
  return success();
}

/// Replaces integer parameters that carry a bound symbol by the constant, and
/// checks on entry that callers pass it.
void checkParameters(FuncOp function, const Values &values) {
  OpBuilder builder(function.getContext());
  if (!function.isExternal())
    builder.setInsertionPointToStart(&function.getBody().front());
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto symbol =
        function.getArgAttrOfType<StringAttr>(index, RelaxDialect::kSymbolAttr);
    auto found = symbol ? values.find(symbol) : values.end();
    if (found == values.end())
      continue;
    function.removeArgAttr(index, RelaxDialect::kSymbolAttr);
    if (function.isExternal())
      continue;
    BlockArgument argument = function.getArgument(index);
    Location loc = argument.getLoc();
    Value constant = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(argument.getType(), found->second));
    Value value = constant;
    if (argument.getType().isIndex())
      value = SymOp::create(
          builder, loc, argument.getType(),
          SymExprAttr::getConstant(builder.getContext(), found->second));
    argument.replaceAllUsesWith(value);
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       argument, constant);
    AssertOp::create(builder, loc, same,
                     "parameter " + Twine(index) + " of @" +
                         function.getName() + " must be " + symbol.getValue() +
                         " = " + Twine(found->second));
  }
}

LogicalResult bindIn(FuncOp function, const Values &values) {
  MLIRContext *context = function.getContext();
  auto emitError = [&] {
    InFlightDiagnostic diagnostic = function.emitError();
    diagnostic << "binding symbols of @" << function.getName() << ": ";
    return diagnostic;
  };
  SymSubstitution substitution;
  for (auto [symbol, value] : values) {
    if (failed(checkValue(function, symbol, value)))
      return failure();
    substitution[symbol] = SymExprAttr::getConstant(context, value);
  }
  SymBuilder math(context, emitError);
  ExprRewriter rewriter(
      [&](SymExprAttr expr) { return math.substitute(expr, substitution); },
      emitError);

  // Done first, while the operands still have the types that determine a -1.
  if (llvm::any_of(values, [](auto binding) { return binding.second == 0; }))
    function.walk([&](ReshapeOp op) {
      SmallVector<Type> types;
      DeductionScope scope(op->getParentOp());
      if (succeeded(cast<InferTypeOpInterface>(*op).inferReturnTypes(
              context, op.getLoc(), op->getOperands(), op->getAttrDictionary(),
              op->getPropertiesStorage(), op->getRegions(), types)))
        pinInferredDim(op, types.front());
    });

  auto rewriteAll = [&](ArrayRef<Type> types) {
    return llvm::map_to_vector(
        types, [&](Type type) { return rewriter.rewrite(type); });
  };
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(
      context, rewriteAll(type.getInputs()), rewriteAll(type.getResults())));
  checkParameters(function, values);
  if (!function.isExternal())
    for (BlockArgument argument : function.getArguments())
      argument.setType(rewriter.rewrite(argument.getType()));
  function.getBody().walk([&](Operation *op) { rewriter.rewrite(op); });
  if (rewriter.failed())
    return failure();
  dropUnusedRanges(function);
  return success();
}

/// Makes a function with the old signature that calls the bound one, for
/// closures: their types occur inside of other types and cannot be changed.
FuncOp makeWrapper(FuncOp function, FunctionType oldType,
                   DictionaryAttr oldRanges, ArrayAttr oldArgAttrs,
                   SymbolTable &table) {
  OpBuilder builder(function);
  Location loc = function.getLoc();
  auto wrapper = FuncOp::create(
      builder, loc, (function.getName() + "_unbound").str(), oldType);
  wrapper.setPrivate();
  if (oldRanges)
    wrapper->setAttr(RelaxDialect::kSymbolsAttr, oldRanges);
  if (oldArgAttrs)
    wrapper.setArgAttrsAttr(oldArgAttrs);
  table.insert(wrapper);
  Block *body =
      builder.createBlock(&wrapper.getBody(), {}, oldType.getInputs(),
                          SmallVector<Location>(oldType.getNumInputs(), loc));
  auto call = CallOp::create(builder, loc, function.getResultTypes(),
                             FlatSymbolRefAttr::get(function.getNameAttr()),
                             body->getArguments(), ArrayAttr(), ArrayAttr());
  SmallVector<Value> results;
  for (auto [value, type] : llvm::zip(call.getResults(), oldType.getResults()))
    results.push_back(value.getType() == type
                          ? Value(value)
                          : MatchCastOp::create(builder, loc, type, value));
  ReturnOp::create(builder, loc, results);
  return wrapper;
}

/// Checks the declared result types of a call where the callee's new signature
/// no longer proves them.
LogicalResult mendCall(CallOp call, FuncOp callee) {
  FailureOr<SmallVector<Type>> deduced =
      deduceCall(call, Signature::of(callee), call.getOperands());
  if (failed(deduced))
    return failure();
  Prover prover(call.getContext(), SymbolFacts::at(call));
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  for (auto [result, type] : llvm::zip(call.getResults(), *deduced)) {
    Type declared = result.getType();
    if (implies(type, declared, prover) == Truth::Yes)
      continue;
    result.setType(type);
    auto cast = MatchCastOp::create(builder, call.getLoc(), declared, result);
    result.replaceAllUsesExcept(cast.getResult(), cast);
  }
  return success();
}

struct BindSymbols : relax::impl::BindSymbolsPassBase<BindSymbols> {
  using BindSymbolsPassBase::BindSymbolsPassBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  FailureOr<Values> parseValues() {
    Values values;
    for (StringRef entry : symbols) {
      auto [name, text] = entry.split('=');
      name = name.trim();
      text = text.trim();
      int64_t value;
      if (!isValidSymbolName(name) || text.getAsInteger(10, value))
        return getOperation().emitError()
               << "'" << entry << "' binds no symbol: expected 'name=integer'";
      auto symbol = StringAttr::get(&getContext(), name);
      if (!values.insert({symbol, value}).second)
        return getOperation().emitError()
               << "symbol '" << name << "' is bound twice";
    }
    return values;
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    FailureOr<Values> values = parseValues();
    if (failed(values))
      return failure();
    SymbolTable table(module);
    SmallVector<FuncOp> candidates(module.getOps<FuncOp>());
    if (!function.empty()) {
      auto only = table.lookup<FuncOp>(function);
      if (!only)
        return module.emitError() << "'" << function << "' is not a relax.func";
      candidates = {only};
    }

    llvm::MapVector<Operation *, Values> bindings;
    llvm::SetVector<StringAttr> known;
    for (FuncOp candidate : candidates)
      for (StringAttr symbol : getDefinedSymbols(candidate)) {
        known.insert(symbol);
        if (auto found = values->find(symbol); found != values->end())
          bindings[candidate].insert(*found);
      }
    for (auto [symbol, value] : *values)
      if (!known.contains(symbol)) {
        InFlightDiagnostic diagnostic = module.emitError();
        diagnostic << "unknown symbol '" << symbol.getValue() << "'; ";
        if (known.empty())
          return diagnostic << "there are none";
        diagnostic << "there are: ";
        llvm::interleaveComma(known, diagnostic, [&](StringAttr name) {
          diagnostic << name.getValue();
        });
        return diagnostic;
      }

    SmallVector<MakeClosureOp> closures;
    module.walk([&](MakeClosureOp op) { closures.push_back(op); });
    DenseMap<Operation *, FuncOp> wrappers;
    for (auto &[op, bound] : bindings) {
      auto target = cast<FuncOp>(op);
      FunctionType oldType = target.getFunctionType();
      DictionaryAttr oldRanges = target.getSymbolRanges();
      ArrayAttr oldArgAttrs = target.getArgAttrsAttr();
      if (failed(bindIn(target, bound)))
        return failure();
      FuncOp wrapper;
      for (MakeClosureOp closure : closures) {
        if (closure.getCallee() != target.getName())
          continue;
        if (!wrapper)
          wrapper = makeWrapper(target, oldType, oldRanges, oldArgAttrs, table);
        closure.setCallee(wrapper.getName());
      }
    }
    WalkResult mended = module.walk([&](CallOp call) {
      FuncOp callee = table.lookup<FuncOp>(call.getCallee());
      if (!callee || !bindings.contains(callee))
        return WalkResult::advance();
      return WalkResult(mendCall(call, callee));
    });
    return failure(mended.wasInterrupted());
  }
};

} // namespace
