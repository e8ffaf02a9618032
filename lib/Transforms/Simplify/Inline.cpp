//===- Inline.cpp - inline calls of private functions ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of `f(x: [k], y: [k + 1]) -> [k]` with `%a: [2*n]` and `%b: [?]`:
//
//   1. unify: k = 2*n; symbols that the operands do not determine get fresh
//      names
//   2. cast operands that are not proved to have the parameter types (%b to
//      [2*n + 1]): the checks on entry, made explicit
//   3. copy the body with k replaced, and its own symbols renamed
//   4. cast results whose types are coarser than the types of the call's
//      results
//
//===----------------------------------------------------------------------===//

#include "Analysis/CallOrder.h"
#include "Analysis/Placement.h"
#include "Analysis/RangeProof.h"
#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {
#define GEN_PASS_DEF_INLINEPASS
#include "Transforms/Simplify/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The symbol names in use in a function, and its declared ranges.
class CallerSymbols {
public:
  explicit CallerSymbols(FuncOp caller) : caller(caller) {
    auto take = [&](StringAttr name) { taken.insert(name); };
    caller.walkParameterSymbols(take);
    caller.walk(
        [&](MatchCastOp cast) { walkDefinedSymbols(cast.getType(), take); });
    ranges = NamedAttrList(caller.getSymbolRanges());
  }

  /// Makes a new symbol named like `name`, with the range that `callee`
  /// declares.
  SymExprAttr makeFresh(StringAttr name, FuncOp callee) {
    StringAttr fresh = name;
    for (unsigned suffix = 1; !taken.insert(fresh).second; ++suffix)
      fresh = StringAttr::get(name.getContext(),
                              name.getValue() + "_" + Twine(suffix));
    if (DictionaryAttr declared = callee.getSymbolRanges())
      if (Attribute range = declared.get(name))
        ranges.set(fresh, range);
    return SymExprAttr::getSymbol(name.getContext(), fresh.getValue());
  }

  void declareRanges() {
    if (!ranges.empty())
      caller->setAttr(RelaxDialect::kSymbolsAttr,
                      ranges.getDictionary(caller.getContext()));
  }

private:
  FuncOp caller;
  DenseSet<StringAttr> taken;
  NamedAttrList ranges;
};

class CallInliner {
public:
  CallInliner(CallOp call, FuncOp callee, CallerSymbols &symbols)
      : call(call), callee(callee), symbols(symbols), builder(call),
        prover(call.getContext(), SymbolFacts::at(call)) {}

  /// Leaves the call if it cannot be inlined. Reports errors.
  LogicalResult run();

private:
  LogicalResult bindSymbols();
  bool canPassIntegers();
  void passIntegers();
  void passTensors();
  Type substituted(Type type) { return rewriter->rewrite(type); }
  Value cast(Value value, Type type) {
    return MatchCastOp::create(builder, call.getLoc(), type, value);
  }

  CallOp call;
  FuncOp callee;
  CallerSymbols &symbols;
  OpBuilder builder;
  Prover prover;
  SymSubstitution substitution;
  DenseSet<StringAttr> fresh; // named as in the callee
  std::optional<SymBuilder> math;
  std::optional<ExprRewriter> rewriter;
  IRMapping mapping;
};

LogicalResult CallInliner::bindSymbols() {
  Signature signature = Signature::of(callee);
  SymbolFacts calleeFacts(signature.ranges);
  Unifier unifier(prover, call.getContext(), &calleeFacts);
  if (failed(unifyCall(call, signature, call.getOperands(), unifier)))
    return failure();
  callee.walkParameterSymbols([&](StringAttr name) {
    if (substitution.contains(name))
      return;
    SymExprAttr value = unifier.getBindings().lookup(name);
    if (!value || !isProvedInRange(value, calleeFacts.get(name), prover)) {
      value = symbols.makeFresh(name, callee);
      fresh.insert(name);
    }
    substitution[name] = value;
  });
  callee.walk([&](MatchCastOp op) {
    walkDefinedSymbols(op.getType(), [&](StringAttr name) {
      if (!substitution.contains(name))
        substitution[name] = symbols.makeFresh(name, callee);
    });
  });
  auto emitError = [this] {
    InFlightDiagnostic diagnostic = call.emitOpError();
    diagnostic << "inlining @" << callee.getName() << ": ";
    return diagnostic;
  };
  math.emplace(call.getContext());
  rewriter.emplace(
      [this](SymExprAttr expr) { return math->substitute(expr, substitution); },
      emitError);
  return success();
}

/// Only `index` values can be made from symbols.
bool CallInliner::canPassIntegers() {
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    if (!operand.getType().isIndex() &&
        callee.getArgAttr(index, RelaxDialect::kSymbolAttr))
      return false;
  return true;
}

