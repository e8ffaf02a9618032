//===- SymEvaluate.cpp - values, substitution, exact quotients ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithms that traverse whole expressions. Nodes are shared, so every
// traversal is memoized: the tree of a small graph can be exponentially large.
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymBuilder.h"
#include "Relax/Symbolic/SymPoly.h"

#include <map>

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
using Number = std::optional<Wide>;

class Evaluator {
public:
  explicit Evaluator(const SymAssignment &assignment)
      : assignment(assignment) {}

  Number evaluate(SymExprAttr expr) {
    if (expr.isConstant())
      return expr.getValue();
    if (auto it = memo.find(expr); it != memo.end())
      return it->second;
    Number value = compute(expr);
    memo.try_emplace(expr, value);
    return value;
  }

private:
  Number compute(SymExprAttr expr) {
    if (expr.isSymbol()) {
      auto it = assignment.find(expr.getName());
      return it == assignment.end() ? Number() : Number(it->second);
    }
    SmallVector<Wide> operands;
    for (SymExprAttr operand : expr.getOperands()) {
      Number value = evaluate(operand);
      if (!value)
        return {};
      operands.push_back(*value);
    }
    switch (expr.getKind()) {
    case SymKind::Sum:
      return sum(expr, operands);
    case SymKind::Product:
      return product(operands);
    case SymKind::FloorDiv:
      return divide(operands, [](Wide a, Wide b) { return floorDiv(a, b); });
    case SymKind::CeilDiv:
      return divide(operands, [](Wide a, Wide b) { return -floorDiv(-a, b); });
    case SymKind::Mod:
      return divide(operands, [](Wide a, Wide b) { return floorMod(a, b); });
    case SymKind::Min:
      return *llvm::min_element(operands);
    case SymKind::Max:
      return *llvm::max_element(operands);
    case SymKind::Broadcast:
      return broadcast(operands);
    case SymKind::Constant:
    case SymKind::Symbol:
      break;
    }
    llvm_unreachable("leaves have no operands");
  }

  static Number sum(SymExprAttr expr, ArrayRef<Wide> operands) {
    Wide total = expr.getValue();
    for (auto [operand, coefficient] :
         llvm::zip(operands, expr.getCoefficients())) {
      Wide scaled;
      if (__builtin_mul_overflow(operand, Wide(coefficient), &scaled) ||
          __builtin_add_overflow(total, scaled, &total))
        return {};
    }
    return total;
  }

  static Number product(ArrayRef<Wide> operands) {
    if (llvm::is_contained(operands, Wide(0)))
      return Wide(0);
    Wide total = 1;
    for (Wide operand : operands)
      if (__builtin_mul_overflow(total, operand, &total))
        return {};
    return total;
  }

  template <typename Fn>
  static Number divide(ArrayRef<Wide> operands, Fn fn) {
    // Well within 128 bits, so that negation cannot overflow.
    constexpr Wide limit = Wide(1) << 120;
    Wide dividend = operands[0], divisor = operands[1];
    if (divisor == 0 || dividend > limit || dividend < -limit ||
        divisor > limit || divisor < -limit)
      return {};
    return fn(dividend, divisor);
  }

  static Number broadcast(ArrayRef<Wide> operands) {
    Wide size = 1;
    for (Wide operand : operands) {
      if (size != 1 && operand != 1 && operand != size)
        return {};
      if (size == 1)
        size = operand;
    }
    return size;
  }

  const SymAssignment &assignment;
  DenseMap<SymExprAttr, Number> memo;
};
} // namespace

