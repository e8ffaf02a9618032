//===- AttrChecks.h - attributes that deduction rules read ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each check reports the attribute, what it may be, and what it is.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ATTRCHECKS_H
#define RELAX_ATTRCHECKS_H

#include "Relax/Deduction.h"

namespace mlir::relax {

/// Requires `value` to be one of the words.
LogicalResult checkOneOf(Deduction &deduction, StringRef attribute,
                         StringRef value, ArrayRef<StringRef> words);

/// Requires `value` to be at least `minimum`.
LogicalResult checkAtLeast(Deduction &deduction, StringRef attribute,
                           int64_t value, int64_t minimum);

/// One value for each of `count` axes, from a list of that many or of one;
/// each at least `minimum`.
FailureOr<SmallVector<int64_t>> getPerAxis(Deduction &deduction,
                                           StringRef attribute,
                                           ArrayRef<int64_t> values,
                                           int64_t count, int64_t minimum);

/// The dimensions of an operand that must have this rank; all unknown where
/// its rank is.
FailureOr<SymDims> getDimsOfRank(Deduction &deduction, StringRef operand,
                                 const Deduction::Tensor &tensor, int64_t rank);

} // namespace mlir::relax

#endif // RELAX_ATTRCHECKS_H
