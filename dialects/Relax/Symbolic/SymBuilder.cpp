//===- SymBuilder.cpp - canonical symbolic arithmetic ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ring operations are polynomial arithmetic (SymPoly). Everything else becomes
// an opaque term, after the rewrites below have made it as small and as unique
// as they can; each states the identity that justifies it.
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymBuilder.h"
#include "Relax/Symbolic/SymPoly.h"

using namespace mlir;
using namespace mlir::relax;

static bool anyUnknown(ArrayRef<SymExprAttr> operands) {
  return llvm::any_of(operands, [](SymExprAttr op) { return !op; });
}

SymExprAttr SymBuilder::fail(const Twine &message) {
  hasFailed = true;
  if (emitError)
    emitError() << message;
  return {};
}

SymExprAttr SymBuilder::finish(SymPoly poly) {
  SymExprAttr result = poly.toExpr(context);
  return result ? result : fail(poly.problem);
}

SymExprAttr SymBuilder::opaque(SymKind kind, ArrayRef<SymExprAttr> operands) {
  if (anyUnknown(operands))
    return {};
  if (operands.size() > kMaxSymTerms)
    return fail(kSymTooManyTerms);
  SymExprAttr result = SymExprAttr::getRaw(context, kind, 0, {}, operands, {});
  return result.getDepth() <= kMaxSymDepth ? result : fail(kSymTooDeep);
}

//===----------------------------------------------------------------------===//
// Ring operations
//===----------------------------------------------------------------------===//

SymExprAttr SymBuilder::constant(int64_t value) {
  return fitsSymValue(value) ? SymExprAttr::getConstant(context, value)
                             : fail(kSymOverflow);
}

SymExprAttr SymBuilder::symbol(StringRef name) {
  if (!isValidSymbolName(name))
    return fail("'" + name + "' is not a valid symbol name");
  return SymExprAttr::getSymbol(context, name);
}

SymExprAttr SymBuilder::add(SymExprAttr lhs, SymExprAttr rhs) {
  return sum({lhs, rhs});
}

SymExprAttr SymBuilder::sub(SymExprAttr lhs, SymExprAttr rhs) {
  if (!lhs || !rhs)
    return {};
  SymPoly poly(lhs);
  poly.add(rhs, -1);
  return finish(std::move(poly));
}

SymExprAttr SymBuilder::neg(SymExprAttr value) {
  if (!value)
    return {};
  SymPoly poly;
  poly.add(value, -1);
  return finish(std::move(poly));
}

SymExprAttr SymBuilder::sum(ArrayRef<SymExprAttr> operands) {
  if (anyUnknown(operands))
    return {};
  SymPoly poly;
  for (SymExprAttr operand : operands)
    poly.add(operand);
  return finish(std::move(poly));
}

SymExprAttr SymBuilder::mul(SymExprAttr lhs, SymExprAttr rhs) {
  return product({lhs, rhs});
}

