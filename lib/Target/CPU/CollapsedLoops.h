//===- CollapsedLoops.h - fewer loops, same elements -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_COLLAPSEDLOOPS_H
#define RELAX_TARGET_CPU_COLLAPSEDLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::relax {

/// Drops the loops of one iteration from a kernel with a reduction that has
/// such loops, and the dimensions of size 1 that they index.
void dropUnitLoops(func::FuncOp kernel);

/// Merges loops of a contraction, and of the ops on its result, that run over
/// adjacent dimensions of all tensors. The parameters of the kernel must be
/// buffers.
void mergeLoopsOfContraction(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_COLLAPSEDLOOPS_H
