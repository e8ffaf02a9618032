//===- Counting.h - ops whose sizes depend on data --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `relax.unique` and `relax.nonzero` have one dimension that only their
// operand's elements tell. A kernel of its own counts it, before the one that
// fills the results:
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
bool isCounted(Operation *op);

void populateUniqueKernels(KernelRegistry &registry);

/// Builds the kernel that counts, for an op like a counted one with the count,
/// a `tensor<1xi64>`, as its only result.
void buildCount(Operation *op, KernelBuilder &kernel);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_COUNTING_H
