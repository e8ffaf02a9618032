//===- Unifier.cpp - match declared with actual dimensions ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/Unifier.h"
#include "Relax/Symbolic/SymPoly.h"

using namespace mlir;
using namespace mlir::relax;

void Unifier::add(SymExprAttr pattern, SymExprAttr actual, const Twine &where) {
  equations.push_back({pattern, actual, where.str()});
}

LogicalResult Unifier::solve(EmitErrorFn emit) {
  emitError = emit;
  undecided.clear();
  SmallVector<const Equation *> open;
  for (const Equation &equation : equations)
    open.push_back(&equation);

  // Removes the solved equations from `open`; false on a contradiction.
  bool progress = false;
  auto pass = [&](Outcome (Unifier::*step)(const Equation &)) {
    size_t before = open.size(), size = 0;
    for (const Equation *equation : open) {
      Outcome outcome = (this->*step)(*equation);
      if (outcome == Outcome::Contradiction)
        return false;
      if (outcome == Outcome::Open)
        open[size++] = equation;
    }
    open.truncate(size);
    progress = size != before;
    return true;
  };
  if (!pass(&Unifier::bindPlainSymbol))
    return failure();
  do {
    if (!pass(&Unifier::solveLinear))
      return failure();
  } while (progress);
  if (!pass(&Unifier::compare))
    return failure();
  for (const Equation *equation : open)
    undecided.push_back(*equation);
  return success();
}

SymExprAttr Unifier::instantiate(SymExprAttr pattern) const {
  if (!pattern)
    return {};
  bool bound = true;
  pattern.walkSymbols(
      [&](StringAttr symbol) { bound &= bindings.contains(symbol); });
  return bound ? SymBuilder(context).substitute(pattern, bindings)
               : SymExprAttr();
}

//===----------------------------------------------------------------------===//
// Solving one equation
//===----------------------------------------------------------------------===//

Unifier::Outcome Unifier::bindPlainSymbol(const Equation &equation) {
  SymExprAttr pattern = equation.pattern;
  if (!pattern || !equation.actual || !pattern.isSymbol() ||
      bindings.contains(pattern.getName()))
    return Outcome::Open;
  return bind(pattern.getName(), equation.actual, equation);
}

/// The single unbound symbol of `pattern`, or null.
static StringAttr getOnlyUnbound(SymExprAttr pattern,
                                 const SymSubstitution &bindings) {
  StringAttr unbound;
  bool unique = true;
  pattern.walkSymbols([&](StringAttr symbol) {
    if (bindings.contains(symbol))
      return;
    unique &= !unbound || unbound == symbol;
    unbound = symbol;
  });
  return unique ? unbound : StringAttr();
}

/// Writes `pattern = scale * symbol + rest`; false if it is not linear.
static bool splitLinear(SymExprAttr pattern, StringAttr symbol, SymPoly &scale,
                        SymPoly &rest) {
  SymPoly poly(pattern);
  rest.constant = poly.constant;
  for (const SymPoly::Term &term : poly.terms) {
    bool occurs = false;
    term.monomial.walkSymbols([&](StringAttr s) { occurs |= s == symbol; });
    if (!occurs) {
      rest.terms.push_back(term);
      continue;
    }
    SmallVector<SymExprAttr> others;
    for (SymExprAttr factor : getSymFactors(term.monomial)) {
      if (factor.isSymbol() && factor.getName() == symbol && occurs)
        occurs = false;
      else
        others.push_back(factor);
    }
    for (SymExprAttr factor : others)
      factor.walkSymbols([&](StringAttr s) { occurs |= s == symbol; });
    if (occurs)
      return false;
    if (others.empty())
      scale.addConstant(term.coefficient);
    else
      scale.add(getSymMonomial(others), term.coefficient);
  }
  return true;
}

