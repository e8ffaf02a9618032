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

/// Writes padded operands, of which a reduction reads elements several times,
/// to scratch memory. The parameters of the kernel must be buffers.
void storePaddedOperands(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_PADDEDOPERANDS_H
