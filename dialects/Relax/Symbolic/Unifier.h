//===- Unifier.h - match declared with actual dimensions --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves a list of equations `pattern == actual` for the symbols of the
// patterns: first plain symbols in any order, then every equation that is
// linear in a single unbound symbol (`2*n == 14`, `n + 1 == m`), as long as
// that binds another one. The prover compares the remaining ones:
//
//   proved equal       nothing to do
//   proved different   a contradiction, reported with both sides
//   undecided          returned, to be checked at run time
//
// A value outside of the declared range of a symbol is also a contradiction.
//
// The symbols of patterns and actuals live in different scopes, even where
// their names agree: no expression ever mixes the two.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_UNIFIER_H
#define RELAX_SYMBOLIC_UNIFIER_H

#include "Relax/Symbolic/Prover.h"

namespace mlir::relax {

class Unifier {
public:
  /// `prover` knows the facts of the actual side, `patternFacts` (optional) the
  /// declared facts of the pattern's side.
  explicit Unifier(const Prover &prover, MLIRContext *context,
                   const SymbolFacts *patternFacts = nullptr)
      : prover(prover), context(context), patternFacts(patternFacts) {}

  struct Equation {
    SymExprAttr pattern;
    SymExprAttr actual; // null: unknown, always left to run time
    std::string where;  // "dimension 1 of argument 0", for diagnostics
  };

  void add(SymExprAttr pattern, SymExprAttr actual, const Twine &where);

  /// Solves all equations added so far. On a contradiction, reports `<where>:
  /// expected <pattern> (= <substituted>), got <actual>`.
  LogicalResult solve(EmitErrorFn emitError);

  /// The values of the pattern's symbols; unbound ones are absent.
  const SymSubstitution &getBindings() const { return bindings; }
  /// Equations that hold only for some assignments.
  ArrayRef<Equation> getUndecided() const { return undecided; }

  /// `pattern` in terms of the actual side; null if a symbol is unbound.
  SymExprAttr instantiate(SymExprAttr pattern) const;

private:
  enum class Outcome { Solved, Open, Contradiction };

  Outcome bindPlainSymbol(const Equation &equation);
  Outcome solveLinear(const Equation &equation);
  Outcome compare(const Equation &equation);
  Outcome bind(StringAttr symbol, SymExprAttr value, const Equation &equation);
  Outcome contradict(const Equation &equation);
  Outcome report(const Equation &equation, const Twine &message);

  const Prover &prover;
  MLIRContext *context;
  const SymbolFacts *patternFacts;
  SmallVector<Equation> equations;
  SmallVector<Equation> undecided;
  SymSubstitution bindings;
  EmitErrorFn emitError;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_UNIFIER_H
