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

/// Normalizes an axis to start from 0.
inline int64_t getAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// A dimension as a slice size.
OpFoldResult getSize(KernelBuilder &kernel, SymExprAttr dim);
SmallVector<OpFoldResult> getSizes(KernelBuilder &kernel,
                                   ArrayRef<SymExprAttr> dims);

/// Whether a tensor with these dimensions is proved to be empty.
bool hasNoElement(ArrayRef<SymExprAttr> dims);

/// Inserts `part` into `whole` as the slice of `offsets`, `sizes` and
/// `strides`. Empty slices are skipped: MLIR rejects those that begin at the
/// end of a static dimension.
Value insertSlice(KernelBuilder &kernel, Value part, Value whole,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides);
/// Extracts the slice with dimensions `dims`.
Value extractSlice(KernelBuilder &kernel, Value whole,
                   ArrayRef<OpFoldResult> offsets, ArrayRef<SymExprAttr> dims,
                   ArrayRef<OpFoldResult> strides);

/// Inserts `part` at `offset` of dimension `axis`. `part` may lack that
/// dimension, which is 1 then.
Value insertAt(KernelBuilder &kernel, Value part, Value whole, int64_t axis,
               OpFoldResult offset);
/// Extracts the part with dimensions `dims` that begins at `offset` of
/// dimension `axis`.
Value extractAt(KernelBuilder &kernel, Value whole, int64_t axis,
                OpFoldResult offset, ArrayRef<SymExprAttr> dims,
                int64_t stride = 1);

/// A one-dimensional view of the elements.
Value flatten(KernelBuilder &kernel, Value tensor);

/// Resolves a Python position, negative from the end, and clamps it to [0,
/// size], or to [-1, size - 1] for negative steps.
Value clampPosition(ScalarBuilder &s, Value position, Value size,
                    bool backwards = false);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_MOVEMENT_H
