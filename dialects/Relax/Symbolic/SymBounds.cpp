//===- SymBounds.cpp - upper bounds of polynomials ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An upper bound comes from the interval of the polynomial, or from the bound
// of another polynomial in which an opaque term is replaced by something that
// it is known to be at most (at least, where its coefficient is negative):
//
//     n floordiv 4 - n
//   =>  4*(n floordiv 4 - n) <= n - 4*n = -3*n     by  4*(n floordiv 4) <= n
//   =>  upper bound floor(0 / 4) = 0               by  n >= 0
//
// The search eliminates the opaque terms one after the other, and also tries to
// keep each; a budget bounds it.
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymBounds.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr Wide infinity = WideInterval::infinity;
/// Larger polynomials are bounded only by their interval.
static constexpr size_t kMaxSearchedTerms = 48;
static constexpr size_t kMaxSearchedDegree = 4;

static bool isTooLarge(const SymPoly &poly) {
  return poly.terms.size() > kMaxSearchedTerms ||
         llvm::any_of(poly.terms, [](const SymPoly::Term &term) {
           return getSymFactors(term.monomial).size() > kMaxSearchedDegree;
         });
}

/// Rounds down to the nearest value of the residue class.
static Wide roundDown(Wide bound, const Congruence &residues) {
  if (bound == infinity || bound == -infinity || residues.modulus == 0)
    return bound;
  return bound - floorMod(bound - residues.residue, residues.modulus);
}

Wide SymBounds::search(const SymPoly &poly,
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

/// Finds a term with an opaque factor that is still to be eliminated, and whose
/// other factors have known signs. Case distinctions come first, so that later
/// choices may differ from case to case.
std::optional<SymBounds::Split> SymBounds::split(const SymPoly &poly,
                                                 ArrayRef<SymExprAttr> kept) {
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

Wide SymBounds::eliminate(const SymPoly &poly, const Split &part,
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

/// With b > 0, b times the polynomial is bounded by the polynomial in which
///
///   b*(a floordiv b) is in [a - b + 1, a],   b*(a ceildiv b) in [a, a + b - 1]
Wide SymBounds::eliminateDivision(const Split &part,
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
    Wide bound = SymBounds(ranges, context, wanted, budget).search(poly, kept);
    return bound == infinity || bound == -infinity
               ? bound
               : floorDiv(bound, divisor.constant);
  }
  // b*x <= b*t + b - 1 implies x <= t; only tried for the target.
  if (target == -infinity)
    return infinity;
  poly.add(divisor, -target - 1);
  poly.addConstant(1);
  poly.normalize();
  return SymBounds(ranges, context, 0, budget).search(poly, kept) <= 0
             ? target
             : infinity;
}

/// With b > 0, a mod b is in [0, b - 1], and at most a where a >= 0.
Wide SymBounds::eliminateMod(const Split &part,
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
Wide SymBounds::compareDivisions(const Split &part,
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
    Wide bound = SymBounds(ranges, context, 0, budget).search(gap);
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

Wide SymBounds::assume(const SymPoly &poly, SymExprAttr atom, SymExprAttr value,
                       SmallVectorImpl<SymExprAttr> &kept) {
  // If one of two operands is the smaller one, the other is the larger one.
  SymExprAttr opposite, opposed;
  ArrayRef<SymExprAttr> operands = atom.getOperands();
  if (operands.size() == 2 && atom.getKind() != SymKind::Broadcast) {
    SymKind kind = atom.getKind() == SymKind::Min ? SymKind::Max : SymKind::Min;
    opposite = SymExprAttr::getRaw(context, kind, 0, {}, operands, {});
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

/// A minimum is at most each operand, and at least the smallest: one operand
/// suffices to bound it from above, but all cases are needed from below. A
/// maximum is the mirror image. A broadcast equals one of its operands, and is
/// at least an operand if all others are at least 1.
Wide SymBounds::eliminateChoice(const SymPoly &poly, const Split &part,
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
