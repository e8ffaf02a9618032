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
// Any number of scratch tensors move together: keys, and where they came from.
// Merging takes the left one of equal elements, so that it is stable.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H
#define RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H

#include "Transforms/Legalize/Registry.h"

namespace mlir::relax {

/// `for (i = from; i < to; i += step)`, with `state` from one to the next.
using LoopBody =
    function_ref<SmallVector<Value>(ScalarBuilder &, Value, ValueRange)>;
SmallVector<Value> forLoop(ScalarBuilder &s, Value from, Value to, Value step,
                           ValueRange state, LoopBody body);

Value readElement(ScalarBuilder &s, Value tensor, ValueRange position);
Value writeElement(ScalarBuilder &s, Value element, Value tensor,
                   ValueRange position);

/// Whether `lhs` is less than `rhs`, of a graph's element type; NaN is larger
/// than every number.
Value isLess(ScalarBuilder &s, Value lhs, Value rhs, Type element);

/// Whether what is at position `right` of the scratch tensors must come before
/// what is at `left`.
using IsBefore = function_ref<Value(ScalarBuilder &, ValueRange scratch,
                                    ValueRange right, ValueRange left)>;

struct Sorted {
  SmallVector<Value> scratch;
  Value half; // the one that holds the result
};

/// Sorts `count` elements of the first halves of scratch tensors.
Sorted mergeSort(ScalarBuilder &s, Value count, ValueRange scratch,
                 IsBefore isBefore);

/// What an op asks of the lines of a tensor: to be sorted along a dimension,
/// from the front.
struct LineSort {
  /// Whether what is at `right` of the first scratch tensor must come before
  /// what is at `left`.
  Value isBefore(ScalarBuilder &s, ValueRange scratch, ValueRange right,
                 ValueRange left) const;
  /// Where results go.
  SmallVector<Value> results() const;

  Value data;
  Type element; // of the graph
  int64_t axis;
  bool descending;
  /// For the first elements of each sorted line, and for where they came from;
  /// either may be null.
  Value values, indices;
};

/// Kernels of the ops that sort lines, by `sortLines`, which gives the results.
void addSortKernels(KernelRegistry &registry,
                    SmallVector<Value> (*sortLines)(KernelBuilder &,
                                                    const LineSort &));

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MERGESORT_H
