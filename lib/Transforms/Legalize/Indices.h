//===- Indices.h - indices that tensors hold --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gathering and scattering share: an index from data may be anything, and
// must not lead out of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_INDICES_H
#define RELAX_TRANSFORMS_LEGALIZE_INDICES_H

#include "Transforms/Legalize/Registry.h"

namespace mlir::relax {

/// An index as a position, negative ones counted from the end.
Value fromEnd(ScalarBuilder &s, Value index, Value size);
Value isInside(ScalarBuilder &s, Value position, Value size);
/// A position that may be read, whatever the index is.
Value clamp(ScalarBuilder &s, Value position, Value size);

/// A dimension from which something is taken must have an element.
void requireElements(KernelBuilder &kernel, SymExprAttr dim, Value indices);
/// Indices along `axis` are at most as many as elements in the other
/// dimensions.
void requireInside(KernelBuilder &kernel, ArrayRef<SymExprAttr> indices,
                   ArrayRef<SymExprAttr> data, int64_t axis);
/// The number of indices in a tuple; null where it is not known.
std::optional<int64_t> getTupleSize(KernelBuilder &kernel, Value indices);
/// The dimensions that index tensors have when broadcast, and each of them in
/// these.
SymDims broadcastIndices(KernelBuilder &kernel, OperandRange operands,
                         SmallVectorImpl<Value> &indices);

/// Scattering: by one thread in order, or by many.
void populateScatterKernels(KernelRegistry &registry, bool manyThreads);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_INDICES_H
