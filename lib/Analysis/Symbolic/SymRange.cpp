//===- SymRange.cpp - intervals and residues of expressions ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Symbolic/SymRange.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

WideInterval WideInterval::of(Wide lower, Wide upper) {
  WideInterval result;
  if (lower >= -limit)
    result.lower = std::min(lower, limit);
  if (upper <= limit)
    result.upper = std::max(upper, -limit);
  return result;
}

static bool isInfinite(Wide end) {
  return end == WideInterval::infinity || end == -WideInterval::infinity;
}

static Wide addEnds(Wide lhs, Wide rhs) {
  return isInfinite(lhs) ? lhs : isInfinite(rhs) ? rhs : lhs + rhs;
}

static Wide multiplyEnds(Wide lhs, Wide rhs) {
  if (lhs == 0 || rhs == 0)
    return 0;
  if (!isInfinite(lhs) && !isInfinite(rhs))
    return lhs * rhs;
  return (lhs < 0) == (rhs < 0) ? WideInterval::infinity
                                : -WideInterval::infinity;
}

/// With a positive divisor. Towards an infinite one, quotients end at 0 or -1.
static Wide divideEnds(Wide dividend, Wide divisor) {
  if (isInfinite(dividend))
    return dividend;
  return isInfinite(divisor) ? (dividend < 0 ? -1 : 0)
                             : floorDiv(dividend, divisor);
}

WideInterval WideInterval::operator+(const WideInterval &other) const {
  return of(addEnds(lower, other.lower), addEnds(upper, other.upper));
}

WideInterval WideInterval::operator*(const WideInterval &other) const {
  Wide corners[] = {multiplyEnds(lower, other.lower),
                    multiplyEnds(lower, other.upper),
                    multiplyEnds(upper, other.lower),
                    multiplyEnds(upper, other.upper)};
  auto [least, greatest] =
      std::minmax_element(std::begin(corners), std::end(corners));
  return of(*least, *greatest);
}

WideInterval WideInterval::meet(const WideInterval &other) const {
  return {std::max(lower, other.lower), std::min(upper, other.upper)};
}

WideInterval WideInterval::join(const WideInterval &other) const {
  if (isEmpty() || other.isEmpty())
    return isEmpty() ? other : *this;
  return {std::min(lower, other.lower), std::max(upper, other.upper)};
}

/// Zero is no divisor; a negative one is handled by a / b = -a / -b.
template <typename Fn>
static WideInterval bySignOfDivisor(const WideInterval &divisor, Fn positive,
                                    Fn negative) {
  WideInterval above = divisor.meet({1, WideInterval::infinity});
  WideInterval below = divisor.meet({-WideInterval::infinity, -1});
  WideInterval result{1, 0};
  if (!above.isEmpty())
    result = result.join(positive(above));
  if (!below.isEmpty())
    result = result.join(negative(-below));
  return result;
}

WideInterval WideInterval::floordiv(const WideInterval &divisor) const {
  using Fn = function_ref<WideInterval(WideInterval)>;
  // Monotone in the dividend, and in the divisor for each sign of the dividend.
  auto divide = [](const WideInterval &a, const WideInterval &b) {
    return of(
        std::min(divideEnds(a.lower, b.lower), divideEnds(a.lower, b.upper)),
        std::max(divideEnds(a.upper, b.lower), divideEnds(a.upper, b.upper)));
  };
  auto positive = [&](WideInterval b) { return divide(*this, b); };
  auto negative = [&](WideInterval b) { return divide(-*this, b); };
  return bySignOfDivisor<Fn>(divisor, positive, negative);
}

WideInterval WideInterval::mod(const WideInterval &divisor) const {
  using Fn = function_ref<WideInterval(WideInterval)>;
  auto modulo = [](const WideInterval &a, const WideInterval &b) {
    if (a.lower >= 0 && a.upper < b.lower)
      return a;
    Wide quotient = divideEnds(a.lower, b.lower);
    if (b.isSingle() && !isInfinite(a.lower) && !isInfinite(a.upper) &&
        quotient == divideEnds(a.upper, b.lower))
      return of(a.lower - quotient * b.lower, a.upper - quotient * b.lower);
    Wide most = isInfinite(b.upper) ? infinity : b.upper - 1;
    return of(0, a.lower >= 0 ? std::min(most, a.upper) : most);
  };
  auto positive = [&](WideInterval b) { return modulo(*this, b); };
  auto negative = [&](WideInterval b) { return -modulo(-*this, b); };
  return bySignOfDivisor<Fn>(divisor, positive, negative);
}

