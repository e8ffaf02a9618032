//===- SymRange.h - intervals and residues of expressions -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two abstract domains of an expression, computed bottom-up from the facts
// about its symbols; each tightens the other:
//
//   interval     lower <= x <= upper
//   congruence   x = residue (mod modulus)
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMRANGE_H
#define RELAX_SYMBOLIC_SYMRANGE_H

#include "Relax/Symbolic/Prover.h"
#include "Relax/Symbolic/SymDomains.h"
#include "Relax/Symbolic/SymPoly.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::relax {

/// Computes and caches both for the nodes of one query.
class SymRanges {
public:
  explicit SymRanges(const SymbolFacts &facts) : facts(facts) {}

  WideInterval interval(SymExprAttr expr);
  WideInterval interval(const SymPoly &poly);
  Congruence congruence(SymExprAttr expr);
  Congruence congruence(const SymPoly &poly);

  /// Assumes that no divisor in `expr` is zero. Call before any query.
  void assumeDefined(SymExprAttr expr);
  bool isAssumedNonZero(SymExprAttr expr) const {
    return nonZero.contains(expr);
  }

private:
  void assumeNonZero(SymExprAttr expr);
  WideInterval computeInterval(SymExprAttr expr);
  Congruence computeCongruence(SymExprAttr expr);
  WideInterval broadcastInterval(ArrayRef<SymExprAttr> operands);
  WideInterval termsInterval(const SymPoly &poly, bool shifted);
  WideInterval monomialInterval(SymExprAttr monomial, bool shifted);
  Wide getShift(SymExprAttr factor);
  std::optional<SymPoly> shift(const SymPoly &poly);

  const SymbolFacts &facts;
  DenseSet<SymExprAttr> defined, nonZero;
  DenseMap<SymExprAttr, WideInterval> intervals;
  DenseMap<SymExprAttr, Congruence> congruences;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMRANGE_H
