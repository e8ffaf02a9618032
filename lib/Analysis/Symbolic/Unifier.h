//===- Unifier.h - match declared dimensions against actual ones ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves a list of equations `pattern == actual` for the symbols of the
// patterns: first the plain symbols in any order, then every equation that is
// linear in one symbol still unbound (`2*n == 14`, `n + 1 == m`). What is left
// is compared by the prover:
//
//   proved equal       nothing to do
//   proved different   a contradiction, reported with both sides
//   undecided          returned, to be checked at run time
//
// The symbols of patterns and actuals live in different scopes, even where
// their names agree.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_SYMBOLIC_UNIFIER_H
#define RELAX_ANALYSIS_SYMBOLIC_UNIFIER_H

#include "Analysis/Symbolic/Prover.h"

namespace mlir::relax {

class Unifier {
public:
  /// `prover` knows the facts of the actual side, `patternFacts` (optional)
  /// those that the pattern's side declares.
  explicit Unifier(const Prover &prover, MLIRContext *context,
                   const SymbolFacts *patternFacts = nullptr)
      : prover(prover), context(context), patternFacts(patternFacts) {}

  struct Equation {
    SymExprAttr pattern;
    SymExprAttr actual; // null: unknown, always left to run time
    std::string where;  // "dimension 1 of argument 0", for diagnostics
  };

  void add(SymExprAttr pattern, SymExprAttr actual, const Twine &where);

  /// Solves all equations added so far. On a contradiction, reports
  /// `<where>: expected <pattern> (= <substituted>), got <actual>`.
  LogicalResult solve(EmitErrorFn emitError);

  /// What is known of the pattern's symbols; unbound ones are absent.
  const SymSubstitution &getBindings() const { return bindings; }
  /// Equations that hold for some assignments only.
  ArrayRef<Equation> getUndecided() const { return undecided; }

  /// `pattern` in terms of the actual side; null where a symbol is unbound.
  SymExprAttr instantiate(SymExprAttr pattern) const;

private:
  const Prover &prover;
  MLIRContext *context;
  const SymbolFacts *patternFacts;
  SmallVector<Equation> equations;
  SmallVector<Equation> undecided;
  SymSubstitution bindings;
};

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_SYMBOLIC_UNIFIER_H
