//===- Booleans.h - booleans in memory --------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_BOOLEANS_H
#define RELAX_TARGET_COMMON_BOOLEANS_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// A buffer of i8 in place of one of i1: a boolean has a byte of memory, which
/// a vector of i1 would not have, and MLIR's lowering of stores does not give
/// it. Other buffers are returned as they are.
Value bytesOfBooleans(OpBuilder &builder, Location loc, Value buffer);

/// Makes loads and stores of single booleans under `root` ones of bytes.
void storeBooleansAsBytes(Operation *root);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_BOOLEANS_H
