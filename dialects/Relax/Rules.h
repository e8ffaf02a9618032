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

/// What elements an op takes. `i1` is Boolean, and no number.
enum class Elements { Any, Number, Float, Integer, IntegerOrBool, Bool };

/// Requires elements of one kind; `name` is that of the operand.
LogicalResult requireElements(Deduction &deduction, Type elementType,
                              StringRef name, Elements kind);
/// Reads a tensor operand and requires elements of one kind.
FailureOr<Deduction::Tensor> tensorOf(Deduction &deduction, Value value,
                                      StringRef name, Elements kind);
/// Requires an attribute that names an element type to name one.
FailureOr<Type> elementTypeAttr(Deduction &deduction, Type dtype,
                                StringRef name = "dtype",
                                Elements kind = Elements::Any);
/// Requires a rank, where it is known.
LogicalResult requireRank(Deduction &deduction, const Deduction::Tensor &tensor,
                          StringRef name, int64_t rank);

/// The result has the type of the first operand, whose elements are of one
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

/// Broadcasts any number of operands, each called as in `names`; an unranked
/// one makes the result unranked.
LogicalResult deduceBroadcast(Deduction &deduction,
                              ArrayRef<Deduction::Tensor> operands,
                              ArrayRef<StringRef> names, Type elementType,
                              SmallVectorImpl<Type> &results);

/// How a reduction over some axes treats them.
struct ReduceOptions {
  /// None: over all axes.
  std::optional<ArrayRef<int64_t>> axis;
  bool keepdims = false;
  /// There is no result over no elements, as for a maximum.
  bool needsElements = false;
  StringRef axisName = "axis";
};
LogicalResult deduceReduce(Deduction &deduction, const Deduction::Tensor &x,
                           const ReduceOptions &options, Type elementType,
                           SmallVectorImpl<Type> &results);

/// The number of elements; null if it is not known.
SymExprAttr countElements(SymBuilder &math, ArrayRef<SymExprAttr> dims);

/// Requires that `from` can be broadcast to `to`: fails where a dimension is
/// provably neither 1 nor that of the target.
LogicalResult checkBroadcastTo(Deduction &deduction, ArrayRef<SymExprAttr> from,
                               StringRef fromName, ArrayRef<SymExprAttr> to,
                               StringRef toName);

/// The size of `dim[begin:end:stride]` as Python slices: negative positions
/// count from the end, positions beyond an end are moved to it. Null where it
/// cannot be told (of `dim` too). A stride of zero is an error.
FailureOr<SymExprAttr> deduceSliceSize(Deduction &deduction, SymExprAttr dim,
                                       SymExprAttr begin, SymExprAttr end,
                                       SymExprAttr stride);
/// A slice position that means the end, however large the dimension is.
inline bool isSliceEnd(SymExprAttr position) {
  return position && position.isConstant(std::numeric_limits<int64_t>::max());
}

} // namespace mlir::relax

#endif // RELAX_RULES_H
