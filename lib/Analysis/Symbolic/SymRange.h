//===- SymRange.h - intervals and residues of expressions ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two abstract values of an expression, computed bottom-up from the facts of its
// symbols, each of which tightens the other:
//
//   interval     lower <= x <= upper
//   congruence   x = residue (mod modulus)
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_SYMBOLIC_SYMRANGE_H
#define RELAX_ANALYSIS_SYMBOLIC_SYMRANGE_H

#include "Analysis/Symbolic/Prover.h"
#include "Analysis/Symbolic/SymPoly.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::relax {

/// A closed interval. Ends are within ±2^63 or infinite, so that products of two
/// ends are exact; ends further out are moved to the safe side.
struct WideInterval {
  static constexpr Wide infinity = ~(Wide(1) << 127);
  static constexpr Wide limit = Wide(1) << 63;

  Wide lower = -infinity;
  Wide upper = infinity;

  static WideInterval of(Wide lower, Wide upper);
  static WideInterval exactly(Wide value) { return of(value, value); }

  bool isSingle() const { return lower == upper; }
  bool contains(Wide value) const { return lower <= value && value <= upper; }
  /// Undefined or contradictory: no value at all.
  bool isEmpty() const { return lower > upper; }

  WideInterval operator-() const { return of(-upper, -lower); }
  WideInterval operator+(const WideInterval &other) const;
  WideInterval operator*(const WideInterval &other) const;
  WideInterval meet(const WideInterval &other) const;
  WideInterval join(const WideInterval &other) const;
  WideInterval floordiv(const WideInterval &divisor) const;
  WideInterval mod(const WideInterval &divisor) const;
};

/// Modulus 0: the value is exactly the residue. Modulus 1: nothing is known.
struct Congruence {
  Wide modulus = 1;
  Wide residue = 0;

  static Congruence of(Wide modulus, Wide residue);
  Congruence operator+(const Congruence &other) const;
  Congruence operator*(const Congruence &other) const;
  Congruence join(const Congruence &other) const;
  /// Of the quotient where it is determined, of nothing else.
  Congruence floordiv(const Congruence &divisor) const;
  Congruence mod(const Congruence &divisor) const;
  bool excludes(Wide value) const;
};

/// Computes and remembers both for the nodes of one query.
class SymRanges {
public:
  explicit SymRanges(const SymbolFacts &facts) : facts(facts) {}

  WideInterval interval(SymExprAttr expr);
  WideInterval interval(const SymPoly &poly);
  Congruence congruence(SymExprAttr expr);
  Congruence congruence(const SymPoly &poly);

  /// From here on no divisor in `expr` is zero. Before any other question.
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

#endif // RELAX_ANALYSIS_SYMBOLIC_SYMRANGE_H
