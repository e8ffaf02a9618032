//===- SymNormalForm.cpp - normal form with floordiv only -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymNormalForm.h"

using namespace mlir;
using namespace mlir::relax;

SymPoly SymNormalForm::of(const SymPoly &poly) {
  SymPoly result(poly.constant);
  result.problem = poly.problem;
  for (const SymPoly::Term &term : poly.terms) {
    SymPoly product(term.coefficient);
    for (SymExprAttr factor : getSymFactors(term.monomial))
      product = SymPoly::multiply(product, of(factor));
    result.add(product);
  }
  result.normalize();
  return result;
}

SymPoly SymNormalForm::of(SymExprAttr expr) {
  if (expr.isConstant() || expr.isSymbol())
    return SymPoly(expr);
  if (auto it = memo.find(expr); it != memo.end())
    return it->second;
  SymPoly result = compute(expr);
  memo.try_emplace(expr, result);
  return result;
}

SymPoly SymNormalForm::compute(SymExprAttr expr) {
  if (expr.getKind() == SymKind::Sum || expr.getKind() == SymKind::Product)
    return of(SymPoly(expr));
  SmallVector<SymPoly> operands;
  for (SymExprAttr operand : expr.getOperands())
    operands.push_back(of(operand));
  switch (expr.getKind()) {
  case SymKind::FloorDiv:
    return floordiv(operands[0], operands[1]);
  case SymKind::CeilDiv: // a ceildiv b = -((-a) floordiv b)
    return negated(floordiv(negated(operands[0]), operands[1]));
  case SymKind::Mod: { // a mod b = a - b*(a floordiv b)
    SymPoly result = SymPoly::multiply(negated(operands[1]),
                                       floordiv(operands[0], operands[1]));
    result.add(operands[0]);
    result.normalize();
    return result;
  }
  default:
    return node(expr.getKind(), operands);
  }
}

SymPoly SymNormalForm::node(SymKind kind, MutableArrayRef<SymPoly> operands) {
  SymPoly result;
  SmallVector<SymExprAttr> exprs;
  for (SymPoly &operand : operands) {
    exprs.push_back(operand.toExpr(context));
    if (!exprs.back() || exprs.back().getDepth() >= kMaxSymDepth) {
      result.problem = kSymTooDeep;
      return result;
    }
  }
  result.add(SymExprAttr::getRaw(context, kind, 0, {}, exprs, {}));
  return result;
}

SymPoly SymNormalForm::floordiv(const SymPoly &dividend,
                                const SymPoly &divisor) {
  if (divisor.isZero()) {
    SymPoly undefined;
    undefined.problem = "division by zero";
    return undefined;
  }
  if (divisor.isConstant()) {
    Wide sign = divisor.constant < 0 ? -1 : 1;
    SymPoly scaled;
    scaled.add(dividend, sign);
    return floordivByConstant(std::move(scaled), sign * divisor.constant);
  }
  SymPoly operands[] = {dividend, divisor};
  return node(SymKind::FloorDiv, operands);
}

/// Whether `lhs` represents both `lhs` and `rhs`, which have the same
/// monomials.
static bool isRepresentative(const SymPoly &lhs, const SymPoly &rhs) {
  for (auto [left, right] : llvm::zip(lhs.terms, rhs.terms))
    if (left.coefficient != right.coefficient)
      return left.coefficient < right.coefficient;
  return lhs.constant <= rhs.constant;
}

/// Reduces all numbers to [0, divisor); returns the quotient.
static SymPoly reduce(SymPoly &poly, Wide divisor) {
  SymPoly quotient(floorDiv(poly.constant, divisor));
  poly.constant = floorMod(poly.constant, divisor);
  for (SymPoly::Term &term : poly.terms) {
    quotient.terms.push_back(
        {term.monomial, floorDiv(term.coefficient, divisor)});
    term.coefficient = floorMod(term.coefficient, divisor);
  }
  poly.normalize();
  return quotient;
}

/// ((a floordiv d) + e) floordiv c = (a + d*e) floordiv (c*d)
static bool flatten(SymPoly &dividend, Wide &divisor) {
  auto fits = [&](const SymPoly::Term &term) {
    SymExprAttr inner = term.monomial;
    return term.coefficient == 1 && inner.getKind() == SymKind::FloorDiv &&
           inner.getOperands()[1].isConstant() &&
           fitsSymValue(divisor * inner.getOperands()[1].getValue());
  };
  auto term = llvm::find_if(dividend.terms, fits);
  if (term == dividend.terms.end())
    return false;
  SymExprAttr inner = term->monomial;
  Wide innerDivisor = inner.getOperands()[1].getValue();
  dividend.terms.erase(term);
  SymPoly merged(inner.getOperands()[0]);
  merged.add(dividend, innerDivisor);
  dividend = std::move(merged);
  divisor *= innerDivisor;
  return true;
}

/// As in the readable form, but with residues in [0, divisor), and of the two
/// dividends that are left by
///
///   p floordiv c = -((-p - 1) floordiv c) - 1
///
/// always the same one.
SymPoly SymNormalForm::floordivByConstant(SymPoly dividend, Wide divisor) {
  SymPoly result;
  Wide sign = 1;
  while (true) {
    dividend.normalize();
    result.add(reduce(dividend, divisor), sign);
    if (dividend.isConstant() || !dividend.problem.empty())
      break;
    Wide common = greatestCommonDivisor(dividend.getContent(), divisor);
    dividend.divideExactly(common);
    divisor /= common;

    SymPoly mirrored = negated(dividend);
    mirrored.addConstant(-1);
    SymPoly quotient = reduce(mirrored, divisor);
    if (!isRepresentative(dividend, mirrored)) {
      result.addConstant(-sign);
      sign = -sign;
      result.add(quotient, sign);
      dividend = std::move(mirrored);
    }
    if (flatten(dividend, divisor))
      continue;
    SymPoly operands[] = {dividend, SymPoly(divisor)};
    result.add(node(SymKind::FloorDiv, operands), sign);
    break;
  }
  result.normalize();
  return result;
}
