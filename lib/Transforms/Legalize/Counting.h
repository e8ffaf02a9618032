//===- Counting.h - ops whose sizes depend on data --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `relax.unique` and `relax.nonzero` have one dimension that only their
// operand's elements tell, and `relax.dynamic_strided_slice` has several. A
// kernel of its own counts them, before the one that fills the results:
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

/// Whether the size of an op is to be counted.
bool hasCountedSize(Operation *op);

/// By one thread in order, or, as far as it goes, by many.
void populateUniqueKernels(KernelRegistry &registry, bool manyThreads);

/// What the kernel that counts gives, in one tensor of i64: sizes, for the
/// unknown dimensions of each result in order, and then how often something is
/// wrong, with the message for that.
struct Counts {
  int64_t sizes = 1, errors = 0;
  std::string message = {};
};
Counts getCounts(Operation *op);

/// Builds the kernel that counts, for an op like a counted one with that tensor
/// as its only result.
void buildCount(Operation *op, KernelBuilder &kernel, bool manyThreads);

/// The same of one op, in Slice.cpp.
void countDynamicSlice(Operation *op, KernelBuilder &kernel);

/// The dimensions of the results of a `relax.strided_slice` or `relax.split` of
/// a tensor whose dimensions are known, whatever the signs of its positions
/// are. None for another op. In Slice.cpp.
SmallVector<SymDims> getSlicedDims(Operation *op, SymBuilder &math);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_COUNTING_H
