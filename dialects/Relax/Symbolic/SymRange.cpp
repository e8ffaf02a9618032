//===- SymRange.cpp - intervals and residues of expressions ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymRange.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Ranges of expressions
//===----------------------------------------------------------------------===//

WideInterval SymRanges::interval(SymExprAttr expr) {
  if (auto it = intervals.find(expr); it != intervals.end())
    return it->second;
  WideInterval range = tighten(computeInterval(expr), congruence(expr));
  intervals.try_emplace(expr, range);
  return range;
}

WideInterval SymRanges::computeInterval(SymExprAttr expr) {
  ArrayRef<SymExprAttr> operands = expr.getOperands();
  switch (expr.getKind()) {
  case SymKind::Constant:
    return WideInterval::exactly(expr.getValue());
  case SymKind::Symbol: {
    SymbolFacts::Range range = facts.get(expr.getName());
    return WideInterval::of(range.lower, range.upper ? Wide(*range.upper)
                                                     : WideInterval::infinity);
  }
  case SymKind::Sum:
    return interval(SymPoly(expr));
  case SymKind::Product:
    return monomialInterval(expr, /*shifted=*/false);
  case SymKind::FloorDiv:
    return interval(operands[0]).floordiv(interval(operands[1]));
  case SymKind::CeilDiv: // a ceildiv b = -((-a) floordiv b)
    return -(-interval(operands[0])).floordiv(interval(operands[1]));
  case SymKind::Mod:
    return interval(operands[0]).mod(interval(operands[1]));
  case SymKind::Min:
  case SymKind::Max: {
    WideInterval range = interval(operands.front());
    for (SymExprAttr operand : operands.drop_front()) {
      WideInterval other = interval(operand);
      if (expr.getKind() == SymKind::Min)
        range = {std::min(range.lower, other.lower),
                 std::min(range.upper, other.upper)};
      else
        range = {std::max(range.lower, other.lower),
                 std::max(range.upper, other.upper)};
    }
    return range;
  }
  case SymKind::Broadcast:
    return broadcastInterval(operands);
  }
  llvm_unreachable("unknown kind of expression");
}

/// The value is one of the operands: each one that is not 1.
WideInterval SymRanges::broadcastInterval(ArrayRef<SymExprAttr> operands) {
  WideInterval range{1, 0};
  for (SymExprAttr operand : operands)
    range = range.join(interval(operand));
  for (SymExprAttr operand : operands)
    if (WideInterval one = interval(operand); !one.contains(1))
      range = range.meet(one);
  return range;
}

void SymRanges::assumeDefined(SymExprAttr expr) {
  if (!defined.insert(expr).second)
    return;
  for (SymExprAttr operand : expr.getOperands())
    assumeDefined(operand);
  switch (expr.getKind()) {
  case SymKind::FloorDiv:
  case SymKind::CeilDiv:
  case SymKind::Mod:
    return assumeNonZero(expr.getOperands()[1]);
  default:
    return;
  }
}

void SymRanges::assumeNonZero(SymExprAttr expr) {
  if (!nonZero.insert(expr).second)
    return;
  if (expr.getKind() == SymKind::Product)
    for (SymExprAttr factor : expr.getOperands())
      assumeNonZero(factor);
  WideInterval range = interval(expr);
  if (range.lower == 0)
    ++range.lower;
  if (range.upper == 0)
    --range.upper;
  intervals[expr] = tighten(range, congruence(expr));
}

Congruence SymRanges::congruence(SymExprAttr expr) {
  if (auto it = congruences.find(expr); it != congruences.end())
    return it->second;
  Congruence residues = computeCongruence(expr);
  congruences.try_emplace(expr, residues);
  return residues;
}

Congruence SymRanges::computeCongruence(SymExprAttr expr) {
  ArrayRef<SymExprAttr> operands = expr.getOperands();
  switch (expr.getKind()) {
  case SymKind::Constant:
    return Congruence::of(0, expr.getValue());
  case SymKind::Symbol:
    return Congruence::of(facts.get(expr.getName()).multipleOf, 0);
  case SymKind::Sum:
    return congruence(SymPoly(expr));
  case SymKind::Product: {
    Congruence residues = Congruence::of(0, 1);
    for (SymExprAttr factor : operands)
      residues = residues * congruence(factor);
    return residues;
  }
  case SymKind::FloorDiv:
    return congruence(operands[0]).floordiv(congruence(operands[1]));
  case SymKind::Mod:
    return congruence(operands[0]).mod(congruence(operands[1]));
  case SymKind::CeilDiv:
    return {};
  case SymKind::Min:
  case SymKind::Max:
  case SymKind::Broadcast: {
    Congruence residues = congruence(operands.front());
    for (SymExprAttr operand : operands.drop_front())
      residues = residues.join(congruence(operand));
    return residues;
  }
  }
  llvm_unreachable("unknown kind of expression");
}

