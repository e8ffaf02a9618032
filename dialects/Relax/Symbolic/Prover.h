//===- Prover.h - proofs about symbolic expressions -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The prover that deduction, fusion, planning and specialization use. It is
// three-valued and never guesses: `Yes` and `No` hold for every assignment that
// respects the declared facts and for which the expressions are defined.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_PROVER_H
#define RELAX_SYMBOLIC_PROVER_H

#include "Relax/Symbolic/SymBuilder.h"
#include "mlir/IR/Operation.h"

namespace mlir::relax {

enum class Truth { No, Yes, Unknown };

/// Bounds and divisibility of symbols, as declared by `relax.symbols`.
/// Undeclared symbols are non-negative.
class SymbolFacts {
public:
  SymbolFacts() = default;
  explicit SymbolFacts(DictionaryAttr symbols) : symbols(symbols) {}
  /// The facts in force at `op`, from the nearest enclosing function.
  static SymbolFacts at(Operation *op);

  struct Range {
    int64_t lower = 0;
    std::optional<int64_t> upper;
    int64_t multipleOf = 1;
  };
  Range get(StringAttr symbol) const;

private:
  DictionaryAttr symbols;
};

/// A closed interval; a missing end is infinite.
struct SymInterval {
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
};

class Prover {
public:
  explicit Prover(MLIRContext *context, SymbolFacts facts = {})
      : context(context), facts(facts) {}

  /// Null operands are unknown: nothing can be proved about them.
  Truth equal(SymExprAttr lhs, SymExprAttr rhs) const;
  Truth less(SymExprAttr lhs, SymExprAttr rhs) const;
  Truth lessEqual(SymExprAttr lhs, SymExprAttr rhs) const;
  /// Whether `divisor` (nonzero) divides `value`.
  Truth divisible(SymExprAttr value, SymExprAttr divisor) const;

  bool provedEqual(SymExprAttr lhs, SymExprAttr rhs) const {
    return equal(lhs, rhs) == Truth::Yes;
  }
  SymInterval interval(SymExprAttr value) const;
  /// An equal expression that is simpler under the facts; never null.
  SymExprAttr simplify(SymExprAttr value) const;

  const SymbolFacts &getFacts() const { return facts; }

private:
  MLIRContext *context;
  SymbolFacts facts;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_PROVER_H
