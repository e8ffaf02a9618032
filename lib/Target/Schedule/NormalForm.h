//===- NormalForm.h - normal form of scheduled kernels ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_NORMALFORM_H
#define RELAX_TARGET_SCHEDULE_NORMALFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::relax {

/// Generalizes all structured ops and makes each destination the target of one:
/// reshapes before a destination become views of it, and destinations that are
/// assembled from parts are split.
LogicalResult bringToNormalForm(func::FuncOp kernel);

/// Whether the body of an op reads elements at computed positions.
bool extractsElements(linalg::GenericOp op);

/// Groups the first `count` loops: consecutive loops are in one group if they
/// run over adjacent dimensions of all operands of all ops, in order. All maps
/// must be projected permutations.
SmallVector<ReassociationIndices>
groupAdjacentLoops(ArrayRef<linalg::GenericOp> ops, int64_t count);

/// Merges the loops of an element-wise kernel that run over contiguous memory
/// in all operands. Vectors can then cross the ends of rows, however short
/// these are.
void collapseLoops(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_NORMALFORM_H
