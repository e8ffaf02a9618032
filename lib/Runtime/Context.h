//===- Context.h - one call of a compiled function --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CONTEXT_H
#define RELAX_RUNTIME_CONTEXT_H

#include "RelaxRuntime.h"
#include "TVMFFI.h"

#include <csetjmp>
#include <cstdio>
#include <string>

namespace relax_rt {

struct Error {
  /// The name of a Python exception.
  const char *kind = "RuntimeError";
  std::string message;
  /// "file:line:column", or null.
  const char *location = nullptr;
  const char *function = nullptr;
  /// Another library has raised it already.
  bool raised = false;
};

/// Hands an error to the caller's language.
void raise(const Error &error);

/// Lets a call free the storage where it fails.
void link(RelaxContext *context, RelaxStorage *storage);
void unlink(RelaxStorage *storage);

/// A storage of that call; null where there is no memory.
RelaxStorage *allocate(RelaxContext *context, int64_t bytes, int64_t align);

/// The `destroy` of storages from the pool.
void destroyPooled(RelaxStorage *storage);
/// The `destroy` of storages that keep an argument's object.
void destroyBorrowed(RelaxStorage *storage);

} // namespace relax_rt

struct RelaxContext {
  std::jmp_buf escape;
  RelaxStorage *storages = nullptr;
  relax_rt::Error error;
};

#endif // RELAX_RUNTIME_CONTEXT_H
