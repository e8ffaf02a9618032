//===- SimplifyShapes.cpp - simplify symbolic expressions -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A single walk in program order with a substitution that grows at each
// match_cast whose symbol turns out to be known, and shrinks at the end of its
// scope.
//
//===----------------------------------------------------------------------===//

#include "Relax/DeductionScope.h"
#include "Relax/SymbolScope.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"

namespace mlir::relax {
#define GEN_PASS_DEF_SIMPLIFYSHAPESPASS
#include "Transforms/Shapes/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

class FunctionSimplifier {
public:
  explicit FunctionSimplifier(FuncOp function)
      : function(function),
        prover(function.getContext(), SymbolFacts::at(function)),
        math(function.getContext()),
        emitError([function]() mutable { return function.emitOpError(); }),
        rewriter([this](SymExprAttr expr) { return simplify(expr); },
                 emitError) {}

  LogicalResult run() {
    freezePinnedTypes();
    substituteSingleValues();
    function.walkParameterSymbols(
        [&](StringAttr name) { visible.define(name); });
    visit(function.getBody().front());
    keepResults();
    dropUnusedRanges(function);
    return failure(rewriter.failed());
  }

private:
  SymExprAttr simplify(SymExprAttr expr);
  void freezePinnedTypes();
  void substituteSingleValues();
  void rewrite(Operation &op);
  void keepResults();
  void visit(Block &block);
  void visit(MatchCastOp cast);
  bool isInRange(SymExprAttr value, StringAttr symbol);

  void substitute(StringAttr symbol, SymExprAttr value) {
    if (known.try_emplace(symbol, value).second)
      rewriter.reset();
  }

  FuncOp function;
  Prover prover;
  SymBuilder math;
  std::function<InFlightDiagnostic()> emitError;
  ExprRewriter rewriter;
  VisibleSymbols visible;
  /// Known values of symbols in scope.
  SymSubstitution known;
  SmallVector<StringAttr> order; // symbols of casts in `known`
  /// For each value, the first cast in scope to a finer type.
  DenseMap<Value, Value> asserted;
  SmallVector<Value> assertedOrder;
  /// Symbols of types that must not change.
  DenseSet<StringAttr> frozen;
};

SymExprAttr FunctionSimplifier::simplify(SymExprAttr expr) {
  bool isFrozen = false;
  expr.walkSymbols([&](StringAttr name) { isFrozen |= frozen.contains(name); });
  if (isFrozen)
    return expr;
  if (!known.empty()) {
    SymBuilder math(function.getContext(), emitError);
    expr = math.substitute(expr, known);
    if (!expr)
      return {};
  }
  return prover.simplify(expr);
}

void FunctionSimplifier::freezePinnedTypes() {
  auto freeze = [&](Type type) {
    walkSymbols(type, [&](StringAttr name) { frozen.insert(name); });
  };
  function.walk([&](Operation *op) {
    if (isa_and_nonnull<RelaxDialect>(op->getDialect()) &&
        !isa<MakeClosureOp>(op))
      return;
    for (Type type : op->getOperandTypes())
      freeze(type);
    for (Type type : op->getResultTypes())
      freeze(type);
  });
}

/// Runs the deduction rule of an op, without diagnostics if it fails.
static LogicalResult deduce(Operation &op, SmallVectorImpl<Type> &types) {
  ScopedDiagnosticHandler silence(op.getContext(),
                                  [](Diagnostic &) { return success(); });
  DeductionScope scope(op.getParentOp());
  return cast<InferTypeOpInterface>(op).inferReturnTypes(
      op.getContext(), op.getLoc(), op.getOperands(),
      op.getDiscardableAttrDictionary(), op.getPropertiesStorage(),
      op.getRegions(), types);
}

/// Rewrites an op such that its result types still follow from its operands.
/// Parameter types stay, and the rule may produce another form of the same
/// size, or lose a fact that the old form had: then the old form is kept if
/// possible, else the op takes the deduced type.
void FunctionSimplifier::rewrite(Operation &op) {
  if (!isa<InferTypeOpInterface>(op) ||
      !isa_and_nonnull<RelaxDialect>(op.getDialect()))
    return rewriter.rewrite(&op);
  DictionaryAttr attributes = op.getAttrDictionary();
  SmallVector<Type> types(op.getResultTypes());
  // The rule of an op without operands does not see declared ranges.
  Prover withoutFacts(op.getContext());
  const Prover &deciding = op.getNumOperands() == 0 ? withoutFacts : prover;
  SmallVector<Type> deduced;
  auto follows = [&] {
    deduced.clear();
    return succeeded(deduce(op, deduced)) &&
           llvm::all_of(llvm::zip_equal(deduced, op.getResultTypes()),
                        [&](auto pair) {
                          return implies(std::get<0>(pair), std::get<1>(pair),
                                         deciding) == Truth::Yes;
                        });
  };
  auto assign = [&](DictionaryAttr attributes, ArrayRef<Type> types) {
    op.setAttrs(attributes);
    for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
      result.setType(type);
  };
  rewriter.rewrite(&op);
  if (follows())
    return;
  DictionaryAttr newAttributes = op.getAttrDictionary();
  SmallVector<Type> newTypes(op.getResultTypes());
  bool mentionsKnown = false;
  auto check = [&](StringAttr name) { mentionsKnown |= known.contains(name); };
  walkSymbols(attributes, check);
  for (Type type : types)
    walkSymbols(type, check);
  if (!mentionsKnown) {
    assign(attributes, types);
    if (follows())
      return;
  }
  assign(newAttributes, newTypes);
  if (!follows() && deduced.size() == newTypes.size())
    assign(newAttributes, deduced);
}

/// The function's result types stay; returned values whose types changed form
/// are cast back.
void FunctionSimplifier::keepResults() {
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [operand, type] :
       llvm::zip(terminator->getOpOperands(), function.getResultTypes()))
    if (implies(operand.get().getType(), type, prover) != Truth::Yes)
      operand.set(MatchCastOp::create(builder, terminator->getLoc(), type,
                                      operand.get()));
}

