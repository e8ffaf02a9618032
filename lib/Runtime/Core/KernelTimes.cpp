//===- KernelTimes.cpp - how long kernels take ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/KernelTimes.h"

#include "Runtime/Core/Context.h"
#include "Runtime/Core/Kernels.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

using namespace relax_rt;

namespace {

std::atomic<int32_t> activeProfiles{0};

// Compiled code reads this word.
static_assert(offsetof(RelaxContext, isTimed) == 0, "");

/// A sum, in the list of its bucket.
struct Entry : RelaxTimes {
  uint64_t hash;
  Entry *next;
};

constexpr uint64_t kBuckets = 1024;
std::atomic<Entry *> buckets[kBuckets];

/// The nanoseconds of all kernels and library functions that this thread has
/// timed.
thread_local int64_t counted = 0;

/// What a sum is for.
struct Names {
  std::string_view name, function, location;

  uint64_t hash() const {
    uint64_t hash = 0;
    for (std::string_view text : {name, function, location})
      hash = hash * 31 + std::hash<std::string_view>()(text);
    return hash;
  }
  bool operator==(const Entry &entry) const {
    return name == entry.name && function == entry.function &&
           location == entry.location;
  }

  /// Returns a new sum with copies of the names, or null if out of memory.
  Entry *create() const {
    size_t bytes = name.size() + function.size() + location.size() + 3;
    auto *entry = static_cast<Entry *>(malloc(sizeof(Entry) + bytes));
    if (!entry)
      return nullptr;
    char *place = reinterpret_cast<char *>(entry + 1);
    auto keep = [&](std::string_view text) {
      char *copy = place;
      memcpy(copy, text.data(), text.size());
      copy[text.size()] = 0;
      place += text.size() + 1;
      return copy;
    };
    const char *ownName = keep(name), *ownFunction = keep(function);
    *entry = {{ownName, ownFunction, keep(location), 0, 0}, hash(), nullptr};
    return entry;
  }
};

/// Returns the sum of a kernel, or null if out of memory.
RelaxTimes *timesOf(const Names &names) {
  uint64_t hash = names.hash();
  std::atomic<Entry *> &bucket = buckets[hash % kBuckets];
  Entry *first = bucket.load(std::memory_order_acquire), *created = nullptr;
  do {
    // Between two rounds, other threads have added sums, perhaps this one.
    for (Entry *entry = first; entry; entry = entry->next)
      if (entry->hash == hash && names == *entry) {
        free(created);
        return entry;
      }
    if (!created && !(created = names.create()))
      return nullptr;
    created->next = first;
  } while (!bucket.compare_exchange_weak(
      first, created, std::memory_order_acq_rel, std::memory_order_acquire));
  return created;
}

void add(const Names &names, int64_t nanoseconds) {
  auto addTo = [](int64_t &word, int64_t value) {
    static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t), "");
    reinterpret_cast<std::atomic<int64_t> &>(word).fetch_add(
        value, std::memory_order_relaxed);
  };
  if (RelaxTimes *times = timesOf(names)) {
    addTo(times->calls, 1);
    addTo(times->nanoseconds, nanoseconds);
  }
}

} // namespace

bool relax_rt::isProfiling() {
  return activeProfiles.load(std::memory_order_relaxed) > 0;
}

int64_t relax_rt::readClock() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void relax_rt::addTime(const char *name, const char *function,
                       const char *location, int64_t nanoseconds) {
  add({name, function, location}, nanoseconds);
}

void relax_rt::endKernel(RelaxContext &context) {
  int64_t end = readClock();
  std::string_view name = std::exchange(context.kernel, nullptr);
  std::string_view function = name.data() + name.size() + 1;
  int64_t took = end - context.kernelBegin;
  counted += took;
  add({name, function, function.data() + function.size() + 1}, took);
}

LibraryClock::LibraryClock(bool isTimed)
    : begin(isTimed ? readClock() : 0), countedBefore(counted) {}

void LibraryClock::stop(const char *name, const char *function,
                        const char *location) {
  if (!begin)
    return;
  int64_t took = readClock() - begin, others = counted - countedBefore;
  counted = countedBefore + took;
  addTime(name, function, location, took - others);
}

TimedCall::TimedCall(RelaxContext &context, const char *function)
    : function(function), begin(0) {
  context.isTimed = isProfiling();
  // A call within a call is part of that call's time.
  if (context.isTimed && !currentCall())
    begin = readClock();
}

TimedCall::~TimedCall() {
  if (begin)
    addTime("", function, "", readClock() - begin);
}

extern "C" {

void relax_rt_begin_kernel(RelaxContext *context, const char *names) {
  context->kernel = names;
  context->kernelBegin = readClock();
}

void relax_rt_profile(int32_t change) {
  activeProfiles.fetch_add(change, std::memory_order_relaxed);
}

const RelaxTimes *relax_rt_times(const RelaxTimes *last) {
  uint64_t bucket = 0;
  if (auto *entry = static_cast<const Entry *>(last)) {
    if (entry->next)
      return entry->next;
    bucket = entry->hash % kBuckets + 1;
  }
  for (; bucket < kBuckets; ++bucket)
    if (Entry *first = buckets[bucket].load(std::memory_order_acquire))
      return first;
  return nullptr;
}

} // extern "C"
