//===- RuntimeLibraries.h - libraries of the runtime ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library functions that the runtime itself has (`kOwnLibraries`,
// lib/Runtime/Calls/Callables.cpp). They keep nothing of what they are given,
// so its memory may be planned; others may keep it for any time.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIMELIBRARIES_H
#define RELAX_RUNTIMELIBRARIES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::relax {

/// What `relax.to_device` becomes.
constexpr llvm::StringLiteral kCopyFunction = "relax.copy";
/// Products of matrices, by cuBLASLt.
constexpr llvm::StringLiteral kCublasLtFunction = "relax.cublaslt";

/// Whether the runtime has the library function itself.
inline bool isRuntimeLibrary(llvm::StringRef name) {
  return llvm::is_contained({kCopyFunction, kCublasLtFunction}, name);
}

} // namespace mlir::relax

#endif // RELAX_RUNTIMELIBRARIES_H
