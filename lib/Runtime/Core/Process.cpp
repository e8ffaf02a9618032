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

/// All mutexes that a fork acquires. They are leaves, so any order will do.
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
  /// Registers the handlers once per process.
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

// A fork unlocks every mutex that it has locked, so none may be created in
// between: all are created while the library is loaded.
ForkSafeMutex::ForkSafeMutex() { ForkHandlers::add(this, safeMutexes); }
ForkResetMutex::ForkResetMutex() { ForkHandlers::add(this, resetMutexes); }

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

static std::atomic<bool> isEnding{false};

void relax_rt::watchProcessEnd() {
  // Exit handlers run in reverse order of registration, so this one runs before
  // compiled code is unloaded.
  static bool isWatched =
      (std::atexit([] { isEnding.store(true, std::memory_order_relaxed); }),
       true);
  (void)isWatched;
}

bool relax_rt::isProcessEnding() {
  return isEnding.load(std::memory_order_relaxed);
}
