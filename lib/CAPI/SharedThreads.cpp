//===- SharedThreads.cpp - threads shared by contexts ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By default, each MLIR context starts its own threads. A forked child lacks
// these threads: it would wait for them forever, and cannot replace them, as a
// context waits for its own threads. Also, LLVM aborts the process if the
// system refuses to create a thread. So contexts share these threads instead. A
// forked child restarts them, and there are as many as the system allows: a
// thread that waits runs tasks that no other thread has started.
//
//===----------------------------------------------------------------------===//

#include "CAPI/Relax.h"

#include "mlir/CAPI/IR.h"
#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <pthread.h>

using namespace mlir;

namespace {

/// The tasks of a process and its threads, which never end.
class Workers {
public:
  using Task = llvm::unique_function<void()>;
  using Group = llvm::ThreadPoolTaskGroup *;

  void add(Task task, Group group) {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.emplace_back(std::move(task), group);
    ++unfinished[group];
    if (tasks.size() > idle && threads < getMaxThreads())
      startThread();
    if (threads)
      added.notify_one();
    else
      finished.notify_all(); // waiting threads run the task
  }

  /// Returns when no task of the group, or no task at all, is left.
  void wait(std::optional<Group> group) {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      if (group ? !unfinished.count(*group) : unfinished.empty())
        return;
      auto next = std::find_if(tasks.begin(), tasks.end(), [&](auto &task) {
        return !group || task.second == *group;
      });
      if (next != tasks.end())
        run(next, lock);
      else
        finished.wait(lock);
    }
  }

  static unsigned getMaxThreads() {
    static unsigned count = llvm::hardware_concurrency().compute_thread_count();
    return count;
  }

private:
  using Queue = std::deque<std::pair<Task, Group>>;

  void startThread() {
    pthread_t thread;
    auto main = [](void *workers) -> void * {
      static_cast<Workers *>(workers)->work();
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, main, this))
      return; // other threads may exist, and waiting threads run the tasks
    pthread_detach(thread);
    ++threads;
    ++idle;
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      while (tasks.empty())
        added.wait(lock);
      --idle;
      run(tasks.begin(), lock);
      ++idle;
    }
  }

  void run(Queue::iterator task, std::unique_lock<std::mutex> &lock) {
    auto [body, group] = std::move(*task);
    tasks.erase(task);
    lock.unlock();
    body();
    body = nullptr; // destroy captured objects before the task counts as done
    lock.lock();
    if (--unfinished[group] != 0)
      return;
    unfinished.erase(group);
    finished.notify_all();
  }

  std::mutex mutex;
  /// Signal that a task was added, and that a group has finished.
  std::condition_variable added, finished;
  Queue tasks;
  /// The number of unfinished tasks, for each group that has any.
  std::map<Group, unsigned> unfinished;
  unsigned threads = 0, idle = 0;
};

class SharedThreads : public llvm::ThreadPoolInterface {
public:
  /// The instance of the process; never destroyed, as contexts may outlive it.
  static SharedThreads &get() {
    static SharedThreads *all = [] {
      pthread_atfork(nullptr, nullptr, [] { get().startAgain(); });
      return new SharedThreads;
    }();
    return *all;
  }

  void wait() override { workers->wait(std::nullopt); }
  void wait(llvm::ThreadPoolTaskGroup &group) override {
    workers->wait(&group);
  }
  unsigned getMaxConcurrency() const override {
    return Workers::getMaxThreads();
  }

private:
  void asyncEnqueue(llvm::unique_function<void()> task,
                    llvm::ThreadPoolTaskGroup *group) override {
    workers->add(std::move(task), group);
  }

  /// Leaks the parent's workers, whose threads cannot be joined here.
  void startAgain() { workers = new Workers; }

  Workers *workers = new Workers;
};

} // namespace

void mlirRelaxShareThreads(MlirContext context) {
  MLIRContext &is = *unwrap(context);
  SharedThreads &threads = SharedThreads::get();
  if (!is.isMultithreadingEnabled() || &is.getThreadPool() == &threads)
    return;
  is.disableMultithreading();
  is.setThreadPool(threads);
}
