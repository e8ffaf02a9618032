//===- Kernels.h - failures of kernels on the host --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_KERNELS_H
#define RELAX_RUNTIME_CORE_KERNELS_H

#include "Runtime/Core/RelaxRuntime.h"

namespace relax_rt {

/// Runs kernel code in this thread. Returns false if the code was left by
/// `leaveKernel`; its scratch memory is freed then.
bool runKernel(void (*code)(void *), void *closure);

/// Returns whether the user has interrupted the call of this thread, and sets
/// its error if so. Rate-limited, so it may be called often.
bool isInterrupted(RelaxContext &context);

/// The innermost compiled call of this thread; null outside of calls.
RelaxContext *currentCall();

/// Unwinds to the innermost `runKernel` of this thread, which must exist.
[[noreturn]] void leaveKernel();

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_KERNELS_H
