//===- ParallelLoops.h - independent iterations of kernels ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is in order along some dimensions only is written as a `scf.forall` over
// the others, each of whose iterations fills a box of the results:
//
//   %r = scf.forall (%i) in (%rows) shared_outs(%out = %x) {
//     %row = tensor.extract_slice %out[%i, 0] [1, %n] [1, 1]
//     ...
//     scf.forall.in_parallel { tensor.parallel_insert_slice %done into %out ...
//
// Boxes of different iterations must not meet, so that targets may run them in
// any order, or at once.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_PARALLELLOOPS_H
#define RELAX_TRANSFORMS_LEGALIZE_PARALLELLOOPS_H

#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/Running.h"

namespace mlir::relax {

class NonzeroOp;

/// A part of a tensor. Dimensions whose size is the constant 1 are dropped.
struct Box {
  SmallVector<OpFoldResult> offsets, sizes;

  /// One element.
  static Box element(ScalarBuilder &s, ValueRange position);
  /// `size` elements from `offset` on in dimension `axis`, at a position in the
  /// others.
  static Box line(ScalarBuilder &s, ValueRange others, int64_t axis,
                  OpFoldResult offset, OpFoldResult size);
};

/// Independent iterations. `boxes` gives that of each output from the position;
/// the body what is in them at last, from what there was at first.
SmallVector<Value> forAll(
    ScalarBuilder &s, ValueRange sizes, ValueRange outputs,
    function_ref<SmallVector<Box>(ScalarBuilder &, ValueRange position)> boxes,
    function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange position,
                                    ValueRange parts)>
        body);

/// A line of `count` elements as chunks, about as many as a chunk has elements,
/// so that neither going along a chunk nor along all chunks takes long.
struct Chunks {
  Chunks(KernelBuilder &kernel, SymExprAttr count);

  /// The first element of a chunk, and how many it has.
  Value first(ScalarBuilder &s, Value chunk) const;
  Value length(ScalarBuilder &s, Value chunk) const;

  Value size, chunkSize, number;
  /// No less than `number` + 1.
  SymExprAttr bound;
};

/// What comes before each chunk of lines, which have positions in `outer`
/// dimensions: a tensor over [outer, chunk], with the total of a line behind
/// its last chunk. `sum` gives that of the elements of one chunk.
Value scanChunks(
    KernelBuilder &kernel, const Chunks &chunks, ArrayRef<SymExprAttr> outer,
    Value identity, const Running &running,
    function_ref<Value(ScalarBuilder &, ValueRange outer, Value chunk)> sum);

/// Sorts a tensor of `count` numbers, with another one as scratch memory. What
/// `isBefore` compares stands in the first of its tensors.
Value sortInParallel(ScalarBuilder &s, Value count, Value numbers,
                     Value scratch,
                     function_ref<Value(ScalarBuilder &, ValueRange tensors,
                                        ValueRange right, ValueRange left)>
                         isBefore);

/// Kernels for targets with more threads than a tensor has lines, in place of
/// those that go along a line in order.
void populateParallelSortKernels(KernelRegistry &registry);
void populateParallelScanKernels(KernelRegistry &registry);
void countNonzeroByChunks(NonzeroOp op, KernelBuilder &kernel);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_PARALLELLOOPS_H
