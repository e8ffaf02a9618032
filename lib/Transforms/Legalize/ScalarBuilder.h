//===- ScalarBuilder.h - arithmetic on elements -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies of loops compute with numbers of kernel types: signless integers
// and floats. What depends on the sign takes the element type that the graph
// has: signless integers are signed, `i1` is Boolean.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H
#define RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::relax {

/// The type of an element in kernels: without a sign.
Type getKernelElementType(Type elementType);
/// The type in which elements are computed with: f32 for narrower floats.
Type getComputeType(Type elementType);
/// Whether integers of a graph's element type are unsigned; Booleans are.
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
  /// The position in loop `loop`, within the body of a nest.
  Value position(int64_t loop);

  Value add(Value lhs, Value rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  /// Of floats.
  Value div(Value lhs, Value rhs);
  /// NaN if either is; `isUnsigned` matters for integers alone.
  Value max(Value lhs, Value rhs, bool isUnsigned = false);
  Value min(Value lhs, Value rhs, bool isUnsigned = false);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs);
  Value select(Value condition, Value then, Value otherwise);
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);
  Value negate(Value condition);

  /// Integer quotient rounded towards zero and its remainder. Neither traps:
  /// both are zero for a divisor of zero, and wrap around for the least integer
  /// by -1.
  Value quotient(Value lhs, Value rhs, bool isUnsigned);
  Value remainder(Value lhs, Value rhs, bool isUnsigned);

  /// Shifts of integers. By their width or more, or by a negative amount, all
  /// bits are shifted out: zeros are left, or copies of the sign where a signed
  /// number goes to the right.
  Value shiftLeft(Value lhs, Value rhs);
  Value shiftRight(Value lhs, Value rhs, bool isUnsigned);

  /// As `relax.astype` converts; `from` and `to` are types of the graph.
  Value convert(Value value, Type from, Type to);
  /// A float, rounded towards zero, as an integer of a type of the graph:
  /// limited to its range, and zero for NaN.
  Value saturate(Value number, Type to);
  /// Between floats.
  Value convertFloat(Value value, Type to);
  Value toIndex(Value integer);
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_SCALARBUILDER_H
