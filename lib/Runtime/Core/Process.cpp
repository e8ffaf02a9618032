//===- Process.cpp - forks and the end of the process ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Process.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <pthread.h>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

/// All mutexes that a fork waits for. They are leaves: any order will do.
static std::atomic<ForkSafeMutex *> safeMutexes{nullptr};
static std::atomic<ForkResetMutex *> resetMutexes{nullptr};

namespace relax_rt {
struct ForkHandlers {
  static void lock() {
    for (ForkSafeMutex *mutex = safeMutexes; mutex; mutex = mutex->next)
      mutex->lock();
  }
  static void unlock() {
    for (ForkSafeMutex *mutex = safeMutexes; mutex; mutex = mutex->next)
      mutex->unlock();
  }
  static void startChild() {
    unlock();
    for (ForkResetMutex *mutex = resetMutexes; mutex; mutex = mutex->next)
      new (static_cast<std::mutex *>(mutex)) std::mutex;
  }
  /// Once in the process.
  static void install() {
    static int failed = pthread_atfork(lock, unlock, startChild);
    (void)failed;
  }

  template <typename Mutex>
  static void add(Mutex *mutex, std::atomic<Mutex *> &all) {
    install();
    mutex->next = all.load();
    while (!all.compare_exchange_weak(mutex->next, mutex)) {
    }
  }
};
} // namespace relax_rt

// What a fork has locked is unlocked after it, so no such mutex is made in
// between: they are made while the library is loaded.
ForkSafeMutex::ForkSafeMutex() { ForkHandlers::add(this, safeMutexes); }
ForkResetMutex::ForkResetMutex() { ForkHandlers::add(this, resetMutexes); }

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

static std::atomic<bool> isEnding{false};

void relax_rt::watchProcessEnd() {
  // Libraries with compiled code are closed after this.
  static bool isWatched =
      (std::atexit([] { isEnding.store(true, std::memory_order_relaxed); }),
       true);
  (void)isWatched;
}

bool relax_rt::isProcessEnding() {
  return isEnding.load(std::memory_order_relaxed);
}
