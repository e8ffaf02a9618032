//===- Reasoner.cpp - the search for proofs ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An upper bound comes from the interval of the polynomial, or from the bound of
// another polynomial in which an opaque term is replaced by something that it is
// known to be at most (at least, where its coefficient is negative):
//
//     n floordiv 4 - n
//   =>  4*(n floordiv 4 - n) <= n - 4*n = -3*n     by  4*(n floordiv 4) <= n
//   =>  upper bound floor(0 / 4) = 0               by  n >= 0
//
// The search eliminates the opaque terms one after the other, and also tries to
// keep each; a budget bounds it.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Symbolic/Reasoner.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr Wide infinity = WideInterval::infinity;
/// Terms of polynomials looked at for one bound.
static constexpr size_t kSearchBudget = 64;
/// Larger polynomials are bounded by their interval alone.
static constexpr size_t kMaxSearchedTerms = 48;
static constexpr size_t kMaxSearchedDegree = 4;

static SymPoly scaled(const SymPoly &poly, Wide scale) {
  SymPoly result;
  result.add(poly, scale);
  return result;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// One search for an upper bound, which ends as soon as `target` is reached.
class Reasoner::Bounds {
public:
  Bounds(Reasoner &reasoner, Wide target, size_t &budget)
      : reasoner(reasoner), ranges(reasoner.ranges), target(target),
        budget(budget) {}

  Wide search(const SymPoly &poly) {
    SmallVector<SymExprAttr> kept;
    return search(poly, kept);
  }

private:
  /// `poly = coefficient * cofactor * atom + rest`, the cofactor's sign in the
  /// coefficient: `positive` tells whether a larger atom makes a larger `poly`.
  struct Split {
    SymExprAttr monomial;
    SymExprAttr atom;
    SymPoly cofactor; // times the coefficient
    SymPoly rest;
    bool positive;
  };

  Wide search(const SymPoly &poly, SmallVectorImpl<SymExprAttr> &kept);
  /// Whether one operand is enough to bound a minimum or maximum.
  static bool isFreeChoice(const Split &part) {
    return part.positive == (part.atom.getKind() == SymKind::Min);
  }
  static int getUrgency(const Split &part) {
    SymKind kind = part.atom.getKind();
    if (kind == SymKind::Broadcast)
      return 2;
    if (kind != SymKind::Min && kind != SymKind::Max)
      return 1;
    return isFreeChoice(part) ? 0 : 2;
  }
  std::optional<Split> split(const SymPoly &poly, ArrayRef<SymExprAttr> kept);
  Wide eliminate(const SymPoly &poly, const Split &part,
                 SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateDivision(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateMod(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide compareDivisions(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateChoice(const SymPoly &poly, const Split &part,
                       SmallVectorImpl<SymExprAttr> &kept);

  /// The bound with `atom` replaced by `value`, in the split term only.
  Wide replace(const Split &part, const SymPoly &value,
               SmallVectorImpl<SymExprAttr> &kept) {
    SymPoly poly = SymPoly::multiply(part.cofactor, value);
    poly.add(part.rest);
    poly.normalize();
    return search(poly, kept);
  }
  /// ... and in all terms.
  Wide assume(const SymPoly &poly, SymExprAttr atom, SymExprAttr value,
              SmallVectorImpl<SymExprAttr> &kept);

  Reasoner &reasoner;
  SymRanges &ranges;
  Wide target;
  size_t &budget;
};

static bool isTooLarge(const SymPoly &poly) {
  return poly.terms.size() > kMaxSearchedTerms ||
         llvm::any_of(poly.terms, [](const SymPoly::Term &term) {
           return getSymFactors(term.monomial).size() > kMaxSearchedDegree;
         });
}

/// To the nearest value of the residue class.
static Wide roundDown(Wide bound, const Congruence &residues) {
  if (bound == infinity || bound == -infinity || residues.modulus == 0)
    return bound;
  return bound - floorMod(bound - residues.residue, residues.modulus);
}

Wide Reasoner::Bounds::search(const SymPoly &poly,
                              SmallVectorImpl<SymExprAttr> &kept) {
  if (!poly.problem.empty() || budget == 0)
    return infinity;
  budget -= std::min(budget, poly.terms.size() + 1);
  Wide best = ranges.interval(poly).upper;
  if (best <= target || isTooLarge(poly))
    return best;
  Congruence residues = ranges.congruence(poly);
  size_t numKept = kept.size();
  while (budget != 0) {
    std::optional<Split> part = split(poly, kept);
    if (!part)
      break;
    best = std::min(best, roundDown(eliminate(poly, *part, kept), residues));
    if (best <= target)
      break;
    kept.push_back(part->monomial);
  }
  kept.truncate(numKept);
  return best;
}

/// A term with an opaque factor that has not been dealt with, and whose other
/// factors have a known sign. Case distinctions come first, so that the choices
/// after them may differ from case to case.
std::optional<Reasoner::Bounds::Split>
Reasoner::Bounds::split(const SymPoly &poly, ArrayRef<SymExprAttr> kept) {
  std::optional<Split> best;
  for (auto [index, term] : llvm::enumerate(poly.terms)) {
    if (llvm::is_contained(kept, term.monomial))
      continue;
    ArrayRef<SymExprAttr> factors = getSymFactors(term.monomial);
    auto opaque = llvm::find_if(
        factors, [](SymExprAttr factor) { return !factor.isSymbol(); });
    if (opaque == factors.end())
      continue;
    SmallVector<SymExprAttr> others(factors.begin(), opaque);
    others.append(std::next(opaque), factors.end());

    Split result;
    result.monomial = term.monomial;
    result.atom = *opaque;
    result.cofactor = SymPoly(term.coefficient);
    if (!others.empty()) {
      result.cofactor = SymPoly();
      result.cofactor.add(getSymMonomial(others), term.coefficient);
    }
    WideInterval sign = ranges.interval(result.cofactor);
    if (sign.lower < 0 && sign.upper > 0)
      continue;
    result.positive = sign.lower >= 0;
    result.rest = poly;
    result.rest.terms.erase(result.rest.terms.begin() + index);
    if (!best || getUrgency(result) > getUrgency(*best))
      best = std::move(result);
  }
  return best;
}

Wide Reasoner::Bounds::eliminate(const SymPoly &poly, const Split &part,
                                 SmallVectorImpl<SymExprAttr> &kept) {
  switch (part.atom.getKind()) {
  case SymKind::FloorDiv:
    if (Wide bound = compareDivisions(part, kept); bound <= target)
      return bound;
    [[fallthrough]];
  case SymKind::CeilDiv:
    return eliminateDivision(part, kept);
  case SymKind::Mod:
    return eliminateMod(part, kept);
  case SymKind::Min:
  case SymKind::Max:
  case SymKind::Broadcast:
    return eliminateChoice(poly, part, kept);
  default:
    return infinity;
  }
}

/// With b > 0, b times the polynomial is bounded by that in which
///
///   b*(a floordiv b) is in [a - b + 1, a],   b*(a ceildiv b) in [a, a + b - 1]
Wide Reasoner::Bounds::eliminateDivision(const Split &part,
                                         SmallVectorImpl<SymExprAttr> &kept) {
  SymPoly dividend(part.atom.getOperands()[0]);
  SymPoly divisor(part.atom.getOperands()[1]);
  if (ranges.interval(divisor).lower < 1 ||
      part.rest.terms.size() * (divisor.terms.size() + 1) > kMaxSearchedTerms)
    return infinity;
  bool isFloor = part.atom.getKind() == SymKind::FloorDiv;
  if (isFloor != part.positive) {
    dividend.add(divisor, isFloor ? -1 : 1);
    dividend.addConstant(isFloor ? 1 : -1);
    dividend.normalize();
  }
  SymPoly poly = SymPoly::multiply(part.cofactor, dividend);
  poly.add(SymPoly::multiply(part.rest, divisor));
  poly.normalize();

  if (divisor.isConstant()) {
    Wide wanted =
        target == -infinity
            ? target
            : std::min(target * divisor.constant + divisor.constant - 1,
                       WideInterval::limit);
    Wide bound = Bounds(reasoner, wanted, budget).search(poly, kept);
    return bound == infinity || bound == -infinity
               ? bound
               : floorDiv(bound, divisor.constant);
  }
  // b*x <= b*t + b - 1 implies x <= t; which is tried for the target only.
  if (target == -infinity)
    return infinity;
  poly.add(divisor, -target - 1);
  poly.addConstant(1);
  poly.normalize();
  return Bounds(reasoner, 0, budget).search(poly, kept) <= 0 ? target
                                                             : infinity;
}

/// With b > 0, a mod b is in [0, b - 1], and at most a where a >= 0.
Wide Reasoner::Bounds::eliminateMod(const Split &part,
                                    SmallVectorImpl<SymExprAttr> &kept) {
  SymExprAttr dividend = part.atom.getOperands()[0];
  SymExprAttr divisor = part.atom.getOperands()[1];
  if (ranges.interval(divisor).lower < 1)
    return infinity;
  if (!part.positive)
    return replace(part, SymPoly(), kept);
  Wide bound = infinity;
  if (ranges.interval(dividend).lower >= 0)
    bound = replace(part, SymPoly(dividend), kept);
  if (bound <= target)
    return bound;
  SymPoly most(divisor);
  most.addConstant(-1);
  return std::min(bound, replace(part, most, kept));
}

/// x floordiv c <= y floordiv c + (c - 1 + u) floordiv c   where x - y <= u,
/// against another division by c that is subtracted.
Wide Reasoner::Bounds::compareDivisions(const Split &part,
                                        SmallVectorImpl<SymExprAttr> &kept) {
  SymExprAttr divisor = part.atom.getOperands()[1];
  Wide best = infinity;
  if (!part.positive || !divisor.isConstant())
    return best;
  for (const SymPoly::Term &term : part.rest.terms) {
    SymExprAttr other = term.monomial;
    if (term.coefficient >= 0 || other.getKind() != SymKind::FloorDiv ||
        other.getOperands()[1] != divisor)
      continue;
    SymPoly gap(part.atom.getOperands()[0]);
    gap.add(other.getOperands()[0], -1);
    gap.normalize();
    Wide bound = Bounds(reasoner, 0, budget).search(gap);
    if (bound == infinity || bound == -infinity)
      continue;
    SymPoly value(other);
    value.addConstant(
        floorDiv(divisor.getValue() - 1 + bound, divisor.getValue()));
    best = std::min(best, replace(part, value, kept));
    if (best <= target)
      return best;
  }
  return best;
}

Wide Reasoner::Bounds::assume(const SymPoly &poly, SymExprAttr atom,
                              SymExprAttr value,
                              SmallVectorImpl<SymExprAttr> &kept) {
  // Where one of two operands is the smaller, the other is the larger.
  SymExprAttr opposite, opposed;
  ArrayRef<SymExprAttr> operands = atom.getOperands();
  if (operands.size() == 2 && atom.getKind() != SymKind::Broadcast) {
    SymKind kind = atom.getKind() == SymKind::Min ? SymKind::Max : SymKind::Min;
    opposite = SymExprAttr::getRaw(reasoner.context, kind, 0, {}, operands, {});
    opposed = operands[operands[0] == value];
  }
  SymPoly result(poly.constant);
  for (const SymPoly::Term &term : poly.terms) {
    SymPoly product(term.coefficient);
    for (SymExprAttr factor : getSymFactors(term.monomial)) {
      SymExprAttr replaced = factor == atom       ? value
                             : factor == opposite ? opposed
                                                  : factor;
      product = SymPoly::multiply(product, SymPoly(replaced));
    }
    result.add(product);
  }
  result.normalize();
  return search(result, kept);
}

/// A minimum is at most each operand, and at least the smallest: to bound it from
/// above one operand is enough, from below all cases count. A maximum is the
/// mirror image. A broadcast is one of its operands, and at least an operand if
/// all others are at least 1.
Wide Reasoner::Bounds::eliminateChoice(const SymPoly &poly, const Split &part,
                                       SmallVectorImpl<SymExprAttr> &kept) {
  SymKind kind = part.atom.getKind();
  ArrayRef<SymExprAttr> operands = part.atom.getOperands();
  if (kind == SymKind::Broadcast ? !part.positive : isFreeChoice(part)) {
    Wide best = infinity;
    for (SymExprAttr operand : operands) {
      bool othersArePositive = llvm::all_of(operands, [&](SymExprAttr other) {
        return other == operand || ranges.interval(other).lower >= 1;
      });
      if (kind == SymKind::Broadcast && !othersArePositive)
        continue;
      best = std::min(best, replace(part, SymPoly(operand), kept));
      if (best <= target)
        return best;
    }
    if (kind != SymKind::Broadcast)
      return best;
  }
  Wide worst = -infinity;
  for (SymExprAttr operand : operands) {
    worst = std::max(worst, assume(poly, part.atom, operand, kept));
    if (worst == infinity)
      break;
  }
  return worst;
}

Wide Reasoner::upperBound(const SymPoly &poly, Wide target) {
  size_t budget = kSearchBudget;
  return Bounds(*this, target, budget).search(poly);
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

SymPoly Reasoner::difference(SymExprAttr lhs, SymExprAttr rhs) {
  SymPoly result(lhs);
  result.add(rhs, -1);
  result.normalize();
  return result;
}

bool Reasoner::atMost(SymExprAttr lhs, SymExprAttr rhs, Wide offset) {
  SymPoly gap = difference(lhs, rhs);
  gap.addConstant(offset);
  return upperBound(gap, 0) <= 0 || upperBound(normalForm.of(gap), 0) <= 0;
}

bool Reasoner::equal(SymExprAttr lhs, SymExprAttr rhs) {
  SymPoly normal = normalForm.of(difference(lhs, rhs));
  if (normal.problem.empty() && normal.isConstant())
    return normal.constant == 0;
  return atMost(lhs, rhs) && atMost(rhs, lhs);
}

bool Reasoner::different(SymExprAttr lhs, SymExprAttr rhs) {
  SymPoly gap = difference(lhs, rhs);
  if (gap.problem.empty() && ranges.congruence(gap).excludes(0))
    return true;
  SymPoly normal = normalForm.of(gap);
  if (normal.problem.empty() && ranges.congruence(normal).excludes(0))
    return true;
  return atMost(lhs, rhs, 1) || atMost(rhs, lhs, 1);
}

Truth Reasoner::divisible(SymExprAttr expr, Wide divisor) {
  SymPoly poly(expr);
  for (const SymPoly &form : {poly, normalForm.of(poly)}) {
    if (!form.problem.empty())
      continue;
    Congruence rest =
        ranges.congruence(form).mod(Congruence::of(0, divisor));
    if (rest.modulus == 0 && rest.residue == 0)
      return Truth::Yes;
    if (rest.excludes(0))
      return Truth::No;
  }
  SymBuilder silent(context);
  SymExprAttr rest = silent.mod(expr, silent.constant(divisor));
  if (!rest)
    return Truth::Unknown;
  if (different(rest, zero()))
    return Truth::No;
  return equal(rest, zero()) ? Truth::Yes : Truth::Unknown;
}

WideInterval Reasoner::interval(SymExprAttr expr) {
  WideInterval result = ranges.interval(expr);
  SymPoly poly(expr);
  for (const SymPoly &form : {poly, normalForm.of(poly)}) {
    Wide upper = upperBound(form, -infinity);
    Wide lower = upperBound(scaled(form, -1), -infinity);
    result = result.meet({-lower, upper});
  }
  return result;
}
