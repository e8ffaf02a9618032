//===- Times.cpp - times of kernels ---------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "FFI.h"

#include <cstring>

using namespace relax_test;

namespace {

/// timed() -> nothing, which runs a kernel as compiled code does.
const Function timed{{0, 0, 0, 0, 0},
                     std::string("timed\0", 6),
                     [](RelaxContext *context, int64_t *, int64_t *) {
                       if (*reinterpret_cast<const int32_t *>(context))
                         relax_rt_begin_kernel(context,
                                               "kernel\0timed\0model.py:3:5");
                       relax_rt_poll(context);
                       relax_rt_poll(context); // of a loop
                     }};

/// How often a name ran, and whether it took time.
int64_t countRuns(const char *name) {
  int64_t runs = 0;
  for (const RelaxTimes *times = nullptr; (times = relax_rt_times(times));)
    if (!strcmp(times->function, "timed") && !strcmp(times->name, name)) {
      RELAX_CHECK(!runs); // one sum for all threads
      RELAX_CHECK(times->nanoseconds >= 0);
      RELAX_CHECK(!strcmp(times->location, *name ? "model.py:3:5" : ""));
      runs = times->calls;
    }
  return runs;
}

} // namespace

// Profiles may overlap, and calls of all threads count while one is active.
RELAX_CASE(timesOfKernels) {
  timed.call({});
  RELAX_CHECK(!countRuns("kernel") && !countRuns(""));
  relax_rt_profile(1);
  relax_rt_profile(1);
  inThreads(4, [](int) {
    for (int i = 0; i < 100; ++i)
      timed.call({});
  });
  RELAX_CHECK(countRuns("kernel") == 400 && countRuns("") == 400);
  relax_rt_profile(-1);
  timed.call({});
  RELAX_CHECK(countRuns("kernel") == 401);
  relax_rt_profile(-1);
  timed.call({});
  RELAX_CHECK(countRuns("kernel") == 401 && countRuns("") == 401);
}
