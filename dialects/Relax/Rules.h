//===- Rules.h - deduction rules shared by many ops ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RULES_H
#define RELAX_RULES_H

#include "Relax/Deduction.h"

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

} // namespace mlir::relax

#endif // RELAX_RULES_H
