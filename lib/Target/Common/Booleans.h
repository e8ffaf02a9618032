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

/// Views a buffer of i1 as a buffer of i8; other buffers are returned
/// unchanged. A boolean takes a byte in memory, which neither vectors of i1 nor
/// MLIR's lowering of stores respects.
Value bytesOfBooleans(OpBuilder &builder, Location loc, Value buffer);

/// Rewrites loads and stores of single booleans under `root` to access bytes.
void storeBooleansAsBytes(Operation *root);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_BOOLEANS_H
