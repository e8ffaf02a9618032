//===- Threads.cpp - the thread pool --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pool a process. A job is an interval that the workers and the caller take
// pieces of. Workers spin for a short while after a job, since the next kernel
// of a model follows within microseconds, then sleep. Whoever finds the pool
// taken does the work alone: a second caller's thread is busy anyway.
//
//===----------------------------------------------------------------------===//

#include "RelaxRuntime.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

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
              "to 1024, and one thread a processor is used\n",
              text);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

class ThreadPool {
public:
  explicit ThreadPool(int32_t count) {
    for (int32_t i = 1; i < count; ++i)
      workers.emplace_back([this] { work(); });
  }

  ~ThreadPool() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stop = true;
      generation.fetch_add(1);
    }
    wake.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  int32_t size() const { return static_cast<int32_t>(workers.size()) + 1; }

  void run(RelaxParallelBody body, void *closure, int64_t count,
           int64_t grain) {
    this->body = body;
    this->closure = closure;
    this->count = count;
    // A few pieces a thread, so that one that is held up does not hold up all;
    // whole steps, as a step that begins in a piece is done to its end.
    int64_t steps = (count + grain - 1) / grain;
    piece = grain * ((steps + 4 * size() - 1) / (4 * size()));
    next.store(0, std::memory_order_relaxed);
    pending.store(static_cast<int32_t>(workers.size()),
                  std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(mutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    if (sleeping.load())
      wake.notify_all();
    take();
    while (pending.load(std::memory_order_acquire))
      pause();
  }

private:
  void take() {
    for (;;) {
      int64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= count)
        return;
      body(closure, begin, std::min(begin + piece, count));
    }
  }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      // Some 100 microseconds.
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

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<uint64_t> generation{0};
  std::atomic<int32_t> sleeping{0}, pending{0};
  bool stop = false;
  RelaxParallelBody body = nullptr;
  void *closure = nullptr;
  int64_t count = 0, piece = 1;
  std::atomic<int64_t> next{0};
};

/// Held by the one call that uses the pool, or makes it anew.
std::mutex owner;
int32_t wanted = 0;
/// Never destroyed at exit: its threads may be waited for nowhere then.
ThreadPool *pool = nullptr;
thread_local bool inside = false;

/// A child process has no workers; it makes its own pool.
void forgetPool() {
  pool = nullptr;
  new (&owner) std::mutex;
}

ThreadPool &getPool() {
  if (!pool) {
    static bool registered =
        (pthread_atfork(nullptr, nullptr, forgetPool), true);
    (void)registered;
    pool = new ThreadPool(wanted ? wanted : defaultThreadCount());
  }
  return *pool;
}

} // namespace

extern "C" {

void relax_rt_parallel_for(RelaxParallelBody body, void *closure, int64_t count,
                           int64_t grain) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  if (count > grain && !inside) {
    std::unique_lock<std::mutex> lock(owner, std::try_to_lock);
    if (lock.owns_lock()) {
      ThreadPool &threads = getPool();
      if (threads.size() > 1) {
        inside = true;
        threads.run(body, closure, count, grain);
        inside = false;
        return;
      }
    }
  }
  body(closure, 0, count);
}

int32_t relax_rt_thread_count(void) {
  std::lock_guard<std::mutex> lock(owner);
  return pool ? pool->size() : wanted ? wanted : defaultThreadCount();
}

void relax_rt_set_thread_count(int32_t count) {
  std::lock_guard<std::mutex> lock(owner);
  wanted = std::max(0, std::min(count, 1024));
  delete pool;
  pool = nullptr;
}

} // extern "C"
