//===- Windows.h - windows of convolution and pooling -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window of `kernel` taps, `dilation` apart, slides over a padded axis:
//
//     before      extent       after
//   |. . . .|x x x x x x x x|. . . .|        span = dilation * (kernel - 1) + 1
//   [k   k   k]───stride──▶[k   k   k]
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_WINDOWS_H
#define RELAX_WINDOWS_H

#include "Relax/AttrChecks.h"

namespace mlir::relax {

/// The letters of the spatial axes: `W`, `HW` or `DHW`.
StringRef getSpatialLetters(int64_t count);

/// The position of each letter of `canonical` in a layout: [0, 3, 1, 2] for
/// `NHWC` against `NCHW`.
using Layout = SmallVector<int64_t, 5>;
FailureOr<Layout> readLayout(Deduction &deduction, StringRef attribute,
                             StringRef text, StringRef canonical);
/// Converts from the order of a layout to the canonical one, and back.
SymDims toCanonical(ArrayRef<SymExprAttr> dims, const Layout &layout);
SymDims fromCanonical(ArrayRef<SymExprAttr> dims, const Layout &layout);

struct Window {
  SymExprAttr kernel; // null if unknown
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0, after = 0; // padding
};

/// Fills the padding of the window of each axis: from one value for all axes,
/// one per axis, or all leading paddings followed by all trailing ones.
LogicalResult readPadding(Deduction &deduction, ArrayRef<int64_t> padding,
                          MutableArrayRef<Window> windows);

/// The number of window positions on axis `axis` of size `extent`; an error if
/// there are certainly none. With `ceilMode`, windows that extend beyond the
/// padding count as long as they start before it.
FailureOr<SymExprAttr> getWindowCount(Deduction &deduction, char axis,
                                      SymExprAttr extent, const Window &window,
                                      bool ceilMode = false);

/// The size of an axis on which `window` has `extent` positions, plus `extra`:
/// the transposed convolution.
FailureOr<SymExprAttr> getTransposedExtent(Deduction &deduction, char axis,
                                           SymExprAttr extent,
                                           const Window &window, int64_t extra);

} // namespace mlir::relax

#endif // RELAX_WINDOWS_H
