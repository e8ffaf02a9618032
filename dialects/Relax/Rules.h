//===- Rules.h - deduction rules shared by many ops -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RULES_H
#define RELAX_RULES_H

#include "Relax/Deduction.h"

#include <limits>

namespace mlir::relax {

/// The element types that an op accepts. `i1` is Boolean and not a number.
enum class Elements { Any, Number, Float, Integer, IntegerOrBool, Bool };

/// Requires elements of one kind; `name` is the name of the operand.
LogicalResult requireElements(Deduction &deduction, Type elementType,
                              StringRef name, Elements kind);
/// Reads a tensor operand and requires elements of one kind.
FailureOr<Deduction::Tensor> tensorOf(Deduction &deduction, Value value,
                                      StringRef name, Elements kind);
/// Requires an attribute to be a valid element type.
FailureOr<Type> elementTypeAttr(Deduction &deduction, Type dtype,
                                StringRef name = "dtype",
                                Elements kind = Elements::Any);
/// Requires a rank, if it is known.
LogicalResult requireRank(Deduction &deduction, const Deduction::Tensor &tensor,
                          StringRef name, int64_t rank);

/// The result has the type of the first operand, whose elements must be of one
/// kind.
LogicalResult deduceUnary(Deduction &deduction, ValueRange operands,
                          Elements kind, SmallVectorImpl<Type> &results);
/// The same with a Boolean result.
LogicalResult deducePredicate(Deduction &deduction, ValueRange operands,
                              Elements kind, SmallVectorImpl<Type> &results);
/// Two operands of one element type, broadcast against each other.
LogicalResult deduceBinary(Deduction &deduction, ValueRange operands,
                           Elements kind, SmallVectorImpl<Type> &results);
/// The same with a Boolean result.
LogicalResult deduceComparison(Deduction &deduction, ValueRange operands,
                               Elements kind, SmallVectorImpl<Type> &results);

/// Broadcasts any number of operands, called `names` in diagnostics; if one is
/// unranked, so is the result.
LogicalResult deduceBroadcast(Deduction &deduction,
                              ArrayRef<Deduction::Tensor> operands,
                              ArrayRef<StringRef> names, Type elementType,
                              SmallVectorImpl<Type> &results);

/// Options of reductions.
struct ReduceOptions {
  /// nullopt: reduce all axes.
  std::optional<ArrayRef<int64_t>> axis;
  bool keepdims = false;
  /// Reducing no elements is an error, as for a maximum.
  bool needsElements = false;
  StringRef axisName = "axis";
};
LogicalResult deduceReduce(Deduction &deduction, const Deduction::Tensor &x,
                           const ReduceOptions &options, Type elementType,
                           SmallVectorImpl<Type> &results);

/// The number of elements; null if unknown.
SymExprAttr countElements(SymBuilder &math, ArrayRef<SymExprAttr> dims);

/// Requires that `from` can be broadcast to `to`: fails if a dimension is
/// provably neither 1 nor the target's.
LogicalResult checkBroadcastTo(Deduction &deduction, ArrayRef<SymExprAttr> from,
                               StringRef fromName, ArrayRef<SymExprAttr> to,
                               StringRef toName);

/// The size of `dim[begin:end:stride]` as in Python: negative positions count
/// from the end, out-of-range positions are clamped. Null if it is unknown. A
/// stride of zero is an error.
FailureOr<SymExprAttr> deduceSliceSize(Deduction &deduction, SymExprAttr dim,
                                       SymExprAttr begin, SymExprAttr end,
                                       SymExprAttr stride);
/// A slice position that means the end, however large the dimension is.
inline bool isSliceEnd(SymExprAttr position) {
  return position && position.isConstant(std::numeric_limits<int64_t>::max());
}

} // namespace mlir::relax

#endif // RELAX_RULES_H
