//===- RuntimeLibraries.h - library functions of the runtime ----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library functions built into the runtime (`kOwnLibraries`,
// lib/Runtime/Calls/Callables.cpp). They retain none of their arguments, so the
// memory of these may be planned; other libraries may retain them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIMELIBRARIES_H
#define RELAX_RUNTIMELIBRARIES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::relax {

/// The lowering of `relax.to_device`.
constexpr llvm::StringLiteral kCopyFunction = "relax.copy";
/// Matrix products by cuBLASLt.
constexpr llvm::StringLiteral kCublasLtFunction = "relax.cublaslt";

/// Whether a library function is built into the runtime.
inline bool isRuntimeLibrary(llvm::StringRef name) {
  return llvm::is_contained({kCopyFunction, kCublasLtFunction}, name);
}

} // namespace mlir::relax

#endif // RELAX_RUNTIMELIBRARIES_H
