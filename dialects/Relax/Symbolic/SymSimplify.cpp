//===- SymSimplify.cpp - simplification under facts -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bottom-up: first the operands, then the node. A rewrite that does not shrink
// the expression is dropped, so that the result never grows and the recursion
// ends.
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/Reasoner.h"

using namespace mlir;
using namespace mlir::relax;

/// The maximum number of min and max operands that are compared pairwise.
static constexpr size_t kMaxComparedOperands = 16;

/// The approximate size of the text: leaves, operators and signs count one
/// each.
size_t Reasoner::getSize(SymExprAttr expr) {
  if (expr.isConstant() || expr.isSymbol())
    return 1;
  if (auto it = sizes.find(expr); it != sizes.end())
    return it->second;
  constexpr size_t largest = 1u << 30; // shared nodes count each time
  size_t size = expr.getKind() == SymKind::Sum ? expr.getValue() != 0 : 1;
  for (SymExprAttr operand : expr.getOperands())
    size = std::min(largest, size + getSize(operand));
  for (int64_t coefficient : expr.getCoefficients())
    size += coefficient == 1 ? 0 : coefficient == -1 ? 1 : 2;
  sizes.try_emplace(expr, size);
  return size;
}

SymExprAttr Reasoner::simplify(SymExprAttr expr) {
  if (expr.isConstant())
    return expr;
  if (auto it = simplified.find(expr); it != simplified.end())
    return it->second;

  SymBuilder silent(context);
  SymExprAttr result = expr;
  SmallVector<SymExprAttr> operands;
  for (SymExprAttr operand : expr.getOperands())
    operands.push_back(simplify(operand));
  if (ArrayRef(operands) != expr.getOperands())
    if (SymExprAttr rebuilt = rebuildSymExpr(silent, expr, operands))
      if (getSize(rebuilt) <= getSize(expr))
        result = rebuilt;
  SymExprAttr smaller = simplifyNode(silent, result);
  if (smaller && getSize(smaller) < getSize(result))
    result = simplify(smaller);
  simplified.try_emplace(expr, result);
  return result;
}

SymExprAttr Reasoner::simplifyNode(SymBuilder &builder, SymExprAttr expr) {
  WideInterval range = ranges.interval(expr);
  if (range.isSingle() && fitsSymValue(range.lower))
    return builder.constant(range.lower);
  switch (expr.getKind()) {
  case SymKind::Sum:
    return simplifySum(builder, expr);
  case SymKind::FloorDiv:
  case SymKind::CeilDiv:
    return simplifyDivision(builder, expr);
  case SymKind::Mod:
    return simplifyMod(builder, expr);
  case SymKind::Min:
  case SymKind::Max:
    return simplifyExtremum(builder, expr);
  case SymKind::Broadcast:
    return simplifyBroadcast(expr);
  default:
    return {};
  }
}

/// k*(a mod b) + k*b*(a floordiv b) = k*a
///               k*b*(a floordiv b) = k*a   where b divides a
SymExprAttr Reasoner::simplifySum(SymBuilder &builder, SymExprAttr expr) {
  for (auto [node, coefficient] :
       llvm::zip(expr.getOperands(), expr.getCoefficients())) {
    if (node.getKind() != SymKind::Mod && node.getKind() != SymKind::FloorDiv)
      continue;
    SymExprAttr dividend = node.getOperands()[0];
    SymExprAttr divisor = node.getOperands()[1];
    SymExprAttr merged;
    if (node.getKind() == SymKind::Mod) {
      SymExprAttr multiple =
          builder.mul(divisor, builder.floordiv(dividend, divisor));
      merged = builder.linear({expr, node, multiple, dividend},
                              {1, -coefficient, -coefficient, coefficient}, 0);
    } else if (divisor.isConstant() && coefficient % divisor.getValue() == 0 &&
               divisible(dividend, divisor.getValue()) == Truth::Yes) {
      merged = builder.linear(
          {expr, node, dividend},
          {1, -coefficient, coefficient / divisor.getValue()}, 0);
    }
    if (merged && getSize(merged) < getSize(expr))
      return merged;
  }
  return {};
}

SymExprAttr Reasoner::simplifyDivision(SymBuilder &builder, SymExprAttr expr) {
  SymExprAttr dividend = expr.getOperands()[0];
  SymExprAttr divisor = expr.getOperands()[1];
  // (b*q) / b = q
  if (SymExprAttr quotient = builder.exactDiv(dividend, divisor);
      quotient && nonZero(divisor))
    return quotient;
  if (expr.getKind() == SymKind::CeilDiv)
    return {};
  // a floordiv b = 0   where 0 <= a < b
  if (ranges.interval(dividend).lower >= 0 && atMost(dividend, divisor, 1))
    return zero();
  if (!divisor.isConstant())
    return {};
  // (t + k) floordiv c = (t + k - r) floordiv c   where t + k = r (mod g), g |
  // c
  Congruence common =
      ranges.congruence(dividend) + Congruence::of(divisor.getValue(), 0);
  if (common.residue == 0)
    return {};
  return builder.floordiv(
      builder.sub(dividend, builder.constant(common.residue)), divisor);
}

SymExprAttr Reasoner::simplifyMod(SymBuilder &builder, SymExprAttr expr) {
  SymExprAttr dividend = expr.getOperands()[0];
  SymExprAttr divisor = expr.getOperands()[1];
  // (b*q) mod b = 0
  if (divisor.isConstant() &&
      divisible(dividend, divisor.getValue()) == Truth::Yes)
    return zero();
  if (!divisor.isConstant() && builder.exactDiv(dividend, divisor) &&
      nonZero(divisor))
    return zero();
  // a mod b = a   where 0 <= a < b
  if (ranges.interval(dividend).lower >= 0 && atMost(dividend, divisor, 1))
    return dividend;
  return {};
}

/// min(a, b) = a   where a <= b
SymExprAttr Reasoner::simplifyExtremum(SymBuilder &builder, SymExprAttr expr) {
  bool isMin = expr.getKind() == SymKind::Min;
  SmallVector<SymExprAttr> operands(expr.getOperands());
  if (operands.size() > kMaxComparedOperands)
    return {};
  auto dominates = [&](SymExprAttr lhs, SymExprAttr rhs) {
    return isMin ? atMost(lhs, rhs) : atMost(rhs, lhs);
  };
  for (size_t i = 0; i != operands.size();) {
    SymExprAttr operand = operands[i];
    if (llvm::any_of(operands, [&](SymExprAttr other) {
          return other != operand && dominates(other, operand);
        }))
      operands.erase(operands.begin() + i);
    else
      ++i;
  }
  return isMin ? builder.min(operands) : builder.max(operands);
}

/// broadcast(a, b) = a   where a is not 1
SymExprAttr Reasoner::simplifyBroadcast(SymExprAttr expr) {
  SymExprAttr one = SymExprAttr::getConstant(context, 1);
  for (SymExprAttr operand : expr.getOperands())
    if (different(operand, one))
      return operand;
  return {};
}
