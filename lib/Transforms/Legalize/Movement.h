//===- Movement.h - helpers of kernels that move elements -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_MOVEMENT_H
#define RELAX_TRANSFORMS_LEGALIZE_MOVEMENT_H

#include "Transforms/Legalize/KernelBuilder.h"

namespace mlir::relax {

/// The axis from 0 on.
inline int64_t getAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// A dimension as the sizes of slices take it.
OpFoldResult getSize(KernelBuilder &kernel, SymExprAttr dim);
SmallVector<OpFoldResult> getSizes(KernelBuilder &kernel,
                                   ArrayRef<SymExprAttr> dims);

/// Whether a tensor of such dimensions certainly has no element.
bool hasNoElement(ArrayRef<SymExprAttr> dims);

/// `whole` with `part` as the slice of `offsets`, `sizes` and `strides`. MLIR
/// refuses slices that begin at the end of a static dimension, which those
/// without elements may do; they change nothing.
Value insertSlice(KernelBuilder &kernel, Value part, Value whole,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides);
/// The slice of `whole` that has dimensions `dims`.
Value extractSlice(KernelBuilder &kernel, Value whole,
                   ArrayRef<OpFoldResult> offsets, ArrayRef<SymExprAttr> dims,
                   ArrayRef<OpFoldResult> strides);

/// `whole` with `part` at `offset` of dimension `axis`, and the whole of
/// others. `part` may lack the dimension, which is one element then.
Value insertAt(KernelBuilder &kernel, Value part, Value whole, int64_t axis,
               OpFoldResult offset);
/// The part of `whole` that has dimensions `dims`, from `offset` of dimension
/// `axis` on.
Value extractAt(KernelBuilder &kernel, Value whole, int64_t axis,
                OpFoldResult offset, ArrayRef<SymExprAttr> dims,
                int64_t stride = 1);

/// A view of the elements in one dimension.
Value flatten(KernelBuilder &kernel, Value tensor);

/// A position as Python counts it, negative from the end, moved into [0, size];
/// for steps backwards into [-1, size - 1].
Value clampPosition(ScalarBuilder &s, Value position, Value size,
                    bool backwards = false);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MOVEMENT_H
