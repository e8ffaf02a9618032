//===- ScalarBuilder.h - arithmetic on elements -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop bodies compute with kernel types: signless integers and floats.
// Operations that depend on the sign take the graph element type: signless
// integers are signed, `i1` is Boolean.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H
#define RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::relax {

/// The kernel type of an element: signless.
Type getKernelElementType(Type elementType);
/// The compute type of an element: f32 for narrower floats.
Type getComputeType(Type elementType);
/// Whether integers of a graph element type are unsigned; Booleans are.
bool isUnsignedElement(Type elementType);

class ScalarBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// A constant of a kernel type.
  Value number(Type type, double value);
  Value number(Type type, const APInt &value);
  Value number(Attribute value);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(*this, value);
  }
  /// The position in loop `loop` inside the body of a nest.
  Value position(int64_t loop);

  Value add(Value lhs, Value rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  /// Float division.
  Value div(Value lhs, Value rhs);
  /// NaN if either operand is; `isUnsigned` applies to integers only.
  Value max(Value lhs, Value rhs, bool isUnsigned = false);
  Value min(Value lhs, Value rhs, bool isUnsigned = false);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs);
  Value select(Value condition, Value then, Value otherwise);
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);
  Value negate(Value condition);

  /// Integer quotient, rounded towards zero, and its remainder. Neither traps:
  /// both are zero for division by zero, and wrap around for the smallest
  /// integer divided by -1.
  Value quotient(Value lhs, Value rhs, bool isUnsigned);
  Value remainder(Value lhs, Value rhs, bool isUnsigned);

  /// Integer shifts. Shifting by the width or more, or by a negative amount,
  /// shifts out all bits: zeros remain, or copies of the sign for right shifts
  /// of signed numbers.
  Value shiftLeft(Value lhs, Value rhs);
  Value shiftRight(Value lhs, Value rhs, bool isUnsigned);

  /// Converts like `relax.astype`; `from` and `to` are graph types.
  Value convert(Value value, Type from, Type to);
  /// Converts a float to an integer of a graph type: rounded towards zero,
  /// saturated to the range, zero for NaN.
  Value saturate(Value number, Type to);
  /// Converts between floats.
  Value convertFloat(Value value, Type to);
  Value toIndex(Value integer);
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H
