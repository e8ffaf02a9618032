//===- JIT.h - runs object code in this process -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_JIT_H
#define RELAX_TARGET_CPU_JIT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::relax {

/// Object files linked into this process. The code lives as long as the
/// session. Symbols that neither an object nor `define` provides are looked up
/// in the process (libm, for instance).
class JITSession {
public:
  static llvm::Expected<std::unique_ptr<JITSession>> create();
  ~JITSession();

  /// Defines a symbol that objects may reference; call this before the first
  /// lookup of code that uses it.
  llvm::Error define(llvm::StringRef name, void *address);

  /// Adds an object file; the bytes are copied.
  llvm::Error addObject(llvm::ArrayRef<char> object);

  /// Looks up the address of a symbol and links what it needs.
  llvm::Expected<void *> lookup(llvm::StringRef name);

private:
  explicit JITSession(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_JIT_H
