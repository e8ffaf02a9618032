//===- Threads.cpp - the thread pool --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one pool per process. A job is an interval from which the workers
// and the caller take pieces. After a job, workers spin briefly, since the next
// kernel of a model follows within microseconds, then sleep. A caller that
// finds the pool busy does its work alone, since the other call is using the
// cores anyway.
//
// A kernel that runs out of scratch memory leaves its piece by `longjmp`
// (Scratch.cpp), and so does the caller if the user has interrupted it
// (Interrupts.cpp). No piece is started after that; the caller ends the call
// when all threads have finished theirs.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Kernels.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <thread>

using namespace relax_rt;

namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int32_t defaultThreadCount() {
  if (const char *text = std::getenv("RELAX_NUM_THREADS")) {
    char *end = nullptr;
    long count = std::strtol(text, &end, 10);
    if (*text && !*end && count >= 1 && count <= 1024)
      return static_cast<int32_t>(count);
    if (*text)
      fprintf(stderr,
              "relax-mlir: RELAX_NUM_THREADS is '%s'; expected a number from 1 "
              "to 1024, and one thread per processor is used\n",
              text);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Whether this thread is the caller whose job the pool is running.
thread_local bool inside = false;

class ThreadPool {
public:
  /// Starts as many threads as the system allows, up to `count` including the
  /// caller.
  explicit ThreadPool(int32_t count)
      : workers(new (std::nothrow) pthread_t[count]) {
    auto main = [](void *pool) -> void * {
      static_cast<ThreadPool *>(pool)->work();
      return nullptr;
    };
    while (workers && workerCount + 1 < count &&
           !pthread_create(&workers[workerCount], nullptr, main, this))
      ++workerCount;
    if (size() < count)
      fprintf(stderr,
              "relax-mlir: only %d of %d threads could be started; kernels run "
              "on those\n",
              size(), count);
  }

  ~ThreadPool() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stop = true;
      generation.fetch_add(1);
    }
    wake.notify_all();
    for (int32_t i = 0; i < workerCount; ++i)
      pthread_join(workers[i], nullptr);
    delete[] workers;
  }

  int32_t size() const { return workerCount + 1; }

  /// Returns false if a piece was left.
  bool run(RelaxParallelBody body, void *closure, int64_t count,
           int64_t grain) {
    this->body = body;
    this->closure = closure;
    this->count = count;
    // A few pieces per thread, so that one slow thread does not delay all.
    // Pieces are whole steps, as a step is always run to its end.
    int64_t steps = (count - 1) / grain + 1, pieces = 4 * int64_t(size());
    if (__builtin_mul_overflow(grain, (steps - 1) / pieces + 1, &piece))
      piece = count;
    next.store(0, std::memory_order_relaxed);
    isLeft.store(false, std::memory_order_relaxed);
    pending.store(workerCount, std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(mutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    if (sleeping.load())
      wake.notify_all();
    caller = currentCall();
    take();
    while (pending.load(std::memory_order_acquire))
      pause();
    return !isLeft.load(std::memory_order_relaxed);
  }

private:
  void take() {
    if (!runKernel([](void *self) { static_cast<ThreadPool *>(self)->begin(); },
                   this))
      isLeft.store(true, std::memory_order_relaxed);
  }

  /// Runs pieces until none is left. The caller's thread checks for
  /// interruption by the user.
  void begin() {
    while (!isLeft.load(std::memory_order_relaxed)) {
      if (inside && caller && isInterrupted(*caller))
        leaveKernel();
      int64_t index = next.load(std::memory_order_relaxed);
      // `next` never exceeds `count`, however often workers poll it.
      while (index < count &&
             !next.compare_exchange_weak(
                 index, count - index > piece ? index + piece : count,
                 std::memory_order_relaxed)) {
      }
      if (index >= count)
        return;
      body(closure, index, count - index > piece ? index + piece : count);
    }
  }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      // The spin lasts about 100 microseconds.
      for (int spin = 0;
           spin < 4000 && generation.load(std::memory_order_acquire) == seen;
           ++spin)
        pause();
      if (generation.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        sleeping.fetch_add(1);
        wake.wait(lock, [&] {
          return generation.load(std::memory_order_relaxed) != seen;
        });
        sleeping.fetch_sub(1);
      }
      seen = generation.load(std::memory_order_acquire);
      if (stop)
        return;
      take();
      pending.fetch_sub(1, std::memory_order_release);
    }
  }

  pthread_t *const workers;
  int32_t workerCount = 0;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<uint64_t> generation{0};
  std::atomic<int32_t> sleeping{0}, pending{0};
  bool stop = false;
  RelaxParallelBody body = nullptr;
  void *closure = nullptr;
  RelaxContext *caller = nullptr;
  int64_t count = 0, piece = 1;
  std::atomic<int64_t> next{0};
  std::atomic<bool> isLeft{false};
};

/// Held by the call that uses the pool, or by the code that replaces the pool.
std::mutex owner;
int32_t wanted = 0;
/// Never destroyed: at exit there is no place where its threads could be
/// joined.
ThreadPool *pool = nullptr;

/// A forked child has no workers; it creates its own pool.
void forgetPool() {
  pool = nullptr;
  new (&owner) std::mutex;
}
/// Registered before any other thread can hold the mutex.
[[maybe_unused]] const int isForgotten =
    pthread_atfork(nullptr, nullptr, forgetPool);

/// Returns null if out of memory.
ThreadPool *getPool() {
  if (!pool) {
    pool =
        new (std::nothrow) ThreadPool(wanted ? wanted : defaultThreadCount());
  }
  return pool;
}

/// The outcome of offering a job to the pool, which runs one at a time.
enum class Outcome { Busy, Done, Left };
Outcome runOnPool(RelaxParallelBody body, void *closure, int64_t count,
                  int64_t grain) {
  std::unique_lock<std::mutex> lock(owner, std::try_to_lock);
  ThreadPool *threads = lock.owns_lock() ? getPool() : nullptr;
  if (!threads || threads->size() == 1)
    return Outcome::Busy;
  inside = true;
  bool isDone = threads->run(body, closure, count, grain);
  inside = false;
  return isDone ? Outcome::Done : Outcome::Left;
}

} // namespace

extern "C" {

void relax_rt_parallel_for(RelaxParallelBody body, void *closure, int64_t count,
                           int64_t grain) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  if (inside || count <= grain) {
    body(closure, 0, count);
    return;
  }
  switch (runOnPool(body, closure, count, grain)) {
  case Outcome::Busy:
    body(closure, 0, count);
    break;
  case Outcome::Done:
    break;
  case Outcome::Left:
    leaveKernel();
  }
}

int32_t relax_rt_thread_count(void) {
  if (inside) // in a signal handler, which a call may run
    return pool->size();
  std::lock_guard<std::mutex> lock(owner);
  return pool ? pool->size() : wanted ? wanted : defaultThreadCount();
}

void relax_rt_set_thread_count(int32_t count) {
  if (inside)
    return;
  std::lock_guard<std::mutex> lock(owner);
  wanted = std::max(0, std::min(count, 1024));
  delete pool;
  pool = nullptr;
}

} // extern "C"
