//===- IndexRanges.h - value ranges of integer tensors ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A closed interval with symbolic bounds that contains all elements of an
// integer tensor. It describes the elements in memory, after any wraparound;
// for an empty tensor it has no meaning.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_INDEXRANGES_H
#define RELAX_ANALYSIS_INDEXRANGES_H

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Symbolic/Prover.h"

namespace mlir::relax {

/// A null bound is unknown. An empty interval (`lower` above `upper`) means
/// that the tensor has no elements.
struct IndexRange {
  SymExprAttr lower, upper;
};

/// Computes the ranges of the tensors of one function. Bounds only use symbols
/// that are defined where the tensor is.
class IndexRanges {
public:
  explicit IndexRanges(FuncOp function)
      : math(function.getContext()),
        prover(function.getContext(), SymbolFacts::at(function)) {}

  IndexRange of(Value tensor);

  /// Whether all elements are known to be in [-size, size), or in [0, size).
  bool areInside(Value tensor, SymExprAttr size, bool nonNegative = false);

private:
  IndexRange compute(Value tensor);
  IndexRange computeResult(Operation *op, unsigned result);
  IndexRange ofCreated(Operation *op, Type element);
  IndexRange ofFound(Operation *op, unsigned result, Type element);
  IndexRange ofUnary(Operation *op, Type element);
  IndexRange ofBinary(Operation *op, Type element);
  IndexRange ofConstant(ConstantOp op);
  IndexRange ofBranches(IfOp op, unsigned result);
  IndexRange ofOperands(ValueRange tensors);
  IndexRange ofRemainder(IndexRange lhs, IndexRange rhs, bool hasSignOfDivisor);

  IndexRange join(IndexRange lhs, IndexRange rhs);
  /// Converts `range`, computed without overflow, to a range of elements of the
  /// given type; unknown if the value may wrap around.
  IndexRange ifFits(IndexRange range, Type element);
  /// The range after a conversion to a type, as `relax.astype` converts.
  IndexRange converted(IndexRange range, Type element) {
    return element.isInteger(1) ? between(0, 1) : ifFits(range, element);
  }
  /// Tightens `range` by the limits of the type.
  IndexRange limitedByType(IndexRange range, Type element);
  bool isAtLeast(SymExprAttr value, int64_t least);
  /// Whether a value is at most INT64_MAX (`isUpper`), or at least INT64_MIN.
  bool fitsWord(SymExprAttr value, bool isUpper);

  SymExprAttr number(int64_t value) { return math.constant(value); }
  IndexRange between(int64_t lower, int64_t upper) {
    return {number(lower), number(upper)};
  }
  /// The valid indices of a dimension: [0, size).
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