/// symbol = (actual - rest) / scale, if the division is exact
Unifier::Outcome Unifier::solveLinear(const Equation &equation) {
  if (!equation.pattern || !equation.actual)
    return Outcome::Open;
  StringAttr symbol = getOnlyUnbound(equation.pattern, bindings);
  SymPoly scalePoly, restPoly;
  if (!symbol || !splitLinear(equation.pattern, symbol, scalePoly, restPoly))
    return Outcome::Open;

  SymBuilder builder(context);
  SymExprAttr scale = builder.substitute(scalePoly.toExpr(context), bindings);
  SymExprAttr rest = builder.substitute(restPoly.toExpr(context), bindings);
  SymExprAttr product = builder.sub(equation.actual, rest);
  SymExprAttr zero = builder.constant(0);
  if (!scale || !product)
    return Outcome::Open;
  if (prover.provedEqual(scale, zero)) { // 0 * symbol does not determine it
    Truth holds = prover.equal(product, zero);
    if (holds == Truth::No)
      return contradict(equation);
    return holds == Truth::Yes ? Outcome::Solved : Outcome::Open;
  }
  if (prover.equal(scale, zero) != Truth::No)
    return Outcome::Open;
  if (SymExprAttr value = builder.exactDiv(product, scale))
    return bind(symbol, value, equation);
  switch (prover.divisible(product, scale)) {
  case Truth::Yes: // exact by what is declared: 2*n == m, m a multiple of 2
    if (SymExprAttr value = builder.floordiv(product, scale))
      return bind(symbol, value, equation);
    return Outcome::Open;
  case Truth::No:
    return contradict(equation);
  case Truth::Unknown:
    return Outcome::Open;
  }
  llvm_unreachable("unknown truth");
}

Unifier::Outcome Unifier::compare(const Equation &equation) {
  if (!equation.pattern || !equation.actual)
    return Outcome::Open;
  Truth truth = Truth::Unknown;
  if (SymExprAttr expected = instantiate(equation.pattern)) {
    truth = prover.equal(expected, equation.actual);
  } else if (equation.actual.isConstant()) {
    // Without symbols of the actual side, the pattern's own facts decide.
    SymSubstitution constants;
    for (auto [symbol, value] : bindings)
      if (value.isConstant())
        constants.try_emplace(symbol, value);
    SymExprAttr pattern =
        SymBuilder(context).substitute(equation.pattern, constants);
    Prover patternProver(context, patternFacts ? *patternFacts : SymbolFacts());
    // Even if proved equal, unbound symbols remain to be bound at run time.
    if (patternProver.equal(pattern, equation.actual) == Truth::No)
      truth = Truth::No;
  }
  if (truth == Truth::No)
    return contradict(equation);
  return truth == Truth::Yes ? Outcome::Solved : Outcome::Open;
}

//===----------------------------------------------------------------------===//
// Bindings and their contradictions
//===----------------------------------------------------------------------===//

Unifier::Outcome Unifier::bind(StringAttr symbol, SymExprAttr value,
                               const Equation &equation) {
  SymbolFacts::Range range =
      patternFacts ? patternFacts->get(symbol) : SymbolFacts::Range();
  SymBuilder builder(context);
  auto violate = [&](const Twine &rule) {
    std::string reason;
    if (!equation.pattern.isSymbol())
      reason =
          " (" + equation.pattern.str() + " is " + equation.actual.str() + ")";
    return report(equation, "expected " + symbol.getValue() + rule + ", got " +
                                value.str() + reason);
  };
  if (prover.less(value, builder.constant(range.lower)) == Truth::Yes)
    return violate(" >= " + Twine(range.lower));
  int64_t upper = range.upper ? *range.upper : 0;
  if (range.upper && prover.less(builder.constant(upper), value) == Truth::Yes)
    return violate(" <= " + Twine(upper));
  if (prover.divisible(value, builder.constant(range.multipleOf)) == Truth::No)
    return violate(" to be a multiple of " + Twine(range.multipleOf));
  bindings.try_emplace(symbol, value);
  return Outcome::Solved;
}

Unifier::Outcome Unifier::contradict(const Equation &equation) {
  std::string expected = equation.pattern.str();
  SymExprAttr value = instantiate(equation.pattern);
  if (value && value != equation.pattern)
    expected += " (= " + value.str() + ")";
  return report(equation,
                "expected " + expected + ", got " + equation.actual.str());
}

Unifier::Outcome Unifier::report(const Equation &equation,
                                 const Twine &message) {
  if (emitError)
    emitError() << equation.where << ": " << message;
  return Outcome::Contradiction;
}