std::optional<int64_t> relax::evaluate(SymExprAttr value,
                                       const SymAssignment &assignment) {
  if (!value)
    return std::nullopt;
  Number result = Evaluator(assignment).evaluate(value);
  if (!result || !fitsSymValue(*result))
    return std::nullopt;
  return static_cast<int64_t>(*result);
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

namespace {
class Substituter {
public:
  Substituter(SymBuilder &builder, const SymSubstitution &with)
      : builder(builder), with(with) {}

  SymExprAttr substitute(SymExprAttr expr) {
    if (expr.isConstant())
      return expr;
    if (auto it = memo.find(expr); it != memo.end())
      return it->second;
    SymExprAttr result = compute(expr);
    memo.try_emplace(expr, result);
    return result;
  }

private:
  SymExprAttr compute(SymExprAttr expr) {
    if (expr.isSymbol()) {
      auto it = with.find(expr.getName());
      return it == with.end() ? expr : it->second;
    }
    SmallVector<SymExprAttr> operands;
    for (SymExprAttr operand : expr.getOperands()) {
      operands.push_back(substitute(operand));
      if (!operands.back())
        return {};
    }
    if (ArrayRef(operands) == expr.getOperands())
      return expr;
    return rebuildSymExpr(builder, expr, operands);
  }

  SymBuilder &builder;
  const SymSubstitution &with;
  DenseMap<SymExprAttr, SymExprAttr> memo;
};
} // namespace

SymExprAttr relax::rebuildSymExpr(SymBuilder &builder, SymExprAttr expr,
                                  ArrayRef<SymExprAttr> operands) {
  switch (expr.getKind()) {
  case SymKind::Constant:
  case SymKind::Symbol:
    return expr;
  case SymKind::Sum:
    return builder.linear(operands, expr.getCoefficients(), expr.getValue());
  case SymKind::Product:
    return builder.product(operands);
  case SymKind::FloorDiv:
    return builder.floordiv(operands[0], operands[1]);
  case SymKind::CeilDiv:
    return builder.ceildiv(operands[0], operands[1]);
  case SymKind::Mod:
    return builder.mod(operands[0], operands[1]);
  case SymKind::Min:
    return builder.min(operands);
  case SymKind::Max:
    return builder.max(operands);
  case SymKind::Broadcast:
    return builder.broadcast(operands);
  }
  llvm_unreachable("unknown kind of expression");
}

SymExprAttr SymBuilder::linear(ArrayRef<SymExprAttr> operands,
                               ArrayRef<int64_t> coefficients,
                               int64_t constant) {
  if (llvm::is_contained(operands, SymExprAttr()))
    return {};
  SymPoly poly;
  poly.addConstant(constant);
  for (auto [operand, coefficient] : llvm::zip(operands, coefficients))
    poly.add(operand, coefficient);
  return finish(std::move(poly));
}

SymExprAttr SymBuilder::substitute(SymExprAttr value,
                                   const SymSubstitution &with) {
  return value ? Substituter(*this, with).substitute(value) : value;
}

//===----------------------------------------------------------------------===//
// Exact quotients
//===----------------------------------------------------------------------===//

/// `lhs / rhs`, or null if `rhs` has a factor that `lhs` lacks.
static std::optional<SymExprAttr> divideMonomials(SymExprAttr lhs,
                                                  SymExprAttr rhs) {
  SmallVector<SymExprAttr> rest;
  ArrayRef<SymExprAttr> divisor = getSymFactors(rhs);
  for (SymExprAttr factor : getSymFactors(lhs)) {
    if (!divisor.empty() && factor == divisor.front())
      divisor = divisor.drop_front();
    else
      rest.push_back(factor);
  }
  if (!divisor.empty())
    return std::nullopt;
  return rest.empty() ? SymExprAttr() : getSymMonomial(rest);
}

/// Long division by the leading term. It finds the quotient if there is one,
/// since the order of monomials is kept by multiplication:
///
///      lhs = 2*n*m + 2*m + n + 1   rhs = n + 1   quotient
///    - rhs * 2*m =   n + 1                       2*m
///    - rhs * 1   =   0                           2*m + 1
static std::optional<SymPoly> divideExactly(const SymPoly &lhs,
                                            const SymPoly &rhs) {
  constexpr size_t maxWork = 1u << 18;
  std::map<SymExprAttr, Wide, decltype(&isBefore)> rest(isBefore);
  for (const SymPoly::Term &term : lhs.terms)
    rest[term.monomial] = term.coefficient;
  Wide constant = lhs.constant;

  SymPoly quotient;
  const SymPoly::Term &lead = rhs.terms.front();
  for (size_t work = 0; !rest.empty(); work += rhs.terms.size()) {
    auto [monomial, coefficient] = *rest.begin();
    std::optional<SymExprAttr> factor =
        divideMonomials(monomial, lead.monomial);
    if (work > maxWork || !factor || coefficient % lead.coefficient != 0)
      return std::nullopt;
    SymPoly step(*factor ? Wide(0) : coefficient / lead.coefficient);
    if (*factor)
      step.add(*factor, coefficient / lead.coefficient);
    quotient.add(step);
    SymPoly product = SymPoly::multiply(step, rhs);
    if (!product.problem.empty() || !fitsSymValue(product.constant))
      return std::nullopt;
    constant -= product.constant;
    for (const SymPoly::Term &term : product.terms) {
      Wide &entry = rest[term.monomial];
      if (__builtin_sub_overflow(entry, term.coefficient, &entry))
        return std::nullopt;
      if (entry == 0)
        rest.erase(term.monomial);
    }
  }
  if (constant != 0)
    return std::nullopt;
  return quotient;
}

SymExprAttr SymBuilder::exactDiv(SymExprAttr lhs, SymExprAttr rhs) {
  if (!lhs || !rhs || rhs.isConstant(0))
    return {};
  SymPoly dividend(lhs);
  if (!rhs.isConstant()) {
    std::optional<SymPoly> quotient = divideExactly(dividend, SymPoly(rhs));
    return quotient ? quotient->toExpr(context) : SymExprAttr();
  }
  Wide divisor = rhs.getValue();
  if (dividend.getContent() % divisor != 0 || dividend.constant % divisor != 0)
    return {};
  dividend.divideExactly(divisor);
  return dividend.toExpr(context);
}
