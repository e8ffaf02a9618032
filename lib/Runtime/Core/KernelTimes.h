//===- KernelTimes.h - how long kernels take --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a profile is active (`relax_rt_profile`), calls add up how long each
// kernel and each library function took. Otherwise, compiled code only reads
// one word of its context before a kernel.
//
// The sums only grow, so profiles may overlap: each one reads the sums at its
// beginning and at its end. They are in a hash table to which threads add
// without a lock, and whose elements live as long as the process. A process
// that is forked at any time has a whole table.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_KERNELTIMES_H
#define RELAX_RUNTIME_CORE_KERNELTIMES_H

#include "Runtime/Core/RelaxRuntime.h"

namespace relax_rt {

bool isProfiling();

/// A monotonic clock, in nanoseconds.
int64_t readClock();

/// Adds one run to the sum of a kernel; does nothing if out of memory.
void addTime(const char *name, const char *function, const char *location,
             int64_t nanoseconds);

/// Stops the clock of the kernel that the call has begun.
void endKernel(RelaxContext &context);

/// The clock of a library function. It leaves out kernels and other library
/// functions that ran meanwhile on the thread, since they have their own times.
class LibraryClock {
public:
  explicit LibraryClock(bool isTimed);
  /// Adds the time to the sum. A failed function has none.
  void stop(const char *name, const char *function, const char *location);

private:
  /// 0 if the function is not timed.
  int64_t begin;
  int64_t countedBefore;
};

/// Times a call from the outside, under the name "", if a profile is active,
/// also one that fails or whose arguments are refused.
class TimedCall {
public:
  TimedCall(RelaxContext &context, const char *function);
  ~TimedCall();

private:
  const char *function;
  /// 0 if the call is not timed.
  int64_t begin;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_KERNELTIMES_H
