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

/// Runs kernel code of this thread. False where it was left by `leaveKernel`;
/// the scratch memory that it had is free then.
bool runKernel(void (*code)(void *), void *closure);

/// Whether the user has asked for the call of this thread to end, which its
/// error says then. Asks seldom, so it may be called often.
bool isInterrupted(RelaxContext &context);

/// The innermost call of this thread that runs compiled code; null outside.
RelaxContext *currentCall();

/// Leaves the innermost `runKernel` of this thread, which must have one.
[[noreturn]] void leaveKernel();

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_KERNELS_H
