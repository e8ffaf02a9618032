//===- SymBuilder.h - canonical symbolic arithmetic -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes symbolic expressions in canonical form. Two conventions make deduction
// rules short:
//
//   - a null operand means "unknown", and gives a null result without an error;
//   - an error (overflow, division by zero, too deep) is reported through
//     `emitError`, gives null, and sticks: `failed()` stays true.
//
// Semantics follow mathematical integers; a constant or coefficient outside
// [-(2^63 - 1), 2^63 - 1] is an error. Division rounds towards minus infinity,
// and `a mod b == a - b * floordiv(a, b)`.
//
// A canonical expression agrees with its source wherever that is defined. It
// may be defined at more points, because of ring cancellation (`a floordiv b -
// a floordiv b = 0`, `0 * a = 0`, `a mod 1 = 0`) and decided broadcasts
// (`broadcast(n, 3) = 3`), but never at fewer: `n floordiv n` stays.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMBUILDER_H
#define RELAX_SYMBOLIC_SYMBUILDER_H

#include "Relax/RelaxAttrs.h"
#include "Relax/Symbolic/SymDomains.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::relax {

class SymPoly;

using EmitErrorFn = function_ref<InFlightDiagnostic()>;
using SymSubstitution = llvm::DenseMap<StringAttr, SymExprAttr>;
using SymAssignment = llvm::DenseMap<StringAttr, int64_t>;

class SymBuilder {
public:
  /// Without `emitError`, errors are silent but still recorded.
  explicit SymBuilder(MLIRContext *context, EmitErrorFn emitError = nullptr)
      : context(context), emitError(emitError) {}

  MLIRContext *getContext() const { return context; }
  bool failed() const { return hasFailed; }

  SymExprAttr constant(int64_t value);
  SymExprAttr symbol(StringRef name);

  SymExprAttr add(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr sub(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr mul(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr neg(SymExprAttr value);
  SymExprAttr floordiv(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr ceildiv(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr mod(SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr min(ArrayRef<SymExprAttr> operands);
  SymExprAttr max(ArrayRef<SymExprAttr> operands);
  SymExprAttr broadcast(ArrayRef<SymExprAttr> operands);
  /// The sum of any number of operands, in linear time.
  SymExprAttr sum(ArrayRef<SymExprAttr> operands);
  SymExprAttr product(ArrayRef<SymExprAttr> operands);
  /// constant + Σ coefficients[i] * operands[i]
  SymExprAttr linear(ArrayRef<SymExprAttr> operands,
                     ArrayRef<int64_t> coefficients, int64_t constant);

  /// The exact quotient if `rhs` divides `lhs` as polynomials and `result * rhs
  /// == lhs` holds for every assignment; otherwise null, without an error.
  SymExprAttr exactDiv(SymExprAttr lhs, SymExprAttr rhs);

  /// Replaces symbols simultaneously and canonicalizes the result.
  SymExprAttr substitute(SymExprAttr value, const SymSubstitution &with);

private:
  SymExprAttr fail(const Twine &message);
  /// Converts a polynomial to an expression; reports its `problem`, if any.
  SymExprAttr finish(SymPoly poly);
  /// Builds a node that needs no further rewriting; null if an operand is null.
  SymExprAttr opaque(SymKind kind, ArrayRef<SymExprAttr> operands);

  SymExprAttr floordivByConstant(SymPoly dividend, Wide divisor);
  SymExprAttr modByConstant(SymPoly dividend, Wide divisor);
  SymExprAttr divideBySymbolic(SymKind kind, SymExprAttr lhs, SymExprAttr rhs);
  SymExprAttr extremum(SymKind kind, ArrayRef<SymExprAttr> operands);

  MLIRContext *context;
  EmitErrorFn emitError;
  bool hasFailed = false;
};

/// Rebuilds the node `expr` with other operands, canonicalized.
SymExprAttr rebuildSymExpr(SymBuilder &builder, SymExprAttr expr,
                           ArrayRef<SymExprAttr> operands);

/// The value under `assignment`; nullopt if a symbol is missing, on division by
/// zero or an illegal broadcast, or if the value exceeds 64 bits.
std::optional<int64_t> evaluate(SymExprAttr value,
                                const SymAssignment &assignment);

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMBUILDER_H
