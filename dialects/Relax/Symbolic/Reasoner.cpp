//===- Reasoner.cpp - the search for proofs -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/Reasoner.h"
#include "Relax/Symbolic/SymBounds.h"

using namespace mlir;
using namespace mlir::relax;

/// The maximum number of polynomial terms examined for one bound.
static constexpr size_t kSearchBudget = 128;

static SymPoly scaled(const SymPoly &poly, Wide scale) {
  SymPoly result;
  result.add(poly, scale);
  return result;
}

Wide Reasoner::upperBound(const SymPoly &poly, Wide target) {
  size_t budget = kSearchBudget;
  return SymBounds(ranges, context, target, budget).search(poly);
}

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
    Congruence rest = ranges.congruence(form).mod(Congruence::of(0, divisor));
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
    Wide upper = upperBound(form, -WideInterval::infinity);
    Wide lower = upperBound(scaled(form, -1), -WideInterval::infinity);
    result = result.meet({-lower, upper});
  }
  return result;
}
