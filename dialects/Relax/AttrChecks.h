//===- AttrChecks.h - attribute checks of deduction rules -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each check reports the attribute, the allowed values, and the actual value.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ATTRCHECKS_H
#define RELAX_ATTRCHECKS_H

#include "Relax/Deduction.h"

namespace mlir::relax {

/// Requires `value` to be one of the given words.
LogicalResult checkOneOf(Deduction &deduction, StringRef attribute,
                         StringRef value, ArrayRef<StringRef> words);

/// Requires `value` to be at least `minimum`.
LogicalResult checkAtLeast(Deduction &deduction, StringRef attribute,
                           int64_t value, int64_t minimum);

/// Expands a list of `count` values or of a single one to one value per axis;
/// each must be at least `minimum`.
FailureOr<SmallVector<int64_t>> getPerAxis(Deduction &deduction,
                                           StringRef attribute,
                                           ArrayRef<int64_t> values,
                                           int64_t count, int64_t minimum);

/// Requires an operand to have this rank and returns its dimensions; all are
/// unknown if the operand is unranked.
FailureOr<SymDims> getDimsOfRank(Deduction &deduction, StringRef operand,
                                 const Deduction::Tensor &tensor, int64_t rank);

} // namespace mlir::relax

#endif // RELAX_ATTRCHECKS_H
