//===- Rules.h - deduction rules shared by many ops ---*- C++ -*-===//
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

/// The result has the type of the first operand.
LogicalResult deduceSameType(Deduction &deduction, ValueRange operands,
                             SmallVectorImpl<Type> &results);
/// Two operands of one element type, broadcast against each other.
LogicalResult deduceBinary(Deduction &deduction, ValueRange operands,
                           SmallVectorImpl<Type> &results);
/// The same with a Boolean result.
LogicalResult deduceComparison(Deduction &deduction, ValueRange operands,
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
