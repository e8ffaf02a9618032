//===- ReducedViews.h - views that drop unit dimensions ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_REDUCEDVIEWS_H
#define RELAX_TARGET_COMMON_REDUCEDVIEWS_H

#include "mlir/IR/Operation.h"

namespace mlir::relax {

/// Works around a defect of MLIR 22: `memref.subview` does not say which unit
/// dimensions it drops. Where several could be meant and strides are dynamic,
/// `SubViewOp::getDroppedDims` may name dimensions that do not fit the result
/// type. Passes that ask it then fail, or read other elements. Under `root`,
/// such views are rewritten as views of full rank whose sizes and strides are
/// read explicitly.
void expandReducedViews(Operation *root);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_REDUCEDVIEWS_H
