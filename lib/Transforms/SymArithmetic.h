//===- SymArithmetic.h - symbolic expressions as code -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SYMARITHMETIC_H
#define RELAX_TRANSFORMS_SYMARITHMETIC_H

#include "Relax/RelaxAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// Emits `index` arithmetic for one node of an expression, given the values of
/// its operands. Subclasses decide where values come from and what is checked.
class SymArithmetic {
public:
  SymArithmetic(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}
  virtual ~SymArithmetic() = default;

  /// The value of `expr`, which is neither a constant nor a symbol.
  Value emit(SymExprAttr expr, ArrayRef<Value> operands);

protected:
  virtual Value add(Value lhs, Value rhs);
  virtual Value multiply(Value lhs, Value rhs);
  /// Hook that sees the divisor of a quotient or remainder before its use.
  virtual Value checkDivisor(SymExprAttr expr, Value divisor) {
    return divisor;
  }

private:
  Value constant(int64_t value);

  OpBuilder &builder;
  Location loc;
};

/// The bound of a symbol, e.g. "n >= 1", that would prove `expr` to be
/// nonnegative, for diagnostics; empty unless it is about a single symbol.
std::string getSufficientBound(SymExprAttr expr);

/// Emits values of expressions, each once, from values of symbols. All code is
/// inserted at the builder's position, which must dominate the uses.
class SizeBuilder {
public:
  SizeBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void define(SymExprAttr expr, Value value) {
    values.try_emplace(expr, value);
  }
  bool isDefined(SymExprAttr expr) const { return values.contains(expr); }

  /// The value of `expr`; each of its symbols must be defined.
  Value get(SymExprAttr expr);
  /// The computed expressions, each after its operands.
  ArrayRef<SymExprAttr> getComputed() const { return computed; }

private:
  Value compute(SymExprAttr expr);

  OpBuilder &builder;
  Location loc;
  DenseMap<SymExprAttr, Value> values;
  SmallVector<SymExprAttr> computed;
};

/// Makes callers of `kernel` evaluate the expressions as well, in its symbols,
/// if they can overflow or be undefined (`relax.computed_sizes`).
void noteComputedSizes(func::FuncOp kernel, ArrayRef<SymExprAttr> computed);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SYMARITHMETIC_H