/// Binds integer parameters that carry a symbol.
void CallInliner::passIntegers() {
  for (auto [parameter, operand] :
       llvm::zip(callee.getArguments(), call.getOperands())) {
    auto symbol = callee.getArgAttrOfType<StringAttr>(
        parameter.getArgNumber(), RelaxDialect::kSymbolAttr);
    if (!symbol)
      continue;
    SymExprAttr value = substitution[symbol];
    if (prover.provedEqual(getIntegerExpr(operand), value)) {
      mapping.map(parameter, operand);
      continue;
    }
    Value shape = MakeShapeOp::create(
        builder, call.getLoc(), ShapeType::getRanked(call.getContext(), 1),
        operand);
    cast(shape, ShapeType::get(call.getContext(), {value}));
    mapping.map(parameter, SymOp::create(builder, call.getLoc(),
                                         operand.getType(), value));
  }
}

/// Binds all other parameters. Fresh symbols are defined first, since a
/// parameter may use one that a later one defines.
void CallInliner::passTensors() {
  DenseMap<Value, Value> passed;
  for (bool define : {true, false})
    for (auto [parameter, operand] :
         llvm::zip(callee.getArguments(), call.getOperands())) {
      if (mapping.contains(parameter))
        continue;
      Type type = parameter.getType();
      if (define) {
        bool defines = false;
        walkDefinedSymbols(
            type, [&](StringAttr name) { defines |= fresh.contains(name); });
        if (defines)
          passed[parameter] =
              cast(operand, substituted(mapDims(type, [](SymExprAttr dim) {
                     return dim.isSymbol() ? dim : SymExprAttr();
                   })));
        continue;
      }
      Value value = passed.contains(parameter) ? passed[parameter] : operand;
      Type wanted = substituted(type);
      bool proved = implies(value.getType(), wanted, prover) == Truth::Yes;
      if (!proved || (value.getType() != wanted && isTypePinned(parameter)))
        value = cast(value, wanted);
      mapping.map(parameter, value);
    }
}

LogicalResult CallInliner::run() {
  if (!canPassIntegers())
    return success();
  if (failed(bindSymbols()))
    return failure();
  passIntegers();
  passTensors();
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *nested) {
      nested->setLoc(CallSiteLoc::get(nested->getLoc(), call.getLoc()));
      rewriter->rewrite(nested);
    });
  }
  if (rewriter->failed()) {
    if (math->failed())
      return call.emitOpError()
             << "inlining @" << callee.getName() << ": an expression overflows";
    return failure();
  }
  for (auto [result, returned] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands())) {
    Value value = mapping.lookup(returned);
    Type have = value.getType(), want = result.getType();
    if (have != want &&
        (implies(have, want, prover) != Truth::Yes || isTypePinned(result)))
      value = cast(value, want);
    result.replaceAllUsesWith(value);
  }
  call.erase();
  symbols.declareRanges();
  return success();
}

/// Dataflow blocks must not contain control flow or other dataflow blocks.
bool fitsAtCall(CallOp call, FuncOp callee) {
  return !isa<DataflowOp>(call->getParentOp()) ||
         llvm::all_of(callee.getBody().front(),
                      [](Operation &op) { return op.getNumRegions() == 0; });
}

/// Whether the body computes the same at the call. Values on the other side
/// than the one the callee runs on are only passed through in both.
bool haveSamePlaces(FuncOp caller, FuncOp callee) {
  return runsOnHost(caller) == runsOnHost(callee);
}

struct Inline : relax::impl::InlinePassBase<Inline> {
  using InlinePassBase::InlinePassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    DenseMap<Operation *, unsigned> callCount;
    getOperation().walk(
        [&](CallOp call) { ++callCount[table.lookup(call.getCallee())]; });
    DenseSet<Operation *> done;
    DenseMap<Operation *, unsigned> size;
    for (FuncOp caller : getCalleesFirst(getOperation(), table)) {
      SmallVector<CallOp> calls;
      caller.walk([&](CallOp call) { calls.push_back(call); });
      CallerSymbols symbols(caller);
      for (CallOp call : calls) {
        auto callee = table.lookup<FuncOp>(call.getCallee());
        // An unfinished callee is also a caller of this function: recursion.
        if (!callee || !callee.isPrivate() || !done.contains(callee) ||
            callee->hasAttr(notes::kPrimitive) ||
            (callCount[callee] > 1 && size[callee] > maxSize) ||
            !fitsAtCall(call, callee) || !haveSamePlaces(caller, callee))
          continue;
        if (failed(CallInliner(call, callee, symbols).run()))
          return signalPassFailure();
      }
      done.insert(caller);
      unsigned &count = size[caller];
      caller.walk([&](Operation *) { ++count; });
    }
  }
};

} // namespace
