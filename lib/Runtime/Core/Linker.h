//===- Linker.h - object files as code of this process ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_LINKER_H
#define RELAX_RUNTIME_CORE_LINKER_H

#include "Runtime/Core/RelaxRuntime.h"

extern "C" {

/// Links an object file of this machine into the process; returns null, with a
/// message of at most `size` bytes in `error`, if it cannot be linked. The code
/// finds the functions of the runtime, then the `count` symbols that are given
/// (`names`: zero-terminated strings, one after another), then those of the
/// process. The bytes of the object are not needed afterwards.
RELAX_RT_EXPORT void *relax_rt_link(const void *object, int64_t bytes,
                                    const char *names, void *const *addresses,
                                    int64_t count, char *error, int64_t size);

/// Returns the address of a symbol of linked code, or null.
RELAX_RT_EXPORT void *relax_rt_find_linked(const void *code, const char *name);

/// Frees linked code, none of whose functions may run any more.
RELAX_RT_EXPORT void relax_rt_unlink(void *code);

} // extern "C"

#endif // RELAX_RUNTIME_CORE_LINKER_H