SymExprAttr SymBuilder::product(ArrayRef<SymExprAttr> operands) {
  if (anyUnknown(operands))
    return {};
  // Plain factors are merged into one monomial, over which sums are expanded.
  Wide coefficient = 1;
  SmallVector<SymExprAttr> factors, sums;
  for (SymExprAttr operand : operands) {
    if (operand.getKind() == SymKind::Sum)
      sums.push_back(operand);
    else if (!operand.isConstant())
      llvm::append_range(factors, getSymFactors(operand));
    else if (__builtin_mul_overflow(coefficient, Wide(operand.getValue()),
                                    &coefficient))
      return fail(kSymOverflow);
  }
  if (coefficient == 0)
    return constant(0);
  if (factors.size() > kMaxSymTerms)
    return fail(kSymTooManyTerms);
  llvm::sort(factors, isBefore);

  SymPoly result(coefficient);
  if (!factors.empty()) {
    result = SymPoly();
    result.add(getSymMonomial(factors), coefficient);
  }
  for (SymExprAttr sum : sums)
    result = SymPoly::multiply(result, SymPoly(sum));
  return finish(std::move(result));
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// With c > 0 each step makes the dividend smaller or flatter:
///
///   (c*q + r) floordiv c            = q + r floordiv c
///   (-a) floordiv c                 = -((a + c - 1) floordiv c)
///   (g*a + k) floordiv (g*c)        = (a + k floordiv g) floordiv c
///   ((a floordiv d) + k) floordiv c = (a + k*d) floordiv (c*d)
SymExprAttr SymBuilder::floordivByConstant(SymPoly dividend, Wide divisor) {
  if (divisor < 0) {
    dividend = negated(dividend);
    divisor = -divisor;
  }
  SymPoly quotient;
  Wide sign = 1;
  while (true) {
    dividend.normalize();
    quotient.add(dividend.extractMultiples(divisor), sign);
    if (dividend.isConstant()) // in [0, divisor)
      return finish(std::move(quotient));
    if (dividend.terms.front().coefficient < 0) {
      dividend = negated(dividend);
      dividend.addConstant(divisor - 1);
      sign = -sign;
      continue;
    }
    if (Wide common = greatestCommonDivisor(dividend.getContent(), divisor);
        common != 1) {
      dividend.divideExactly(common);
      divisor /= common;
    }
    SymExprAttr inner = dividend.terms.front().monomial;
    if (dividend.terms.size() != 1 || dividend.terms.front().coefficient != 1 ||
        inner.getKind() != SymKind::FloorDiv ||
        !inner.getOperands()[1].isConstant())
      break;
    Wide innerDivisor = inner.getOperands()[1].getValue();
    if (!fitsSymValue(divisor * innerDivisor))
      break;
    SymPoly merged(inner.getOperands()[0]);
    merged.addConstant(dividend.constant, innerDivisor);
    dividend = std::move(merged);
    divisor *= innerDivisor;
  }
  SymExprAttr rest = opaque(SymKind::FloorDiv,
                            {finish(std::move(dividend)), constant(divisor)});
  if (!rest)
    return {};
  quotient.add(rest, sign);
  return finish(std::move(quotient));
}

/// With c > 0, everything modulo c:
///
///   (k*(a mod m) + b) mod c = (k*a + b) mod c             where c divides k*m
///   (c*q + r) mod c         = r mod c                     coefficients in [0,
///   c) (g*a + k) mod (g*c)     = g*((a + k floordiv g) mod c) + k mod g a mod
///   (-c)              = -((-a) mod c)
SymExprAttr SymBuilder::modByConstant(SymPoly dividend, Wide divisor) {
  Wide sign = divisor < 0 ? -1 : 1;
  if (sign < 0) {
    dividend = negated(dividend);
    divisor = -divisor;
  }
  while (dividend.reduceModulo(divisor))
    ;
  if (dividend.isConstant())
    return finish(SymPoly(sign * dividend.constant));
  Wide common = greatestCommonDivisor(dividend.getContent(), divisor);
  Wide rest = floorMod(dividend.constant, common);
  dividend.divideExactly(common);
  SymExprAttr node = opaque(
      SymKind::Mod, {finish(std::move(dividend)), constant(divisor / common)});
  if (!node)
    return {};
  SymPoly result(sign * rest);
  result.add(node, sign * common);
  return finish(std::move(result));
}

/// (g*a) op (g*b) = a op b for divisions, and g*(a op b) for `mod`. With the
/// sign of g the divisor's first coefficient becomes positive. The divisor is
/// not a constant here, and may be zero: nothing else is rewritten.
SymExprAttr SymBuilder::divideBySymbolic(SymKind kind, SymExprAttr lhs,
                                         SymExprAttr rhs) {
  SymPoly dividend(lhs), divisor(rhs);
  Wide common = 0;
  for (SymPoly *poly : {&dividend, &divisor})
    common = greatestCommonDivisor(
        common, greatestCommonDivisor(poly->getContent(), poly->constant));
  if (divisor.terms.front().coefficient < 0)
    common = -common;
  dividend.divideExactly(common);
  divisor.divideExactly(common);
  SymExprAttr node =
      opaque(kind, {finish(std::move(dividend)), finish(std::move(divisor))});
  if (!node || kind != SymKind::Mod)
    return node;
  SymPoly result;
  result.add(node, common);
  return finish(std::move(result));
}

SymExprAttr SymBuilder::floordiv(SymExprAttr lhs, SymExprAttr rhs) {
  if (!lhs || !rhs)
    return {};
  if (rhs.isConstant(0))
    return fail("division by zero");
  if (rhs.isConstant())
    return floordivByConstant(SymPoly(lhs), rhs.getValue());
  return divideBySymbolic(SymKind::FloorDiv, lhs, rhs);
}

SymExprAttr SymBuilder::ceildiv(SymExprAttr lhs, SymExprAttr rhs) {
  if (!lhs || !rhs)
    return {};
  if (rhs.isConstant(0))
    return fail("division by zero");
  if (!rhs.isConstant())
    return divideBySymbolic(SymKind::CeilDiv, lhs, rhs);
  // a ceildiv c = (a + c - 1) floordiv c for c > 0
  Wide divisor = rhs.getValue();
  SymPoly dividend(lhs);
  if (divisor < 0) {
    dividend = negated(dividend);
    divisor = -divisor;
  }
  dividend.addConstant(divisor - 1);
  return floordivByConstant(std::move(dividend), divisor);
}

SymExprAttr SymBuilder::mod(SymExprAttr lhs, SymExprAttr rhs) {
  if (!lhs || !rhs)
    return {};
  if (rhs.isConstant(0))
    return fail("division by zero");
  if (rhs.isConstant())
    return modByConstant(SymPoly(lhs), rhs.getValue());
  return divideBySymbolic(SymKind::Mod, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// min, max, broadcast
//===----------------------------------------------------------------------===//

/// op(op(a, b), c) = op(a, b, c), sorted, without repetition.
static SmallVector<SymExprAttr> flatten(SymKind kind,
                                        ArrayRef<SymExprAttr> operands) {
  SmallVector<SymExprAttr> flat;
  for (SymExprAttr operand : operands) {
    if (operand.getKind() == kind)
      llvm::append_range(flat, operand.getOperands());
    else
      flat.push_back(operand);
  }
  llvm::sort(flat, isBefore);
  flat.erase(llvm::unique(flat), flat.end());
  return flat;
}

/// Whether the two differ only by a constant.
static bool haveSameTerms(SymExprAttr lhs, SymExprAttr rhs) {
  SymPoly left(lhs), right(rhs);
  return llvm::equal(left.terms, right.terms,
                     [](const SymPoly::Term &a, const SymPoly::Term &b) {
                       return a.monomial == b.monomial &&
                              a.coefficient == b.coefficient;
                     });
}

/// Operands that differ by a constant are adjacent in the order, smallest
/// first: min(a, a + k) = a for k > 0.
SymExprAttr SymBuilder::extremum(SymKind kind, ArrayRef<SymExprAttr> operands) {
  if (operands.empty())
    return fail(kind == SymKind::Min ? "min needs an operand"
                                     : "max needs an operand");
  if (anyUnknown(operands))
    return {};
  SmallVector<SymExprAttr> kept;
  for (SymExprAttr operand : flatten(kind, operands)) {
    if (kept.empty() || !haveSameTerms(kept.back(), operand))
      kept.push_back(operand);
    else if (kind == SymKind::Max)
      kept.back() = operand;
  }
  return kept.size() == 1 ? kept.front() : opaque(kind, kept);
}

SymExprAttr SymBuilder::min(ArrayRef<SymExprAttr> operands) {
  return extremum(SymKind::Min, operands);
}

SymExprAttr SymBuilder::max(ArrayRef<SymExprAttr> operands) {
  return extremum(SymKind::Max, operands);
}

/// A constant other than 1 determines the result if there is one.
SymExprAttr SymBuilder::broadcast(ArrayRef<SymExprAttr> operands) {
  if (operands.empty())
    return fail("broadcast needs an operand");
  if (anyUnknown(operands))
    return {};
  SmallVector<SymExprAttr> kept;
  SymExprAttr decisive;
  for (SymExprAttr operand : flatten(SymKind::Broadcast, operands)) {
    if (operand.isConstant(1))
      continue;
    if (!operand.isConstant())
      kept.push_back(operand);
    else if (!decisive)
      decisive = operand;
    else
      return fail("cannot broadcast " + Twine(decisive.getValue()) + " with " +
                  Twine(operand.getValue()));
  }
  if (decisive)
    return decisive;
  if (kept.empty())
    return constant(1);
  return kept.size() == 1 ? kept.front() : opaque(SymKind::Broadcast, kept);
}
