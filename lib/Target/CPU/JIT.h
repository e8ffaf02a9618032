//===- JIT.h - object code in this process ----------------------*- C++ -*-===//
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

/// Object files that have been linked into this process. Code lives as long as
/// the session. Names that neither an object nor `define` gives are looked up
/// in the process (libm, for one).
class JITSession {
public:
  static llvm::Expected<std::unique_ptr<JITSession>> create();
  ~JITSession();

  /// Gives a symbol that objects may refer to, before the first look-up of
  /// something that does.
  llvm::Error define(llvm::StringRef name, void *address);

  /// Adds an object file; the bytes are copied.
  llvm::Error addObject(llvm::ArrayRef<char> object);

  /// The address of a symbol; links what it needs.
  llvm::Expected<void *> lookup(llvm::StringRef name);

private:
  explicit JITSession(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_JIT_H
