//===- Pool.cpp - pooled memory and its counts ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of size classes, four to each power of two, so that sizes that grow by
// one token at a time are served by the same block. Freed blocks stay with the
// thread that freed them, up to a limit, then go to a shared list: a steady
// state takes no lock and asks the system for nothing. Large blocks are mapped
// with huge pages, which nearly doubles the bandwidth of streaming reads.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <vector>

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
    // Room for the start to be moved to the border of a huge page.
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

struct Lists {
  std::vector<void *> free[SizeClass::kCount];
};

struct Shared : Lists {
  std::mutex mutex;
};

/// Never destroyed: threads may end after static objects are gone.
Shared &shared() {
  static Shared &lists = *new Shared;
  return lists;
}

/// A thread keeps some blocks of each class, and fewer of the large ones.
size_t kept(size_t bytes) { return bytes >= (size_t(64) << 20) ? 2 : 32; }

struct Local : Lists {
  ~Local() {
    std::lock_guard<std::mutex> lock(shared().mutex);
    for (int index = 0; index < SizeClass::kCount; ++index)
      for (void *data : free[index])
        shared().free[index].push_back(data);
  }
};

thread_local Local local;

} // namespace

void *Pool::allocate(size_t bytes) {
  if (bytes > SizeClass::kMost)
    return nullptr;
  SizeClass size = SizeClass::of(bytes);
  void *data = nullptr;
  std::vector<void *> &mine = local.free[size.index];
  if (!mine.empty()) {
    data = mine.back();
    mine.pop_back();
  } else {
    {
      std::lock_guard<std::mutex> lock(shared().mutex);
      std::vector<void *> &all = shared().free[size.index];
      if (!all.empty()) {
        data = all.back();
        all.pop_back();
      }
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
  std::vector<void *> &mine = local.free[size.index];
  if (mine.size() < kept(size.bytes)) {
    mine.push_back(data);
    return;
  }
  std::lock_guard<std::mutex> lock(shared().mutex);
  shared().free[size.index].push_back(data);
}

void Pool::trim() {
  auto giveBack = [](Lists &lists) {
    for (int index = 0; index < SizeClass::kCount; ++index) {
      for (void *data : lists.free[index])
        giveToSystem(data, SizeClass::bytesOf(index));
      lists.free[index].clear();
    }
  };
  giveBack(local);
  std::lock_guard<std::mutex> lock(shared().mutex);
  giveBack(shared());
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

// Scratch memory of kernels remembers its size in front of it.
void *_mlir_memref_to_llvm_aligned_alloc(size_t align, size_t bytes) {
  if (align > kAlignment || bytes > SIZE_MAX - kAlignment)
    return nullptr;
  char *data = static_cast<char *>(Pool::allocate(bytes + kAlignment));
  if (!data) {
    // A kernel has no way to report: its temporaries are bounded by its
    // operands.
    fprintf(stderr, "relax-mlir: no memory for %zu bytes of a kernel\n", bytes);
    abort();
  }
  memcpy(data, &bytes, sizeof(bytes));
  return data + kAlignment;
}

void *_mlir_memref_to_llvm_alloc(size_t bytes) {
  return _mlir_memref_to_llvm_aligned_alloc(kAlignment, bytes);
}

void _mlir_memref_to_llvm_free(void *data) {
  if (!data)
    return;
  char *begin = static_cast<char *>(data) - kAlignment;
  size_t bytes;
  memcpy(&bytes, begin, sizeof(bytes));
  Pool::free(begin, bytes + kAlignment);
}

} // extern "C"
