//===- MergeSort.h - sorting within kernels ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line of elements is sorted by merging runs that double their length, from
// one half of a scratch tensor to the other:
//
//   scratch[0]  3 | 1 | 2 | 0      width 1
//   scratch[1]  1   3 | 0   2      width 2
//   scratch[0]  0   1   2   3
//
// Several scratch tensors move together: keys, and their original positions.
// Merging prefers the left of equal elements, so the sort is stable.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H
#define RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H

#include "Transforms/Legalize/Registry.h"

namespace mlir::relax {

/// `for (i = from; i < to; i += step)` with loop-carried `state`.
using LoopBody =
    function_ref<SmallVector<Value>(ScalarBuilder &, Value, ValueRange)>;
SmallVector<Value> forLoop(ScalarBuilder &s, Value from, Value to, Value step,
                           ValueRange state, LoopBody body);

Value readElement(ScalarBuilder &s, Value tensor, ValueRange position);
Value writeElement(ScalarBuilder &s, Value element, Value tensor,
                   ValueRange position);

/// Whether `lhs` < `rhs` in a graph element type; NaN sorts after every number.
Value isLess(ScalarBuilder &s, Value lhs, Value rhs, Type element);

/// Whether the element at position `right` of the scratch tensors must come
/// before the one at `left`.
using IsBefore = function_ref<Value(ScalarBuilder &, ValueRange scratch,
                                    ValueRange right, ValueRange left)>;

struct Sorted {
  SmallVector<Value> scratch;
  Value half; // the one that holds the result
};

/// Sorts `count` elements in the first halves of the scratch tensors.
Sorted mergeSort(ScalarBuilder &s, Value count, ValueRange scratch,
                 IsBefore isBefore);

/// How an op sorts the lines of a tensor along a dimension.
struct LineSort {
  /// Whether the element at `right` of the first scratch tensor must come
  /// before the one at `left`.
  Value isBefore(ScalarBuilder &s, ValueRange scratch, ValueRange right,
                 ValueRange left) const;
  /// The destinations of the results.
  SmallVector<Value> results() const;

  Value data;
  Type element; // graph type
  int64_t axis;
  bool descending;
  /// Destinations of the first elements of each sorted line and of their
  /// original positions; either may be null.
  Value values, indices;
};

/// Registers the kernels of ops that sort lines; `sortLines` produces their
/// results.
void addSortKernels(KernelRegistry &registry,
                    SmallVector<Value> (*sortLines)(KernelBuilder &,
                                                    const LineSort &));

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H
