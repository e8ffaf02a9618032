//===- Indices.h - indices stored in tensors --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by gathering and scattering: an index read from data may have any
// value, and must not lead outside of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_INDICES_H
#define RELAX_TRANSFORMS_LEGALIZE_INDICES_H

#include "Transforms/Legalize/Registry.h"

namespace mlir::relax {

/// Resolves an index that counts from the end if it is negative.
Value fromEnd(ScalarBuilder &s, Value index, Value size);
Value isInside(ScalarBuilder &s, Value position, Value size);
/// Clamps a position into the tensor.
Value clamp(ScalarBuilder &s, Value position, Value size);

/// Checks that a dimension is nonempty if there are indices into it.
void requireElements(KernelBuilder &kernel, SymExprAttr dim, Value indices);
/// Checks that, in all dimensions but `axis`, there are at most as many indices
/// as elements.
void requireInside(KernelBuilder &kernel, ArrayRef<SymExprAttr> indices,
                   ArrayRef<SymExprAttr> data, int64_t axis);
/// The number of indices in a tuple; none if unknown.
std::optional<int64_t> getTupleSize(KernelBuilder &kernel, Value indices);
/// The broadcast shape of index tensors; also returns their own dimensions.
SymDims broadcastIndices(KernelBuilder &kernel, OperandRange operands,
                         SmallVectorImpl<Value> &indices);

/// Scatter kernels that run in one thread or in many.
void populateScatterKernels(KernelRegistry &registry, bool manyThreads);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_INDICES_H
