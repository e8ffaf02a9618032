//===- IndexRanges.h - what is known of the elements of tensors -*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A closed interval with symbolic ends in which all elements of a tensor of
// integers are. It holds for the elements as they are in memory, after whatever
// wraps around; of a tensor without elements it says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_INDEXRANGES_H
#define RELAX_ANALYSIS_INDEXRANGES_H

#include "Relax/RelaxOps.h"
#include "Relax/Symbolic/Prover.h"

namespace mlir::relax {

/// An end that is null is unknown. Of an empty interval (`lower` above
/// `upper`), the tensor has no elements.
struct IndexRange {
  SymExprAttr lower, upper;
};

/// The ranges of the tensors of one function. Ends name symbols that are
/// defined where the tensor is.
class IndexRanges {
public:
  explicit IndexRanges(FuncOp function)
      : math(function.getContext()),
        prover(function.getContext(), SymbolFacts::at(function)) {}

  IndexRange of(Value tensor);

  /// Whether all elements are proved to be in [-size, size), or in [0, size).
  bool areInside(Value tensor, SymExprAttr size, bool nonNegative = false);

private:
  IndexRange compute(Value tensor);
  IndexRange computeResult(Operation *op, unsigned result);
  IndexRange ofBinary(Operation *op, Type element);
  IndexRange ofConstant(ConstantOp op);
  IndexRange ofBranches(IfOp op, unsigned result);
  IndexRange ofOperands(ValueRange tensors);
  IndexRange ofRemainder(IndexRange lhs, IndexRange rhs, bool hasSignOfDivisor);

  IndexRange join(IndexRange lhs, IndexRange rhs);
  /// `range` of what is computed without limits, as elements of a type; nothing
  /// where it may wrap around.
  IndexRange ifFits(IndexRange range, Type element);
  /// With what the type alone says.
  IndexRange limitedByType(IndexRange range, Type element);
  bool isAtLeast(SymExprAttr value, int64_t least);
  /// Whether a value is at most the greatest, or at least the least, number of
  /// 64 bits.
  bool fitsWord(SymExprAttr value, bool isUpper);

  SymExprAttr number(int64_t value) { return math.constant(value); }
  IndexRange between(int64_t lower, int64_t upper) {
    return {number(lower), number(upper)};
  }
  /// The indices of a dimension: [0, size).
  IndexRange below(SymExprAttr size) {
    return {number(0), math.sub(size, number(1))};
  }

  SymBuilder math;
  Prover prover;
  DenseMap<Value, IndexRange> known;
  unsigned depth = 0;
};

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_INDEXRANGES_H
