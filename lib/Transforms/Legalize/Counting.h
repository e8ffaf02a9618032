//===- Counting.h - ops with data-dependent sizes ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `relax.unique` and `relax.nonzero` have one dimension that depends on the
// elements of the operand, and `relax.dynamic_strided_slice` has several. A
// separate kernel counts them before the kernel that fills the results:
//
//   %count = relax.call_tir @nonzero(%x) : (tensor<...>) -> tensor<1xi64>
//   %shape = relax.tensor_to_shape %count
//   relax.match_cast %shape : !relax.shape<[d0]>
//   %result = relax.call_tir @nonzero_0(%x) : ... [2, d0]
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_COUNTING_H
#define RELAX_TRANSFORMS_LEGALIZE_COUNTING_H

#include "Transforms/Legalize/Registry.h"

namespace mlir::relax {

/// Whether the size of an op must be counted.
bool hasCountedSize(Operation *op);

/// Kernels that run in one thread or, where possible, in many.
void populateUniqueKernels(KernelRegistry &registry, bool manyThreads);

/// The results of a counting kernel, in one i64 tensor: sizes for the unknown
/// dimensions of each result in order, then the number of violations of each
/// condition, with the messages for these.
struct Counts {
  int64_t sizes = 1, errors = 0;
  std::string message = {};
};
Counts getCounts(Operation *op);

/// Builds the counting kernel of an op. `op` must be a copy of the counted op
/// with the tensor of counts as its only result.
void buildCount(Operation *op, KernelBuilder &kernel, bool manyThreads);

/// The same for one op, defined in Slice.cpp.
void countDynamicSlice(Operation *op, KernelBuilder &kernel);

/// The result dimensions of a `relax.strided_slice` or `relax.split` of a
/// tensor with known dimensions, whatever the signs of its positions. Empty for
/// other ops. Defined in Slice.cpp.
SmallVector<SymDims> getSlicedDims(Operation *op, SymBuilder &math);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_COUNTING_H