//===----------------------------------------------------------------------===//
// Ranges of polynomials
//===----------------------------------------------------------------------===//

Congruence SymRanges::congruence(const SymPoly &poly) {
  Congruence residues = Congruence::of(0, poly.constant);
  for (const SymPoly::Term &term : poly.terms)
    residues = residues +
               Congruence::of(0, term.coefficient) * congruence(term.monomial);
  return residues;
}

WideInterval SymRanges::interval(const SymPoly &poly) {
  WideInterval range = termsInterval(poly, /*shifted=*/false);
  if (std::optional<SymPoly> shifted = shift(poly))
    range = range.meet(termsInterval(*shifted, /*shifted=*/true));
  return tighten(range, congruence(poly));
}

WideInterval SymRanges::termsInterval(const SymPoly &poly, bool shifted) {
  WideInterval range = WideInterval::exactly(poly.constant);
  for (const SymPoly::Term &term : poly.terms)
    range = range + WideInterval::exactly(term.coefficient) *
                        monomialInterval(term.monomial, shifted);
  return range;
}

WideInterval SymRanges::monomialInterval(SymExprAttr monomial, bool shifted) {
  WideInterval range = WideInterval::exactly(1);
  ArrayRef<SymExprAttr> factors = getSymFactors(monomial);
  while (!factors.empty()) {
    SymExprAttr factor = factors.front();
    WideInterval one = interval(factor), power = WideInterval::exactly(1);
    if (shifted)
      one = one + WideInterval::exactly(-getShift(factor));
    size_t degree = 0;
    for (; !factors.empty() && factors.front() == factor; ++degree) {
      power = power * one;
      factors = factors.drop_front();
    }
    if (degree % 2 == 0)
      power = power.meet({0, WideInterval::infinity});
    range = range * power;
  }
  return range;
}

/// The finite bound of a factor that is shifted to zero.
Wide SymRanges::getShift(SymExprAttr factor) {
  WideInterval range = interval(factor);
  if (!WideInterval::isInfinite(range.lower))
    return range.lower;
  return WideInterval::isInfinite(range.upper) ? 0 : range.upper;
}

/// Writes every factor as its bound plus a rest of known sign, which reveals
/// signs that the terms alone hide. For n >= 0, m >= 1:
///
///   n*m - n = n*(1 + m') - n = n*m' >= 0
///
/// The rest of a factor is denoted by the factor itself.
std::optional<SymPoly> SymRanges::shift(const SymPoly &poly) {
  constexpr size_t maxTerms = 32, maxDegree = 4;
  if (poly.terms.size() > maxTerms)
    return std::nullopt;
  bool useful = false;
  for (const SymPoly::Term &term : poly.terms) {
    ArrayRef<SymExprAttr> factors = getSymFactors(term.monomial);
    if (factors.size() > maxDegree)
      return std::nullopt;
    useful |= factors.size() > 1 && llvm::any_of(factors, [&](SymExprAttr f) {
                return getShift(f) != 0;
              });
  }
  if (!useful)
    return std::nullopt;

  // Sum over all subsets of a term's factors, replaced by their bounds.
  SymPoly result(poly.constant);
  for (const SymPoly::Term &term : poly.terms) {
    ArrayRef<SymExprAttr> factors = getSymFactors(term.monomial);
    for (unsigned bounds = 0; bounds >> factors.size() == 0; ++bounds) {
      Wide coefficient = term.coefficient;
      SmallVector<SymExprAttr, maxDegree> rest;
      bool overflow = false;
      for (auto [index, factor] : llvm::enumerate(factors)) {
        if (bounds >> index & 1)
          overflow |= __builtin_mul_overflow(coefficient, getShift(factor),
                                             &coefficient);
        else
          rest.push_back(factor);
      }
      if (overflow)
        return std::nullopt;
      if (rest.empty())
        result.addConstant(coefficient);
      else if (coefficient != 0)
        result.terms.push_back({getSymMonomial(rest), coefficient});
    }
  }
  result.normalize();
  return result.problem.empty() ? std::optional(result) : std::nullopt;
}
