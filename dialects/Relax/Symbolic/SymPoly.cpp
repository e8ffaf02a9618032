//===- SymPoly.cpp - expressions as integer polynomials -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymPoly.h"

using namespace mlir;
using namespace mlir::relax;

static_assert(kMaxSymDepth == 256 && kMaxSymTerms == 16384,
              "the messages below name the limits");
const llvm::StringLiteral relax::kSymOverflow =
    "symbolic expression overflows 64 bits";
const llvm::StringLiteral relax::kSymTooDeep =
    "symbolic expression nests more than 256 levels deep";
const llvm::StringLiteral relax::kSymTooManyTerms =
    "symbolic expression has more than 16384 terms";

/// Bounds the memory of one expansion; the number of terms is not enough, as
/// each may have thousands of factors.
static constexpr size_t kMaxExpandedFactors = 1u << 20;

ArrayRef<SymExprAttr> relax::getSymFactors(const SymExprAttr &monomial) {
  return monomial.getKind() == SymKind::Product ? monomial.getOperands()
                                                : ArrayRef(monomial);
}

SymExprAttr relax::getSymMonomial(ArrayRef<SymExprAttr> factors) {
  if (factors.size() == 1)
    return factors.front();
  return SymExprAttr::getRaw(factors.front().getContext(), SymKind::Product, 0,
                             {}, factors, {});
}

bool relax::isBefore(SymExprAttr lhs, SymExprAttr rhs) {
  return SymExprAttr::compare(lhs, rhs) < 0;
}

void SymPoly::addConstant(Wide value, Wide scale) {
  Wide product;
  if (__builtin_mul_overflow(value, scale, &product) ||
      __builtin_add_overflow(constant, product, &constant))
    fail(kSymOverflow);
}

void SymPoly::add(SymExprAttr value, Wide scale) {
  if (value.isConstant() || value.getKind() == SymKind::Sum)
    addConstant(value.getValue(), scale);
  if (value.isConstant())
    return;
  if (value.getKind() != SymKind::Sum) {
    terms.push_back({value, scale});
    return;
  }
  for (auto [monomial, coefficient] :
       llvm::zip(value.getOperands(), value.getCoefficients())) {
    Wide product;
    if (__builtin_mul_overflow(Wide(coefficient), scale, &product))
      fail(kSymOverflow);
    terms.push_back({monomial, product});
  }
}

void SymPoly::add(const SymPoly &other, Wide scale) {
  if (!other.problem.empty())
    problem = other.problem;
  addConstant(other.constant, scale);
  for (const Term &term : other.terms) {
    Wide product;
    if (__builtin_mul_overflow(term.coefficient, scale, &product))
      fail(kSymOverflow);
    terms.push_back({term.monomial, product});
  }
}

void SymPoly::normalize() {
  auto before = [](const Term &lhs, const Term &rhs) {
    return isBefore(lhs.monomial, rhs.monomial);
  };
  // Common case: the sum of two sorted polynomials.
  auto second = std::is_sorted_until(terms.begin(), terms.end(), before);
  if (std::is_sorted(second, terms.end(), before))
    std::inplace_merge(terms.begin(), second, terms.end(), before);
  else
    llvm::sort(terms, before);
  size_t size = 0;
  for (size_t i = 0, e = terms.size(); i != e;) {
    Term merged = terms[i++];
    for (; i != e && terms[i].monomial == merged.monomial; ++i)
      if (__builtin_add_overflow(merged.coefficient, terms[i].coefficient,
                                 &merged.coefficient))
        fail(kSymOverflow);
    if (merged.coefficient != 0)
      terms[size++] = merged;
  }
  terms.truncate(size);
}

Wide SymPoly::getContent() const {
  Wide content = 0;
  for (const Term &term : terms)
    content = greatestCommonDivisor(content, term.coefficient);
  return content;
}

SymPoly SymPoly::extractMultiples(Wide divisor) {
  SymPoly quotient(floorDiv(constant, divisor));
  constant = floorMod(constant, divisor);
  for (Term &term : terms) {
    if (Wide multiple = term.coefficient / divisor)
      quotient.terms.push_back({term.monomial, multiple});
    term.coefficient %= divisor;
  }
  llvm::erase_if(terms, [](const Term &term) { return term.coefficient == 0; });
  return quotient;
}

