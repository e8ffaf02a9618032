//===- VulkanWork.h - work submitted to a Vulkan device ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All streams share a queue: each command list begins with a barrier, and so
// does any command that may read earlier results. A timeline semaphore counts
// the submissions; lists, and the host memory that they use, are reused when
// the timeline has reached their value.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANWORK_H
#define RELAX_RUNTIME_VULKAN_VULKANWORK_H

#include "Runtime/Vulkan/VulkanBindings.h"
#include "Runtime/Vulkan/VulkanImage.h"
#include "Runtime/Vulkan/VulkanTimes.h"

#include <atomic>
#include <deque>
#include <optional>

namespace relax_rt {

/// A kernel and its push constants.
struct VulkanLaunch {
  vk::Pipeline pipeline = 0;
  vk::Layout layout = 0;
  int64_t grid[3] = {};
  uint64_t pushed[kMostPushedWords] = {};
  uint32_t bytes = 0; // size of the push constants
  /// Whether the blocks stride over a larger grid.
  bool isStrided = false;

  /// The number of blocks, saturated at INT64_MAX.
  int64_t blocks() const {
    int64_t product = 1;
    for (int64_t size : grid)
      if (__builtin_mul_overflow(product, size, &product))
        return INT64_MAX;
    return product;
  }
};

/// Commands, and the host memory that they read or write.
struct Recording {
  vk::Commands commands = nullptr;
  std::vector<VulkanBlock> blocks;
  vk::Size used = 0; // in the last block
  VulkanSetPools sets;
  /// Parameters of kernels that have more than fit in push constants.
  std::vector<VulkanBlock> parameters;
  vk::Size parametersUsed = 0;
  int launches = 0;
  /// The last launch, if the next one may wait for it without a barrier; it
  /// becomes a command only when that is known. `counter` is where the blocks
  /// of the next awaited launch count themselves.
  std::optional<VulkanLaunch> last;
  uint64_t counter = 0, counterEnd = 0;
  ListTimes times;
};

struct Stream {
  Recording recording;
  bool isCaptured = false;
};

/// All functions but `wait` must be called under the mutex.
class VulkanWork {
protected:
  explicit VulkanWork(std::unique_ptr<VulkanDevice> opened)
      : device(std::move(opened)), vk(device->vk), bindings(*device),
        times(*device) {}

  /// Maximum bytes per host copy, minimum bytes of a host memory block, and the
  /// sizes for parameters and counters.
  static constexpr vk::Size kPiece = 16 << 20, kBlock = 1 << 20,
                            kParameters = 64 << 10, kCounters = 32 << 10,
                            kCounterBytes = 128;
  /// The most blocks of a launch that itself waits, unless they stride over a
  /// larger grid; and the most blocks of a strided launch or an awaited one.
  /// All of these are resident on a large device at a time, and few of them
  /// poll.
  static constexpr int64_t kMostWaiting = 256, kMostAwaited = 1056;
  /// The number of free blocks that are kept.
  static constexpr size_t kKept = 16;

  ~VulkanWork();
  bool start(Error &error);
  bool begin(Stream &stream, Error &error);
  /// Inserts a barrier: later work sees the results of earlier work.
  void order(Recording &recording);
  void dispatch(Recording &recording, VulkanLaunch &launch);
  /// Makes the last launch a command if it is still pending.
  void finish(Recording &recording);
  /// Adds a launch that either waits for the last one itself or follows a
  /// barrier.
  bool follow(Recording &recording, const VulkanLaunch &launch, Error &error);
  bool makeStuck(Error &error);
  /// Reserves host memory for a list, at `offset` of its last block.
  bool reserve(Recording &recording, vk::Size bytes, vk::Size &offset,
               Error &error);
  /// The same for kernel parameters: returns where the host writes and where
  /// the device reads them.
  bool reserveParameters(Recording &recording, vk::Size bytes, uint64_t *&words,
                         uint64_t &address, Error &error);
  /// Allocates host memory if available; `use` names the purpose in errors.
  bool makeBlock(VulkanBlock &block, vk::Size bytes, const std::string &use,
                 Error &error, bool isNear = false);
  bool takeBlock(vk::Size bytes, VulkanBlock &block, Error &error);
  void giveBlock(VulkanBlock &block);
  void recycle(Recording &recording, bool isDone = false);
  /// Recycles the lists that the device has finished.
  void retire();
  bool submitCommands(vk::Commands commands, Error &error);
  bool submit(Stream &stream, Error &error);
  /// Polls for a while before it blocks, since waking up takes long.
  bool wait(uint64_t value, Error &error);
  bool reach(uint64_t value, Error &error);

  struct UnderWay {
    uint64_t value;
    Recording recording;
  };

  const std::unique_ptr<VulkanDevice> device;
  const vk::Library &vk;
  VulkanBindings bindings;
  VulkanTimes times;

  std::mutex mutex;
  Stream first;
  std::vector<Stream *> streams = {&first};
  vk::Semaphore timeline = 0;
  vk::CommandPool pool = 0;
  /// The value of the timeline when all submitted work is done.
  uint64_t submitted = 0;
  std::deque<UnderWay> underWay;
  std::vector<vk::Commands> freeCommands;
  std::vector<VulkanBlock> freeBlocks, freeParameters;
  /// Becomes nonzero when a kernel has waited too long.
  VulkanBlock stuck;
  std::atomic<volatile uint32_t *> stuckWord{nullptr};
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANWORK_H
