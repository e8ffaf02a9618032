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

/// Emits `index` arithmetic for one node of an expression, of the values of its
/// operands. Where values come from, and what is checked, is the caller's.
class SymArithmetic {
public:
  SymArithmetic(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}
  virtual ~SymArithmetic() = default;

  /// The value of `expr`, which is no constant or symbol.
  Value emit(SymExprAttr expr, ArrayRef<Value> operands);

protected:
  virtual Value add(Value lhs, Value rhs);
  virtual Value multiply(Value lhs, Value rhs);
  /// The divisor of a quotient or a remainder, before it divides.
  virtual Value checkDivisor(SymExprAttr expr, Value divisor) {
    return divisor;
  }

private:
  Value constant(int64_t value);

  OpBuilder &builder;
  Location loc;
};

/// The bound of a symbol, "n >= 1", that would prove that `expr` is not
/// negative, for a diagnostic; empty where it is not about one symbol.
std::string getSufficientBound(SymExprAttr expr);

/// Values of expressions, each computed once, of the values of symbols. All
/// code goes to where the builder is, so that must dominate the uses.
class SizeBuilder {
public:
  SizeBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void define(SymExprAttr expr, Value value) {
    values.try_emplace(expr, value);
  }
  bool isDefined(SymExprAttr expr) const { return values.contains(expr); }

  /// The value of `expr`, each symbol of which must be defined.
  Value get(SymExprAttr expr);
  /// What was not defined, each expression after its operands.
  ArrayRef<SymExprAttr> getComputed() const { return computed; }

private:
  Value compute(SymExprAttr expr);

  OpBuilder &builder;
  Location loc;
  DenseMap<SymExprAttr, Value> values;
  SmallVector<SymExprAttr> computed;
};

/// Has callers of `kernel` compute the expressions as well, in its symbols,
/// where that can go wrong (`relax.computed_sizes`).
void noteComputedSizes(func::FuncOp kernel, ArrayRef<SymExprAttr> computed);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SYMARITHMETIC_H
