//===- PaddedOperands.h - padded operands of sums in memory -----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_PADDEDOPERANDS_H
#define RELAX_TARGET_CPU_PADDEDOPERANDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::relax {

/// Writes the padded operands of long sums to scratch memory, so that the sums
/// can be scheduled. The parameters of the kernel must be buffers.
void storePaddedOperands(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_PADDEDOPERANDS_H
