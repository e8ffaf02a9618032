//===- SymPoly.h - expressions as integer polynomials -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The working representation of symbolic algebra: a mutable Σ coefficient *
// monomial + constant, whose monomials are products of symbols and opaque
// expressions. Numbers have 128 bits, so that only results need to fit in 64
// bits.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMPOLY_H
#define RELAX_SYMBOLIC_SYMPOLY_H

#include "Relax/RelaxAttrs.h"
#include "Relax/Symbolic/SymDomains.h"

namespace mlir::relax {

class SymPoly {
public:
  struct Term {
    SymExprAttr monomial;
    Wide coefficient;
  };

  SymPoly() = default;
  explicit SymPoly(Wide constant) : constant(constant) {}
  explicit SymPoly(SymExprAttr value) { add(value); }

  /// Sorted, distinct and with non-zero coefficients after `normalize`.
  SmallVector<Term, 4> terms;
  Wide constant = 0;
  /// Why the value could not be computed; empty if it was.
  StringRef problem;

  bool isConstant() const { return terms.empty(); }
  bool isZero() const { return terms.empty() && constant == 0; }

  /// Adds `scale * value`. Call `normalize` after the last addition.
  void add(SymExprAttr value, Wide scale = 1);
  void add(const SymPoly &other, Wide scale = 1);
  void addConstant(Wide value, Wide scale = 1);
  /// Sorts the terms and merges those with equal monomials.
  void normalize();

  /// The greatest common divisor of all coefficients, without the constant.
  Wide getContent() const;
  /// Splits off `divisor * quotient`, so that coefficients and constant become
  /// smaller than `divisor`: coefficients keep their sign, the constant is in
  /// [0, divisor). Returns the quotient.
  SymPoly extractMultiples(Wide divisor);

  /// Divides all coefficients, which must be multiples of `divisor`, and rounds
  /// the constant down.
  void divideExactly(Wide divisor);
  /// Reduces all numbers to [0, divisor), and strips `a mod m` to `a` if they
  /// are equal modulo `divisor`. Returns whether anything was stripped, so that
  /// it pays to repeat.
  bool reduceModulo(Wide divisor);

  static SymPoly multiply(const SymPoly &lhs, const SymPoly &rhs);

  /// The canonical expression, or null with `problem` set.
  SymExprAttr toExpr(MLIRContext *context);

private:
  void fail(StringRef why) { problem = why; }
};

inline SymPoly negated(const SymPoly &poly) {
  SymPoly result;
  result.add(poly, -1);
  return result;
}

/// Strict weak order by `SymExprAttr::compare`.
bool isBefore(SymExprAttr lhs, SymExprAttr rhs);
/// The factors of a monomial. The result points into `monomial`.
ArrayRef<SymExprAttr> getSymFactors(const SymExprAttr &monomial);
/// The product of sorted factors, at least one.
SymExprAttr getSymMonomial(ArrayRef<SymExprAttr> factors);

extern const llvm::StringLiteral kSymOverflow;
extern const llvm::StringLiteral kSymTooDeep;
extern const llvm::StringLiteral kSymTooManyTerms;

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMPOLY_H
