//===- AttrChecks.cpp - attribute checks of deduction rules ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/AttrChecks.h"

using namespace mlir;
using namespace mlir::relax;

LogicalResult relax::checkOneOf(Deduction &deduction, StringRef attribute,
                                StringRef value, ArrayRef<StringRef> words) {
  if (llvm::is_contained(words, value))
    return success();
  InFlightDiagnostic diagnostic = deduction.emitError();
  diagnostic << attribute << " must be one of ";
  llvm::interleave(
      words, [&](StringRef word) { diagnostic << "'" << word << "'"; },
      [&] { diagnostic << ", "; });
  return diagnostic << ", got '" << value << "'";
}

LogicalResult relax::checkAtLeast(Deduction &deduction, StringRef attribute,
                                  int64_t value, int64_t minimum) {
  if (value >= minimum)
    return success();
  return deduction.emitError()
         << attribute << " must be at least " << minimum << ", got " << value;
}

FailureOr<SmallVector<int64_t>>
relax::getPerAxis(Deduction &deduction, StringRef attribute,
                  ArrayRef<int64_t> values, int64_t count, int64_t minimum) {
  int64_t size = values.size();
  if (size != 1 && size != count) {
    InFlightDiagnostic diagnostic = deduction.emitError();
    diagnostic << attribute << " must have 1 ";
    if (count != 1)
      diagnostic << "or " << count << " ";
    return diagnostic << (count == 1 ? "value" : "values") << ", got " << size;
  }
  for (int64_t value : values)
    if (failed(checkAtLeast(deduction, attribute, value, minimum)))
      return failure();
  if (size == count)
    return SmallVector<int64_t>(values);
  return SmallVector<int64_t>(count, values.front());
}

FailureOr<SymDims> relax::getDimsOfRank(Deduction &deduction, StringRef operand,
                                        const Deduction::Tensor &tensor,
                                        int64_t rank) {
  if (!tensor.ranked)
    return SymDims(rank);
  if (tensor.rank() != rank)
    return deduction.emitError() << operand << " must have rank " << rank
                                 << ", got rank " << tensor.rank();
  return tensor.dims;
}