/// Replaces symbols whose range contains a single value.
void FunctionSimplifier::substituteSingleValues() {
  DictionaryAttr ranges = function.getSymbolRanges();
  if (!ranges)
    return;
  for (NamedAttribute range : ranges) {
    auto bounds = cast<RangeAttr>(range.getValue());
    if (bounds.getUpper() && *bounds.getUpper() == bounds.getLower() &&
        !frozen.contains(range.getName()))
      substitute(range.getName(), math.constant(bounds.getLower()));
  }
}

void FunctionSimplifier::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<DataflowOp>(op)) // its results may name symbols that it defines
      rewrite(op);
    for (Region &region : op.getRegions()) {
      size_t outer = visible.enter(), outerKnown = order.size();
      size_t outerAsserted = assertedOrder.size();
      for (Block &nested : region)
        visit(nested);
      while (assertedOrder.size() > outerAsserted)
        asserted.erase(assertedOrder.pop_back_val());
      if (isa<DataflowOp>(op))
        continue;
      visible.leave(outer);
      if (order.size() > outerKnown) {
        while (order.size() > outerKnown)
          known.erase(order.pop_back_val());
        rewriter.reset();
      }
    }
    if (isa<DataflowOp>(op))
      rewriter.rewrite(&op);
    if (auto cast = dyn_cast<MatchCastOp>(op))
      visit(cast);
  }
}

/// Calls `fn` on corresponding dimensions of `type` and `other`, with null
/// where there is none.
void zipDims(Type type, Type other,
             function_ref<void(SymExprAttr, SymExprAttr)> fn) {
  auto zip = [&](ArrayRef<SymExprAttr> dims, ArrayRef<SymExprAttr> others) {
    for (auto [index, dim] : llvm::enumerate(dims))
      fn(dim, others.size() == dims.size() ? others[index] : SymExprAttr());
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto same = dyn_cast_or_null<RankedTensorType>(other);
    zip(getSymDims(tensor), same ? getSymDims(same) : SymDims());
  } else if (auto shape = dyn_cast<ShapeType>(type)) {
    auto same = dyn_cast_or_null<ShapeType>(other);
    zip(shape.getDims(), same ? same.getDims() : ArrayRef<SymExprAttr>());
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    auto same = dyn_cast_or_null<TupleType>(other);
    for (auto [index, member] : llvm::enumerate(tuple.getTypes()))
      zipDims(member,
              same && same.size() == tuple.size() ? same.getType(index)
                                                  : Type(),
              fn);
  }
}

bool FunctionSimplifier::isInRange(SymExprAttr value, StringAttr symbol) {
  SymbolFacts::Range range = prover.getFacts().get(symbol);
  return prover.lessEqual(math.constant(range.lower), value) == Truth::Yes &&
         (!range.upper ||
          prover.lessEqual(value, math.constant(*range.upper)) == Truth::Yes) &&
         (range.multipleOf == 1 ||
          prover.divisible(value, math.constant(range.multipleOf)) ==
              Truth::Yes);
}

void FunctionSimplifier::visit(MatchCastOp cast) {
  // Use the facts of an earlier cast of the same value.
  Value value = cast.getInput();
  if (Value earlier = asserted.lookup(value))
    cast.getInputMutable().assign(earlier);
  Type input = cast.getInput().getType();
  zipDims(cast.getType(), input, [&](SymExprAttr dim, SymExprAttr value) {
    if (!dim || !dim.isSymbol() || !value || value == dim)
      return;
    StringAttr symbol = dim.getName();
    if (visible.contains(symbol) || frozen.contains(symbol) ||
        known.contains(symbol) || !isInRange(value, symbol))
      return;
    order.push_back(symbol);
    substitute(symbol, value);
  });
  rewriter.rewrite(cast);
  walkDefinedSymbols(cast.getType(),
                     [&](StringAttr name) { visible.define(name); });
  if (implies(input, cast.getType(), prover) != Truth::Yes) {
    if (implies(cast.getType(), input, prover) == Truth::Yes &&
        asserted.try_emplace(value, cast.getResult()).second)
      assertedOrder.push_back(value);
    return; // the cast remains as a check
  }
  if (input != cast.getType() && isTypePinned(cast.getResult()))
    return;
  cast.replaceAllUsesWith(cast.getInput());
  cast.erase();
}

struct SimplifyShapes : relax::impl::SimplifyShapesPassBase<SimplifyShapes> {
  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function.isExternal() && failed(FunctionSimplifier(function).run()))
        return signalPassFailure();
  }
};

} // namespace
