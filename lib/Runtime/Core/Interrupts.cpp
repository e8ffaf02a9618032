//===- Interrupts.cpp - calls that the user ends --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal handler of Python only notes that there was a signal. Code that runs
// long asks for what is noted, which needs the interpreter's lock: other
// threads of Python may hold that for 5 ms. So it is asked for ten times a
// second, and in the thread alone that handles signals, the process's first
// one.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Context.h"
#include "Runtime/Core/Kernels.h"

#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

using namespace relax_rt;

namespace {

constexpr int64_t kPeriod = 100; // milliseconds

/// Where each thread stands: it is the first one of this process or not.
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
  // The child of a fork has one thread, whichever that was.
  if (pid_t process = getpid(); own.process != process) {
    own.process = process;
    own.isFirst = process == static_cast<pid_t>(syscall(SYS_gettid));
  }
  // What is captured is undone where it fails, and runs again.
  if (!own.isFirst || context.recorder || !TVMFFIEnvCheckSignals ||
      !TVMFFIEnvCheckSignals())
    return false;
  context.error.raised = context.error.isPending = true;
  return true;
}

extern "C" void relax_rt_poll(RelaxContext *context) {
  if (isInterrupted(*context))
    longjmp(context->escape, 1);
}
