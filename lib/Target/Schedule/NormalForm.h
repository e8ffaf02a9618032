//===- NormalForm.h - kernels as the graph of stages reads them -*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_NORMALFORM_H
#define RELAX_TARGET_SCHEDULE_NORMALFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::relax {

/// Makes all structured ops generic, and puts one behind each destination:
/// reshapes before a destination become views of it, and destinations that are
/// put together of parts become one for each part.
LogicalResult bringToNormalForm(func::FuncOp kernel);

/// Loops of an element-wise kernel that run over contiguous memory in all
/// operands become one: vectors then cross the ends of rows, however short
/// those are.
void collapseLoops(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_NORMALFORM_H