//===----------------------------------------------------------------------===//
// Congruences
//===----------------------------------------------------------------------===//

Congruence Congruence::of(Wide modulus, Wide residue) {
  constexpr Wide largest = Wide(1) << 62;
  modulus = modulus < 0 ? -modulus : modulus;
  // Numbers stay small enough to multiply: any divisor of a modulus is one.
  if (modulus > largest)
    modulus = greatestCommonDivisor(modulus, largest);
  else if (modulus == 0 && !fitsSymValue(residue))
    modulus = largest;
  return {modulus, modulus == 0 ? residue : floorMod(residue, modulus)};
}

Congruence Congruence::operator+(const Congruence &other) const {
  return of(greatestCommonDivisor(modulus, other.modulus),
            residue + other.residue);
}

/// (g*s + r) * (h*t + q) = g*h*s*t + g*q*s + h*r*t + r*q
Congruence Congruence::operator*(const Congruence &other) const {
  Wide common = greatestCommonDivisor(modulus * other.modulus,
                                      modulus * other.residue);
  return of(greatestCommonDivisor(common, other.modulus * residue),
            residue * other.residue);
}

Congruence Congruence::join(const Congruence &other) const {
  Wide common = greatestCommonDivisor(modulus, other.modulus);
  return of(greatestCommonDivisor(common, residue - other.residue), residue);
}

/// (g*t + r) floordiv c = (g/c)*t + r floordiv c    where c divides g
Congruence Congruence::floordiv(const Congruence &divisor) const {
  Wide c = divisor.residue;
  if (divisor.modulus != 0 || c == 0 || modulus % c != 0)
    return {};
  return of(modulus / c, floorDiv(residue, c));
}

/// a mod b = a - b*q for some q
Congruence Congruence::mod(const Congruence &divisor) const {
  Wide c = divisor.residue;
  if (divisor.modulus == 0 && c != 0 && modulus % c == 0)
    return of(0, floorMod(residue, c));
  Wide common = greatestCommonDivisor(divisor.modulus, c);
  return of(greatestCommonDivisor(modulus, common), residue);
}

bool Congruence::excludes(Wide value) const {
  return modulus == 0 ? value != residue : (value - residue) % modulus != 0;
}

/// Moves the ends of `range` to the nearest values of the residue class.
static WideInterval tighten(WideInterval range, const Congruence &residues) {
  Wide modulus = residues.modulus;
  if (modulus == 0)
    return range.meet(WideInterval::exactly(residues.residue));
  if (!isInfinite(range.lower))
    range.lower += floorMod(residues.residue - range.lower, modulus);
  if (!isInfinite(range.upper))
    range.upper -= floorMod(range.upper - residues.residue, modulus);
  return range.isEmpty() ? range : WideInterval::of(range.lower, range.upper);
}

//===----------------------------------------------------------------------===//
// Of expressions
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

/// The value is one of the operands, namely each that is not 1.
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
// Of polynomials
//===----------------------------------------------------------------------===//

Congruence SymRanges::congruence(const SymPoly &poly) {
  Congruence residues = Congruence::of(0, poly.constant);
  for (const SymPoly::Term &term : poly.terms)
    residues = residues + Congruence::of(0, term.coefficient) *
                              congruence(term.monomial);
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

/// The finite end of a factor that moves to zero.
Wide SymRanges::getShift(SymExprAttr factor) {
  WideInterval range = interval(factor);
  if (!isInfinite(range.lower))
    return range.lower;
  return isInfinite(range.upper) ? 0 : range.upper;
}

/// Writes every factor as its bound plus a rest of known sign, which shows what
/// the terms alone hide. For n >= 0, m >= 1:
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

  // Every subset of a term's factors is once replaced by its bounds.
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
