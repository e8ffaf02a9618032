//===- SymArithmetic.h - symbolic expressions as code -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SYMARITHMETIC_H
#define RELAX_TRANSFORMS_SYMARITHMETIC_H

#include "Relax/RelaxAttrs.h"
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

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SYMARITHMETIC_H
