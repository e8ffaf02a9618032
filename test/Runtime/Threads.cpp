//===- Threads.cpp - the thread pool --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "FFI.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace relax_test;

namespace {

/// Runs `body(begin, end)` by `relax_rt_parallel_for`.
template <typename Body>
void parallelFor(int64_t count, int64_t grain, Body body) {
  relax_rt_parallel_for(
      [](void *closure, int64_t begin, int64_t end) {
        (*static_cast<Body *>(closure))(begin, end);
      },
      &body, count, grain);
}

/// Whether a loop visits each index once. The counts are plain integers: two
/// threads that visit one index are a race.
bool visitsEachOnce(int64_t count, int64_t grain) {
  std::vector<int> visits(static_cast<size_t>(count));
  parallelFor(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++visits[static_cast<size_t>(i)];
  });
  for (int visit : visits)
    if (visit != 1)
      return false;
  return true;
}

/// Restores the number of threads.
struct ThreadCount {
  explicit ThreadCount(int32_t count) { relax_rt_set_thread_count(count); }
  ~ThreadCount() { relax_rt_set_thread_count(0); }
};

} // namespace

// Each number of threads, sizes around multiples of the pieces, and grains that
// are greater than the loop.
RELAX_CASE(loopVisitsEachIndexOnce) {
  for (int32_t threads : {1, 2, 3, 7}) {
    ThreadCount scope(threads);
    RELAX_CHECK(relax_rt_thread_count() == threads);
    for (int64_t count : {0, 1, 2, 27, 28, 29, 1000})
      for (int64_t grain : {int64_t(0), int64_t(1), int64_t(3), INT64_MAX})
        RELAX_CHECK(visitsEachOnce(count, grain));
  }
}

// One caller gets the pool, the others run their loops alone.
RELAX_CASE(loopsOfManyCallers) {
  ThreadCount scope(4);
  inThreads(6, [](int caller) {
    for (int64_t round = 0; round < 100; ++round)
      RELAX_CHECK(visitsEachOnce(100 + round + caller, 1));
  });
}

RELAX_CASE(loopsInLoops) {
  ThreadCount scope(4);
  inThreads(3, [](int) {
    parallelFor(8, 1, [](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        RELAX_CHECK(visitsEachOnce(50 + i, 1));
    });
  });
}

// The pool is replaced between two loops, never during one.
RELAX_CASE(resizingWhileLoopsRun) {
  ThreadCount scope(2);
  inThreads(4, [](int caller) {
    for (int32_t round = 0; round < 60; ++round) {
      if (caller == 0)
        relax_rt_set_thread_count(1 + round % 5);
      int32_t threads = relax_rt_thread_count();
      RELAX_CHECK(threads >= 1 && threads <= 5);
      RELAX_CHECK(visitsEachOnce(64, 1));
    }
  });
}

// A signal handler may change the number in the middle of the caller's loop.
RELAX_CASE(resizingInALoopIsIgnored) {
  ThreadCount scope(3);
  std::thread::id caller = std::this_thread::get_id();
  parallelFor(100, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != caller)
      return;
    relax_rt_set_thread_count(2);
    RELAX_CHECK(relax_rt_thread_count() == 3);
  });
  RELAX_CHECK(relax_rt_thread_count() == 3);
}

// A piece that gets no scratch memory ends its call, whichever thread runs it;
// the pool stays usable, and other callers do not notice.
RELAX_CASE(failingPieces) {
  ThreadCount scope(4);
  Function fails{{0, 0, 0, 0, 0},
                 std::string("fails\0", 6),
                 [](RelaxContext *, int64_t *, int64_t *) {
                   parallelFor(64, 1, [](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       void *kept = _mlir_memref_to_llvm_alloc(1000);
                       if (i == 40)
                         _mlir_memref_to_llvm_alloc(SIZE_MAX / 2);
                       _mlir_memref_to_llvm_free(kept);
                     }
                   });
                 }};
  inThreads(4, [&](int caller) {
    for (int round = 0; round < 50; ++round) {
      if (caller % 2) {
        RELAX_CHECK(visitsEachOnce(100, 1));
        continue;
      }
      RELAX_CHECK(!fails.call({}).any.typeIndex);
      RELAX_CHECK(takeError() ==
                  "MemoryError: fails: no memory for the scratch buffers of a "
                  "kernel");
    }
  });
}

// A child has none of its parent's threads and starts its own, even if the
// parent was in the middle of loops and allocations.
RELAX_CASE(forkWhileLoopsRun) {
  ThreadCount scope(3);
  std::atomic<bool> isDone{false};
  std::thread busy([&] {
    while (!isDone) {
      RELAX_CHECK(visitsEachOnce(50, 1));
      relax_rt_release(relax_rt_alloc(nullptr, 5000, 64, nullptr));
      relax_rt_pool_trim();
    }
  });
  for (int round = 0; round < 5; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60); // a deadlock ends the child
#ifdef __SANITIZE_THREAD__
      // This sanitizer takes the parent's threads for alive, and ends a process
      // that uses the stack of one for a new thread.
      relax_rt_set_thread_count(1);
#endif
      bool isRight = visitsEachOnce(1000, 1);
      relax_rt_release(relax_rt_alloc(nullptr, 5000, 64, nullptr));
      relax_rt_pool_trim();
      _exit(isRight ? 0 : 1);
    }
    int status = -1;
    RELAX_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    RELAX_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  isDone = true;
  busy.join();
}
