//===- ParallelLoops.h - parallel loops in kernels --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A computation that is sequential only along some dimensions is written as a
// `scf.forall` over the others; each iteration fills a box of the results:
//
//   %r = scf.forall (%i) in (%rows) shared_outs(%out = %x) {
//     %row = tensor.extract_slice %out[%i, 0] [1, %n] [1, 1]
//     ...
//     scf.forall.in_parallel { tensor.parallel_insert_slice %done into %out ...
//
// Boxes of different iterations must not overlap, so that targets may run them
// in any order or in parallel.
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

  /// A single element.
  static Box element(ScalarBuilder &s, ValueRange position);
  /// `size` elements from `offset` in dimension `axis`, at a position in the
  /// other dimensions.
  static Box line(ScalarBuilder &s, ValueRange others, int64_t axis,
                  OpFoldResult offset, OpFoldResult size);
};

/// Independent iterations. `boxes` maps a position to the box of each output;
/// the body computes the new contents from the old ones.
SmallVector<Value> forAll(
    ScalarBuilder &s, ValueRange sizes, ValueRange outputs,
    function_ref<SmallVector<Box>(ScalarBuilder &, ValueRange position)> boxes,
    function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange position,
                                    ValueRange parts)>
        body);

/// Splits a line of `count` elements into chunks: about as many chunks as each
/// has elements, so that both loops, over a chunk and over all chunks, are
/// short.
struct Chunks {
  Chunks(KernelBuilder &kernel, SymExprAttr count);

  /// The first element of a chunk and its size.
  Value first(ScalarBuilder &s, Value chunk) const;
  Value length(ScalarBuilder &s, Value chunk) const;

  Value size, chunkSize, number;
  /// At least `number` + 1.
  SymExprAttr bound;
};

/// An exclusive scan over the chunks of lines, which have positions in `outer`
/// dimensions: a tensor over [outer, chunk], with the total of a line after its
/// last chunk. `sum` computes the sum of one chunk.
Value scanChunks(
    KernelBuilder &kernel, const Chunks &chunks, ArrayRef<SymExprAttr> outer,
    Value identity, const Running &running,
    function_ref<Value(ScalarBuilder &, ValueRange outer, Value chunk)> sum);

/// Sorts a tensor of `count` numbers, with a second tensor as scratch memory.
/// `isBefore` gets the first of its tensors.
Value sortInParallel(ScalarBuilder &s, Value count, Value numbers,
                     Value scratch,
                     function_ref<Value(ScalarBuilder &, ValueRange tensors,
                                        ValueRange right, ValueRange left)>
                         isBefore);

/// Kernels for targets with more threads than a tensor has lines, which replace
/// kernels that go along each line sequentially.
void populateParallelSortKernels(KernelRegistry &registry);
void populateParallelScanKernels(KernelRegistry &registry);
void countNonzeroByChunks(NonzeroOp op, KernelBuilder &kernel);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_PARALLELLOOPS_H
