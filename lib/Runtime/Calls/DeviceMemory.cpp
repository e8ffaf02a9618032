//===- DeviceMemory.cpp - memory of devices -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Device.h"
#include "Runtime/Calls/Graphs.h"

#include <cstring>
#include <mutex>
#include <string>

using namespace relax_rt;

bool Device::synchronize(Error &error) {
  std::lock_guard<std::mutex> lock(captures);
  return driver->synchronize(error);
}

void Device::giveBack(DeviceStream &stream) {
  std::lock_guard<std::mutex> lock(mutex);
  for (int index = 0; index < SizeClass::kCount; ++index) {
    for (void *data : stream.free[index]) {
      driver->free(data);
      statistics.held -= SizeClass::bytesOf(index);
    }
    stream.free[index].clear();
  }
}

void Device::trim() {
  std::lock_guard<std::mutex> quiet(captures);
  // Blocks that are free now, not those freed while waiting for the device.
  std::vector<std::pair<void *, int>> blocks;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto &[handle, stream] : streams)
      for (int index = 0; index < SizeClass::kCount; ++index) {
        for (void *data : stream->free[index])
          blocks.emplace_back(data, index);
        stream->free[index].clear();
      }
  }
  Error ignored; // a failed device takes its memory back, too
  driver->synchronize(ignored);
  std::lock_guard<std::mutex> lock(mutex);
  for (auto [data, index] : blocks) {
    driver->free(data);
    statistics.held -= SizeClass::bytesOf(index);
  }
}

/// Must not hold the mutex. If memory runs out, releases free blocks first,
/// then graphs, which can be captured again.
void *Device::take(size_t bytes, bool isPooled, bool mayTrim, Error &error) {
  for (int attempt = 0;; ++attempt) {
    error.message.clear();
    {
      std::lock_guard<std::mutex> lock(mutex);
      void *data = nullptr;
      bool isTooMuch =
          limit && statistics.held + static_cast<int64_t>(bytes) > limit;
      if (!isTooMuch && driver->allocate(bytes, data, error) && data) {
        if (isPooled) {
          statistics.held += bytes;
          ++statistics.requests;
        }
        return data;
      }
    }
    if (!error.message.empty())
      return nullptr;
    if (!mayTrim || attempt == 2) {
      fail(error, "MemoryError",
           "no memory for " + std::to_string(bytes) + " bytes on " +
               nameOf(id));
      return nullptr;
    }
    if (attempt == 1)
      GraphPool::dropAll(*this, [](const Graph &) { return true; });
    else
      trim();
  }
}

void *Device::allocate(size_t bytes, Error &error) {
  return take(bytes ? bytes : 1, /*isPooled=*/false, /*mayTrim=*/true, error);
}

std::vector<GraphPool *> Device::graphPools() {
  std::vector<GraphPool *> pools;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[handle, stream] : streams)
    if (GraphPool *pool = stream->graphPool.load(std::memory_order_acquire))
      pools.push_back(pool);
  return pools;
}

RelaxPoolStatistics Device::readStatistics() {
  std::lock_guard<std::mutex> lock(mutex);
  return statistics;
}

void Device::resetPeak() {
  std::lock_guard<std::mutex> lock(mutex);
  statistics.peak = statistics.used;
}

void Device::setLimit(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  limit = bytes;
}

RelaxStorage *DeviceStream::allocate(RelaxContext *context, int64_t bytes,
                                     Error &error) {
  auto noMemory = [&]() -> RelaxStorage * {
    fail(error, "MemoryError",
         "no memory for " + std::to_string(bytes) + " bytes on " +
             Device::nameOf(device.id));
    return nullptr;
  };
  if (bytes < 0 || static_cast<size_t>(bytes) > SizeClass::kMost)
    return noMemory();
  SizeClass size = SizeClass::of(bytes);
  auto *storage =
      static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
  if (!storage)
    return noMemory();
  void *data = nullptr;
  auto count = [&] {
    RelaxPoolStatistics &statistics = device.statistics;
    statistics.used += size.bytes;
    if (statistics.peak < statistics.used)
      statistics.peak = statistics.used;
  };
  {
    std::lock_guard<std::mutex> lock(device.mutex);
    std::vector<void *> &blocks = free[size.index];
    if (!blocks.empty()) {
      data = blocks.back();
      blocks.pop_back();
      count();
    }
  }
  if (!data &&
      (data = device.take(size.bytes, /*isPooled=*/true, !isCapture, error))) {
    std::lock_guard<std::mutex> lock(device.mutex);
    count();
  }
  if (!data) {
    Pool::free(storage, sizeof(RelaxStorage));
    return nullptr;
  }
  *storage = {1, data, bytes, nullptr, nullptr, nullptr, destroy, this};
  if (context)
    link(context, storage);
  return storage;
}

void DeviceStream::destroy(RelaxStorage *storage) {
  auto *stream = static_cast<DeviceStream *>(storage->owner);
  SizeClass size = SizeClass::of(storage->bytes);
  // In a forked child, the mutex may be locked forever.
  if (stream->device.isOwn()) {
    std::lock_guard<std::mutex> lock(stream->device.mutex);
    stream->device.statistics.used -= size.bytes;
    stream->free[size.index].push_back(storage->data);
  }
  Pool::free(storage, sizeof(RelaxStorage));
}

GraphPool &DeviceStream::graphs() {
  GraphPool *known = graphPool.load(std::memory_order_acquire);
  if (!known) {
    auto *made = new GraphPool(*this);
    if (graphPool.compare_exchange_strong(known, made,
                                          std::memory_order_acq_rel))
      return *made;
    delete made; // another thread created it first
  }
  return *known;
}

RelaxStorage *relax_rt::allocateTensor(RelaxContext &context, int32_t device,
                                       int64_t bytes) {
  if (device != kDLCPU)
    return context.stream->allocate(&context, bytes, context.error);
  RelaxStorage *storage = relax_rt::allocate(&context, bytes, kAlignment);
  if (!storage)
    fail(context.error, "MemoryError",
         "no memory for " + std::to_string(bytes) + " bytes");
  return storage;
}

bool relax_rt::copyTensor(RelaxContext &context, int32_t device, void *to,
                          const void *from, int64_t bytes) {
  if (to == from || !bytes)
    return true;
  if (device != kDLCPU)
    return context.stream->device.driver->copy(
        to, from, bytes, context.stream->handle, context.error);
  memmove(to, from, bytes);
  return true;
}
