//===- Stack.cpp - stack overflow checks ----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Context.h"

#include <algorithm>
#include <pthread.h>

namespace {

/// Reserved for kernels and whatever they call.
constexpr size_t kReserve = size_t(256) << 10;
/// Assumed size if the stack of a thread is unknown.
constexpr size_t kAssumed = size_t(512) << 10;

/// The lowest address that frames of this thread may use.
uintptr_t findLimit() {
  uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#ifdef __linux__
  pthread_attr_t attributes;
  if (!pthread_getattr_np(pthread_self(), &attributes)) {
    void *lowest = nullptr;
    size_t size = 0, guard = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    if (lowest)
      return reinterpret_cast<uintptr_t>(lowest) + guard +
             std::min(kReserve, size / 4);
  }
#endif
  return here > kAssumed ? here - kAssumed : 0;
}

} // namespace

extern "C" void relax_rt_check_stack(RelaxContext *context,
                                     const char *location) {
  static thread_local uintptr_t limit = findLimit();
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > limit)
    return;
  context->error.kind = "RecursionError";
  context->error.location = location;
  // Appends in place: the `longjmp` would skip the destructors of temporaries.
  context->error.message = context->error.function;
  context->error.message += ": calls nest too deep for the stack of the thread";
  longjmp(context->escape, 1);
}
