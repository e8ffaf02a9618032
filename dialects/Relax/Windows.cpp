//===- Windows.cpp - windows of convolution and pooling -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Windows.h"

using namespace mlir;
using namespace mlir::relax;

StringRef relax::getSpatialLetters(int64_t count) {
  return StringRef("DHW").take_back(count);
}

FailureOr<Layout> relax::readLayout(Deduction &deduction, StringRef attribute,
                                    StringRef text, StringRef canonical) {
  Layout layout;
  for (char letter : canonical) {
    size_t position = text.find(letter);
    if (position == StringRef::npos || text.size() != canonical.size())
      return deduction.emitError()
             << attribute << " must have each letter of '" << canonical
             << "' once, got '" << text << "'";
    layout.push_back(position);
  }
  return layout;
}

SymDims relax::toCanonical(ArrayRef<SymExprAttr> dims, const Layout &layout) {
  SymDims result;
  for (int64_t position : layout)
    result.push_back(dims[position]);
  return result;
}

SymDims relax::fromCanonical(ArrayRef<SymExprAttr> dims, const Layout &layout) {
  SymDims result(dims.size());
  for (auto [dim, position] : llvm::zip(dims, layout))
    result[position] = dim;
  return result;
}

LogicalResult relax::readPadding(Deduction &deduction,
                                 ArrayRef<int64_t> padding,
                                 MutableArrayRef<Window> windows) {
  size_t count = windows.size(), given = padding.size();
  if (given != 1 && given != count && given != 2 * count) {
    InFlightDiagnostic diagnostic = deduction.emitError();
    diagnostic << "padding must have 1, ";
    if (count != 1)
      diagnostic << count << " ";
    return diagnostic << "or " << 2 * count << " values, got " << given;
  }
  for (int64_t value : padding)
    if (failed(checkAtLeast(deduction, "padding", value, 0)))
      return failure();
  for (auto [index, window] : llvm::enumerate(windows)) {
    window.before = given == 1 ? padding[0] : padding[index];
    window.after = given == 2 * count ? padding[count + index] : window.before;
  }
  return success();
}

/// dilation * (kernel - 1) + 1; fails if the kernel is certainly empty.
static FailureOr<SymExprAttr> getSpan(Deduction &deduction, char axis,
                                      const Window &window) {
  SymBuilder &math = deduction.math();
  SymExprAttr one = math.constant(1);
  if (window.kernel &&
      deduction.prover().less(window.kernel, one) == Truth::Yes)
    return deduction.emitError()
           << "the kernel is empty along '" << StringRef(&axis, 1)
           << "': " << describe(window.kernel);
  return math.add(
      math.mul(math.constant(window.dilation), math.sub(window.kernel, one)),
      one);
}

FailureOr<SymExprAttr> relax::getWindowCount(Deduction &deduction, char axis,
                                             SymExprAttr extent,
                                             const Window &window,
                                             bool ceilMode) {
  FailureOr<SymExprAttr> span = getSpan(deduction, axis, window);
  if (failed(span))
    return failure();
  SymBuilder &math = deduction.math();
  SymExprAttr one = math.constant(1), stride = math.constant(window.stride);
  SymExprAttr front = math.add(extent, math.constant(window.before));
  SymExprAttr padded = math.add(front, math.constant(window.after));
  // count = counted floordiv stride, if there is any position.
  SymExprAttr counted = math.add(math.sub(padded, *span), stride);
  if (ceilMode)
    // The last window may extend beyond the end, but must start before `front`:
    //   min((padded - span) ceildiv stride + 1, front ceildiv stride)
    // as one division, so that a constant kernel leaves no min.
    counted = math.sub(
        math.min({math.add(counted, stride), math.add(front, stride)}), one);
  if (math.failed())
    return failure();
  if (!counted)
    return SymExprAttr();
  if (deduction.prover().less(counted, stride) == Truth::Yes) {
    InFlightDiagnostic diagnostic = deduction.emitError();
    diagnostic << "the window does not fit along '" << StringRef(&axis, 1)
               << "': it spans " << describe(*span) << ", the padded input is "
               << describe(padded);
    return diagnostic;
  }
  SymExprAttr count = math.floordiv(counted, stride);
  return math.failed() ? FailureOr<SymExprAttr>(failure()) : count;
}

FailureOr<SymExprAttr> relax::getTransposedExtent(Deduction &deduction,
                                                  char axis, SymExprAttr extent,
                                                  const Window &window,
                                                  int64_t extra) {
  FailureOr<SymExprAttr> span = getSpan(deduction, axis, window);
  if (failed(span))
    return failure();
  SymBuilder &math = deduction.math();
  SymExprAttr cropped =
      math.add(math.constant(window.before), math.constant(window.after));
  SymExprAttr result =
      math.sub(math.sum({math.mul(math.sub(extent, math.constant(1)),
                                  math.constant(window.stride)),
                         *span, math.constant(extra)}),
               cropped);
  if (math.failed())
    return failure();
  if (result && deduction.prover().less(result, math.constant(0)) == Truth::Yes)
    return deduction.emitError()
           << "padding removes more than there is along '"
           << StringRef(&axis, 1) << "': the result would have size "
           << describe(result);
  return result;
}
