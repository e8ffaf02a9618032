//===- SlidingWindows.h - loops of pooling and convolution ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window reads position `stride * i + dilation * k` of its axis. To stay in
// bounds with affine maps, a padded axis is copied:
//
//   x x x x  ->  0 x x x x 0         padding
//   x x x x  ->  0 0 x 0 x 0 x 0 x   the transposed convolution, stride 2
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_SLIDINGWINDOWS_H
#define RELAX_TRANSFORMS_LEGALIZE_SLIDINGWINDOWS_H

#include "Relax/Windows.h"
#include "Transforms/Legalize/KernelBuilder.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

namespace mlir::relax {

/// The positions of the letters of `canonical` in the layout of a valid op.
Layout layoutOf(Operation *op, StringRef text, StringRef canonical);

/// The windows of a valid op, without their kernel sizes.
SmallVector<Window, 3> windowsOf(Operation *op, ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> padding,
                                 ArrayRef<int64_t> dilation, int64_t spatial);

/// The number of positions that `count` windows span, from the first to the
/// last tap.
SymExprAttr readExtent(KernelBuilder &kernel, SymExprAttr count,
                       const Window &window);

/// A tensor of `dims` filled with `number`, into which `data` is inserted at
/// `offsets` with `strides`; it must fit.
Value spread(KernelBuilder &kernel, Value data, ArrayRef<SymExprAttr> dims,
             ArrayRef<SymExprAttr> offsets, ArrayRef<int64_t> strides,
             Value number);

/// Pads `data` with `number` as far as windows read; `counts` are the numbers
/// of windows along each axis.
Value padForWindows(KernelBuilder &kernel, Value data, const Layout &layout,
                    ArrayRef<Window> windows, ArrayRef<SymExprAttr> counts,
                    Value number);

/// Loops with arbitrary affine maps: one for each of `reads`, then one for
/// `init`. Loops that `init` does not follow are reductions.
Value affineNest(KernelBuilder &kernel, ArrayRef<Value> reads, Value init,
                 ArrayRef<AffineMap> maps, KernelBuilder::Body body);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_SLIDINGWINDOWS_H
