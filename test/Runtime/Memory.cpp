//===- Memory.cpp - pooled memory and storages ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "FFI.h"

#include <atomic>
#include <cstring>
#include <mutex>

using namespace relax_test;

namespace {

RelaxStorage *allocate(int64_t bytes, int64_t align = 64) {
  return relax_rt_alloc(nullptr, bytes, align, nullptr);
}

RelaxPoolStatistics statistics() {
  RelaxPoolStatistics found;
  relax_rt_pool_statistics(&found);
  return found;
}

/// Small sizes, sizes around the ends of classes, and one with huge pages.
int64_t sizeOf(int round) {
  static const int64_t sizes[] = {0,    1,    255,   256,   257,
                                  4096, 5000, 65536, 70001, (2 << 20) + 1};
  return sizes[round % 10];
}

} // namespace

RELAX_CASE(blocksAreAlignedAndDisjoint) {
  int64_t before = statistics().used;
  std::vector<RelaxStorage *> storages;
  for (int64_t align : {1, 64, 128, 4096})
    for (int round = 0; round < 20; ++round) {
      RelaxStorage *storage = allocate(sizeOf(round), align);
      RELAX_CHECK(reinterpret_cast<uintptr_t>(storage->data) % align == 0);
      memset(storage->data, static_cast<int>(storages.size()), sizeOf(round));
      storages.push_back(storage);
    }
  for (size_t i = 0; i < storages.size(); ++i) {
    auto *bytes = static_cast<unsigned char *>(storages[i]->data);
    int64_t size = sizeOf(static_cast<int>(i) % 20);
    RELAX_CHECK(!size || (bytes[0] == i && bytes[size - 1] == i));
    relax_rt_release(storages[i]);
  }
  RELAX_CHECK(statistics().used == before);
}

// Threads free what other threads have allocated, and threads end while others
// reuse their blocks.
RELAX_CASE(blocksMoveBetweenThreads) {
  int64_t before = statistics().used;
  std::mutex mutex;
  std::vector<RelaxStorage *> shared;
  for (int generation = 0; generation < 3; ++generation)
    inThreads(4, [&](int thread) {
      for (int round = 0; round < 300; ++round) {
        RelaxStorage *storage = allocate(sizeOf(round + thread));
        memset(storage->data, thread, sizeOf(round + thread));
        std::lock_guard<std::mutex> lock(mutex);
        shared.push_back(storage);
        if (shared.size() > 20) {
          size_t taken = static_cast<size_t>(round * 7 + thread) % 20;
          std::swap(shared[taken], shared.back());
          relax_rt_release(shared.back());
          shared.pop_back();
        }
        if (round % 100 == 99)
          relax_rt_pool_trim();
      }
    });
  for (RelaxStorage *storage : shared)
    relax_rt_release(storage);
  RELAX_CHECK(statistics().used == before);
  relax_rt_pool_trim();
  RELAX_CHECK(statistics().held >= statistics().used);
}

// The last of several threads frees a storage, after all have read it.
RELAX_CASE(referencesOfManyThreads) {
  int64_t before = statistics().used;
  for (int round = 0; round < 50; ++round) {
    RelaxStorage *storage = allocate(64);
    *static_cast<int *>(storage->data) = round;
    for (int thread = 0; thread < 4; ++thread)
      relax_rt_retain(storage);
    inThreads(4, [&](int) {
      RELAX_CHECK(*static_cast<int *>(storage->data) == round);
      relax_rt_retain(storage);
      relax_rt_release(storage);
      relax_rt_release(storage);
    });
    RELAX_CHECK(storage->references == 1);
    relax_rt_release(storage);
  }
  relax_rt_retain(nullptr);
  relax_rt_release(nullptr);
  RELAX_CHECK(statistics().used == before);
}

// Scratch memory belongs to its thread.
RELAX_CASE(scratchOfManyThreads) {
  int64_t before = statistics().used;
  inThreads(4, [](int thread) {
    for (int round = 0; round < 200; ++round) {
      void *first = _mlir_memref_to_llvm_alloc(sizeOf(round) + 1);
      void *second = _mlir_memref_to_llvm_aligned_alloc(64, 300);
      memset(first, thread, sizeOf(round) + 1);
      memset(second, thread, 300);
      _mlir_memref_to_llvm_free(round % 2 ? first : second);
      _mlir_memref_to_llvm_free(round % 2 ? second : first);
      _mlir_memref_to_llvm_free(nullptr);
    }
  });
  RELAX_CHECK(statistics().used == before);
}

// At the limit calls fail and free what they had; others continue after it is
// lifted. Statistics are read and reset by one thread meanwhile.
RELAX_CASE(limitsOfMemory) {
  Function allocates{{0, 0, 0, 0, 0},
                     std::string("allocates\0", 10),
                     [](RelaxContext *context, int64_t *, int64_t *) {
                       for (int i = 0; i < 8; ++i)
                         relax_rt_alloc(context, 1 << 20, 64, "model.py:3:5");
                     }};
  int64_t before = statistics().used;
  relax_rt_pool_trim();
  relax_rt_pool_set_limit(statistics().held + (1 << 20));
  inThreads(4, [&](int thread) {
    for (int round = 0; round < 20; ++round) {
      if (thread == 0) {
        RELAX_CHECK(statistics().used >= 0);
        relax_rt_pool_reset_peak();
        continue;
      }
      allocates.call({});
      std::string error = takeError();
      RELAX_CHECK(error == "MemoryError: no memory for 1048576 bytes\n"
                           "  at model.py:3:5");
    }
  });
  relax_rt_pool_set_limit(0);
  RELAX_CHECK(statistics().used == before);
}
