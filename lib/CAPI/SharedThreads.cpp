//===- SharedThreads.cpp - the threads that contexts share ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context of MLIR starts threads of its own. The child of a fork has none of
// them, and would wait for them for ever; nor can they be replaced there, as a
// context waits for those that it has. So contexts have these, which a child
// starts anew.
//
//===----------------------------------------------------------------------===//

#include "CAPI/Relax.h"

#include "mlir/CAPI/IR.h"
#include "llvm/Support/ThreadPool.h"

#include <pthread.h>

using namespace mlir;

namespace {

class SharedThreads : public llvm::ThreadPoolInterface {
public:
  /// Those of the process; never destroyed, as contexts may outlive any order.
  static SharedThreads &get() {
    static SharedThreads *all = [] {
      pthread_atfork(nullptr, nullptr, [] { get().startAnew(); });
      return new SharedThreads;
    }();
    return *all;
  }

  void wait() override { threads->wait(); }
  void wait(llvm::ThreadPoolTaskGroup &group) override { threads->wait(group); }
  unsigned getMaxConcurrency() const override {
    return threads->getMaxConcurrency();
  }

private:
  void asyncEnqueue(llvm::unique_function<void()> task,
                    llvm::ThreadPoolTaskGroup *group) override {
    if (group)
      threads->async(*group, std::move(task));
    else
      threads->async(std::move(task));
  }

  /// The parent's are left alone: they cannot be waited for.
  void startAnew() { threads = new llvm::DefaultThreadPool; }

  llvm::DefaultThreadPool *threads = new llvm::DefaultThreadPool;
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
