//===- ReducedViews.cpp - views that drop unit dimensions -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/ReducedViews.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::relax;

/// The dimensions of a view that its result keeps, in order, by sizes alone:
/// unit dimensions have no other element, so any choice that fits is right.
static SmallVector<unsigned> keptDims(memref::SubViewOp view) {
  ArrayRef<int64_t> shape = view.getType().getShape();
  SmallVector<unsigned> kept;
  for (auto [dim, size] : llvm::enumerate(view.getStaticSizes()))
    if (kept.size() < shape.size() && size == shape[kept.size()])
      kept.push_back(dim);
  assert(kept.size() == shape.size() && "only unit dimensions are dropped");
  return kept;
}

/// Whether the dimensions that MLIR takes for dropped leave the result's sizes.
static bool isConsistent(memref::SubViewOp view) {
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<int64_t> left;
  for (auto [dim, size] : llvm::enumerate(view.getStaticSizes()))
    if (!dropped.test(dim))
      left.push_back(size);
  return ArrayRef(left) == view.getType().getShape();
}

void relax::expandReducedViews(Operation *root) {
  root->walk([](memref::SubViewOp view) {
    if (isConsistent(view))
      return;
    OpBuilder builder(view);
    Location loc = view.getLoc();
    auto full = memref::SubViewOp::create(
        builder, loc, view.getSource(), view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, full);
    auto [steps, start] = view.getType().getStridesAndOffset();
    // What the result type states is repeated, the rest is read.
    auto pick = [&](int64_t stated, Value read) -> OpFoldResult {
      if (ShapedType::isDynamic(stated))
        return read;
      return builder.getIndexAttr(stated);
    };
    SmallVector<OpFoldResult> sizes, strides;
    for (auto [dim, step] : llvm::zip_equal(keptDims(view), steps)) {
      sizes.push_back(view.getMixedSizes()[dim]);
      strides.push_back(pick(step, metadata.getStrides()[dim]));
    }
    auto read = memref::ReinterpretCastOp::create(
        builder, loc, view.getType(), metadata.getBaseBuffer(),
        pick(start, metadata.getOffset()), sizes, strides);
    view.replaceAllUsesWith(read.getResult());
    view.erase();
  });
}
