//===- Interrupts.cpp - interruption of calls by the user -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python's signal handler only records that a signal arrived. Long-running code
// polls for it, which needs the interpreter lock, and other Python threads may
// hold that for 5 ms. Code therefore polls only ten times a second, and only in
// the thread that handles signals: the main thread of the process.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Context.h"
#include "Runtime/Core/KernelTimes.h"
#include "Runtime/Core/Kernels.h"

#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

using namespace relax_rt;

namespace {

constexpr int64_t kPeriod = 100; // milliseconds

/// Per thread: whether it is the main thread, and when it polled last.
struct Poll {
  pid_t process;
  bool isFirst;
  int64_t next;
};
thread_local Poll poll;

int64_t now() {
  timespec time;
#ifdef CLOCK_MONOTONIC_COARSE
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
#else
  clock_gettime(CLOCK_MONOTONIC, &time);
#endif
  return int64_t(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

} // namespace

bool relax_rt::isInterrupted(RelaxContext &context) {
  Poll &own = poll;
  int64_t time = now();
  if (time < own.next)
    return false;
  own.next = time + kPeriod;
  // The only thread of a forked child is its main thread.
  if (pid_t process = getpid(); own.process != process) {
    own.process = process;
    own.isFirst = process == static_cast<pid_t>(syscall(SYS_gettid));
  }
  // Does not poll during a capture, which would fail and run again.
  if (!own.isFirst || context.recorder || !TVMFFIEnvCheckSignals ||
      !TVMFFIEnvCheckSignals())
    return false;
  context.error.raised = context.error.isPending = true;
  return true;
}

extern "C" void relax_rt_poll(RelaxContext *context) {
  if (context->kernel)
    endKernel(*context);
  if (isInterrupted(*context))
    longjmp(context->escape, 1);
}
