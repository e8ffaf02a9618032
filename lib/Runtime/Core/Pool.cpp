//===- Pool.cpp - pooled memory and its statistics ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks come in size classes, four to each power of two, so that sizes that
// grow by one token at a time reuse the same block. Freed blocks stay with the
// thread that freed them, up to a limit, then move to a shared list: in steady
// state the pool takes no lock and makes no system call. A free block stores
// the link to the next one, so that freeing needs no memory. Large blocks use
// huge pages, which nearly doubles the bandwidth of streaming reads.
//
// Results may be freed at any time: in destructors of static objects, in
// destructors of thread-local objects after this thread's list is gone, and in
// the child of a fork. So nothing here has a destructor except the object that
// hands over a thread's list.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Pool.h"
#include "Runtime/Core/Process.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <sys/mman.h>

using namespace relax_rt;

namespace {

constexpr size_t kHugePage = size_t(2) << 20;

std::atomic<int64_t> used{0}, peak{0}, held{0}, requests{0}, limit{0};

void *takeFromSystem(size_t bytes) {
  int64_t bound = limit.load(std::memory_order_relaxed);
  if (bound &&
      held.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes) >
          bound)
    return nullptr;
  void *data;
  if (bytes >= kHugePage) {
    // Slack to align the start to a huge page.
    size_t mapped = bytes + kHugePage;
    void *whole = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED)
      return nullptr;
    uintptr_t begin = reinterpret_cast<uintptr_t>(whole);
    uintptr_t start = (begin + kHugePage - 1) & ~(kHugePage - 1);
    if (start != begin)
      munmap(whole, start - begin);
    uintptr_t end = (start + bytes + 4095) & ~uintptr_t(4095);
    if (end != begin + mapped)
      munmap(reinterpret_cast<void *>(end), begin + mapped - end);
    data = reinterpret_cast<void *>(start);
    madvise(data, bytes, MADV_HUGEPAGE);
  } else if (posix_memalign(&data, kAlignment, bytes)) {
    return nullptr;
  }
  held.fetch_add(bytes, std::memory_order_relaxed);
  requests.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void giveToSystem(void *data, size_t bytes) {
  held.fetch_sub(bytes, std::memory_order_relaxed);
  if (bytes >= kHugePage)
    munmap(data, (bytes + 4095) & ~size_t(4095));
  else
    free(data);
}

/// The free blocks by class.
struct Lists {
  struct Block {
    Block *next;
  };

  void push(int index, void *data) {
    first[index] = new (data) Block{first[index]};
    ++count[index];
  }
  /// Returns null if there is no free block.
  void *pop(int index) {
    Block *block = first[index];
    if (block) {
      first[index] = block->next;
      --count[index];
    }
    return block;
  }

  Block *first[SizeClass::kCount];
  uint32_t count[SizeClass::kCount];
};

ForkSafeMutex sharedMutex;
Lists shared; // under the mutex

/// How many free blocks of a size a thread keeps; fewer if large.
uint32_t kept(size_t bytes) { return bytes >= (size_t(64) << 20) ? 2 : 32; }

/// The blocks that a thread keeps, and whether it still may. Has no destructor,
/// so that it stays usable as long as the thread runs any code.
struct Own {
  Lists lists;
  enum { New, Used, Gone } state;
};
thread_local Own ownBlocks;

/// The free blocks of this thread; null once the thread is ending.
Lists *own() {
  Own &mine = ownBlocks;
  if (mine.state == Own::New) {
    mine.state = Own::Used;
    /// Hands the blocks to the other threads when the thread ends.
    struct Ending {
      ~Ending() {
        Own &mine = ownBlocks;
        mine.state = Own::Gone;
        std::lock_guard<std::mutex> lock(sharedMutex);
        for (int index = 0; index < SizeClass::kCount; ++index)
          while (void *data = mine.lists.pop(index))
            shared.push(index, data);
      }
    };
    static thread_local Ending ending;
    (void)ending;
  }
  return mine.state == Own::Used ? &mine.lists : nullptr;
}

} // namespace

void *Pool::allocate(size_t bytes) {
  if (bytes > SizeClass::kMost)
    return nullptr;
  SizeClass size = SizeClass::of(bytes);
  void *data = nullptr;
  if (Lists *lists = own())
    data = lists->pop(size.index);
  if (!data) {
    {
      std::lock_guard<std::mutex> lock(sharedMutex);
      data = shared.pop(size.index);
    }
    if (!data)
      data = takeFromSystem(size.bytes);
    if (!data) {
      trim();
      data = takeFromSystem(size.bytes);
    }
    if (!data)
      return nullptr;
  }
  int64_t now = used.fetch_add(size.bytes, std::memory_order_relaxed) +
                static_cast<int64_t>(size.bytes);
  int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most &&
         !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return data;
}

void Pool::free(void *data, size_t bytes) {
  SizeClass size = SizeClass::of(bytes);
  used.fetch_sub(size.bytes, std::memory_order_relaxed);
  Lists *lists = own();
  if (lists && lists->count[size.index] < kept(size.bytes)) {
    lists->push(size.index, data);
    return;
  }
  std::lock_guard<std::mutex> lock(sharedMutex);
  shared.push(size.index, data);
}

void Pool::trim() {
  auto giveBack = [](Lists &lists) {
    for (int index = 0; index < SizeClass::kCount; ++index)
      while (void *data = lists.pop(index))
        giveToSystem(data, SizeClass::bytesOf(index));
  };
  if (Lists *lists = own())
    giveBack(*lists);
  std::lock_guard<std::mutex> lock(sharedMutex);
  giveBack(shared);
}

extern "C" {

void relax_rt_pool_statistics(RelaxPoolStatistics *out) {
  out->used = used.load(std::memory_order_relaxed);
  out->peak = peak.load(std::memory_order_relaxed);
  out->held = held.load(std::memory_order_relaxed);
  out->requests = requests.load(std::memory_order_relaxed);
}

void relax_rt_pool_reset_peak(void) {
  peak.store(used.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void relax_rt_pool_trim(void) { Pool::trim(); }

void relax_rt_pool_set_limit(int64_t bytes) {
  limit.store(bytes, std::memory_order_relaxed);
}

} // extern "C"
