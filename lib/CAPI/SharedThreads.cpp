//===- SharedThreads.cpp - the threads that contexts share ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context of MLIR starts threads of its own. The child of a fork has none of
// them, and would wait for them for ever; nor can they be replaced there, as a
// context waits for those that it has. And LLVM ends the process where the
// system refuses a thread. So contexts have these, which a child starts again,
// and of which there are as many as the system lets the process have: whoever
// waits for tasks does those that no thread has begun.
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

/// The tasks of a process and its threads, which are never ended.
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
      finished.notify_all(); // whoever waits does the work
  }

  /// Returns when no task of the group is left, or none at all.
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
      return; // there may be others, and who waits does the work
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
    body = nullptr; // what it holds goes before it counts as done
    lock.lock();
    if (--unfinished[group] != 0)
      return;
    unfinished.erase(group);
    finished.notify_all();
  }

  std::mutex mutex;
  /// There is another task; a group has no task left.
  std::condition_variable added, finished;
  Queue tasks;
  /// Tasks that are not done, of each group that has any.
  std::map<Group, unsigned> unfinished;
  unsigned threads = 0, idle = 0;
};

class SharedThreads : public llvm::ThreadPoolInterface {
public:
  /// Those of the process; never destroyed, as contexts may outlive any order.
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

  /// The parent's are left alone: they cannot be waited for.
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
