//===- Reasoner.h - the search for proofs -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of `Prover`: one object per query, which caches
// intermediate results. All order relations are upper bounds of a difference:
// `x <= y` is `upperBound(x - y) <= 0`.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_REASONER_H
#define RELAX_SYMBOLIC_REASONER_H

#include "Relax/Symbolic/SymNormalForm.h"
#include "Relax/Symbolic/SymRange.h"

namespace mlir::relax {

class Reasoner {
public:
  Reasoner(MLIRContext *context, const SymbolFacts &facts)
      : context(context), ranges(facts), normalForm(context) {}

  /// Restricts all later answers to assignments for which `expr` is defined.
  void assumeDefined(SymExprAttr expr) { ranges.assumeDefined(expr); }

  /// Whether `lhs + offset <= rhs` always holds.
  bool atMost(SymExprAttr lhs, SymExprAttr rhs, Wide offset = 0);
  bool equal(SymExprAttr lhs, SymExprAttr rhs);
  bool different(SymExprAttr lhs, SymExprAttr rhs);
  bool nonZero(SymExprAttr expr) {
    return ranges.isAssumedNonZero(expr) || different(expr, zero());
  }
  /// Whether the nonzero constant divides `expr` always or never.
  Truth divisible(SymExprAttr expr, Wide divisor);

  WideInterval interval(SymExprAttr expr);
  /// An expression that is equal under the facts, and not larger.
  SymExprAttr simplify(SymExprAttr expr);

private:
  SymExprAttr zero() { return SymExprAttr::getConstant(context, 0); }
  SymPoly difference(SymExprAttr lhs, SymExprAttr rhs);
  Wide upperBound(const SymPoly &poly, Wide target);

  size_t getSize(SymExprAttr expr);
  SymExprAttr simplifyNode(SymBuilder &builder, SymExprAttr expr);
  SymExprAttr simplifySum(SymBuilder &builder, SymExprAttr expr);
  SymExprAttr simplifyDivision(SymBuilder &builder, SymExprAttr expr);
  SymExprAttr simplifyMod(SymBuilder &builder, SymExprAttr expr);
  SymExprAttr simplifyExtremum(SymBuilder &builder, SymExprAttr expr);
  SymExprAttr simplifyBroadcast(SymExprAttr expr);

  MLIRContext *context;
  SymRanges ranges;
  SymNormalForm normalForm;
  DenseMap<SymExprAttr, SymExprAttr> simplified;
  DenseMap<SymExprAttr, size_t> sizes;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_REASONER_H