void SymPoly::divideExactly(Wide divisor) {
  constant = floorDiv(constant, divisor);
  for (Term &term : terms)
    term.coefficient /= divisor;
}

bool SymPoly::reduceModulo(Wide divisor) {
  normalize();
  SymPoly stripped;
  bool changed = false;
  for (Term &term : terms) {
    term.coefficient = floorMod(term.coefficient, divisor);
    SymExprAttr monomial = term.monomial;
    if (term.coefficient == 0 || monomial.getKind() != SymKind::Mod ||
        !monomial.getOperands()[1].isConstant() ||
        term.coefficient * monomial.getOperands()[1].getValue() % divisor != 0)
      continue;
    stripped.add(monomial.getOperands()[0], term.coefficient);
    term.coefficient = 0;
    changed = true;
  }
  add(stripped);
  normalize();
  constant = floorMod(constant, divisor);
  return changed;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static SymExprAttr multiplyMonomials(SymExprAttr lhs, SymExprAttr rhs) {
  SmallVector<SymExprAttr> factors;
  ArrayRef<SymExprAttr> left = getSymFactors(lhs), right = getSymFactors(rhs);
  std::merge(left.begin(), left.end(), right.begin(), right.end(),
             std::back_inserter(factors), isBefore);
  return getSymMonomial(factors);
}

static size_t countFactors(const SymPoly &poly) {
  size_t count = 1;
  for (const SymPoly::Term &term : poly.terms)
    count += getSymFactors(term.monomial).size();
  return count;
}

SymPoly SymPoly::multiply(const SymPoly &lhs, const SymPoly &rhs) {
  SymPoly result;
  result.problem = lhs.problem.empty() ? rhs.problem : lhs.problem;
  if (!result.problem.empty())
    return result;
  size_t left = lhs.terms.size(), right = rhs.terms.size();
  if (left * right > kMaxSymTerms ||
      left * countFactors(rhs) + right * countFactors(lhs) >
          kMaxExpandedFactors) {
    result.fail(kSymTooManyTerms);
    return result;
  }
  result.addConstant(lhs.constant, rhs.constant);
  auto push = [&](SymExprAttr monomial, Wide a, Wide b) {
    Wide product;
    if (__builtin_mul_overflow(a, b, &product))
      result.fail(kSymOverflow);
    if (product != 0)
      result.terms.push_back({monomial, product});
  };
  for (const Term &term : lhs.terms)
    push(term.monomial, term.coefficient, rhs.constant);
  for (const Term &term : rhs.terms)
    push(term.monomial, term.coefficient, lhs.constant);
  for (const Term &a : lhs.terms)
    for (const Term &b : rhs.terms)
      push(multiplyMonomials(a.monomial, b.monomial), a.coefficient,
           b.coefficient);
  result.normalize();
  return result;
}

//===----------------------------------------------------------------------===//
// Back to expressions
//===----------------------------------------------------------------------===//

SymExprAttr SymPoly::toExpr(MLIRContext *context) {
  normalize();
  auto fits = [](const Term &term) { return fitsSymValue(term.coefficient); };
  if (problem.empty() && !(fitsSymValue(constant) && llvm::all_of(terms, fits)))
    fail(kSymOverflow);
  if (problem.empty() && terms.size() > kMaxSymTerms)
    fail(kSymTooManyTerms);
  if (!problem.empty())
    return {};

  SymExprAttr result;
  if (terms.empty()) {
    result = SymExprAttr::getConstant(context, constant);
  } else if (terms.size() == 1 && constant == 0 &&
             terms.front().coefficient == 1) {
    result = terms.front().monomial;
  } else {
    SmallVector<SymExprAttr> operands;
    SmallVector<int64_t> coefficients;
    for (const Term &term : terms) {
      operands.push_back(term.monomial);
      coefficients.push_back(term.coefficient);
    }
    result = SymExprAttr::getRaw(context, SymKind::Sum, constant, {}, operands,
                                 coefficients);
  }
  if (result.getDepth() <= kMaxSymDepth)
    return result;
  fail(kSymTooDeep);
  return {};
}
