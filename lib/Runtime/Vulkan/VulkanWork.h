//===- VulkanWork.h - what a device of Vulkan is given to do ----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All streams share a queue: each list of commands begins with a barrier, as
// does whatever may read what came before it. A timeline counts the
// submissions; lists, and the host's memory that they use, are used again when
// theirs has been reached.
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

/// A kernel with what is pushed to it.
struct VulkanLaunch {
  vk::Pipeline pipeline = 0;
  vk::Layout layout = 0;
  int64_t grid[3] = {};
  uint64_t pushed[kMostPushedWords] = {};
  uint32_t bytes = 0; // of what is pushed
  /// Whether its blocks stride over a larger grid.
  bool isStrided = false;

  /// INT64_MAX: those, or more.
  int64_t blocks() const {
    int64_t product = 1;
    for (int64_t size : grid)
      if (__builtin_mul_overflow(product, size, &product))
        return INT64_MAX;
    return product;
  }
};

/// Commands, and the memory of the host that they read or write.
struct Recording {
  vk::Commands commands = nullptr;
  std::vector<VulkanBlock> blocks;
  vk::Size used = 0; // of the last block
  VulkanSetPools sets;
  /// What kernels read that have more parameters than are pushed.
  std::vector<VulkanBlock> parameters;
  vk::Size parametersUsed = 0;
  int launches = 0;
  /// The last launch, where the next one may wait for it without a barrier: it
  /// is no command before that is known. Where the blocks count themselves of
  /// the next one that is waited for.
  std::optional<VulkanLaunch> last;
  uint64_t counter = 0, counterEnd = 0;
  ListTimes times;
};

struct Stream {
  Recording recording;
  bool isCaptured = false;
};

/// All but `wait` is called under the mutex.
class VulkanWork {
protected:
  explicit VulkanWork(std::unique_ptr<VulkanDevice> opened)
      : device(std::move(opened)), vk(device->vk), bindings(*device),
        times(*device) {}

  /// Bytes that are copied from or to the host at once, and of a block of its
  /// memory at least.
  static constexpr vk::Size kPiece = 16 << 20, kBlock = 1 << 20,
                            kParameters = 64 << 10, kCounters = 32 << 10,
                            kCounterBytes = 128;
  /// Blocks of a launch that waits itself, unless they stride over a larger
  /// grid, and of any that does or that is waited for so: all of them are on a
  /// large device at once, and those who look are few.
  static constexpr int64_t kMostWaiting = 256, kMostAwaited = 1056;
  /// Free blocks that are kept.
  static constexpr size_t kKept = 16;

  ~VulkanWork();
  bool start(Error &error);
  bool begin(Stream &stream, Error &error);
  /// What follows sees what came before.
  void order(Recording &recording);
  void dispatch(Recording &recording, VulkanLaunch &launch);
  /// The last launch becomes a command, if it is none yet.
  void finish(Recording &recording);
  /// A launch that may wait for the last one itself, or behind a barrier.
  bool follow(Recording &recording, const VulkanLaunch &launch, Error &error);
  bool makeStuck(Error &error);
  /// Memory of the host for a list: its last block has it at `offset`.
  bool reserve(Recording &recording, vk::Size bytes, vk::Size &offset,
               Error &error);
  /// The same for parameters of a kernel: where the host writes them, and where
  /// the device reads them.
  bool reserveParameters(Recording &recording, vk::Size bytes, uint64_t *&words,
                         uint64_t &address, Error &error);
  /// Memory of the host, where there is some; `use` says what it is for.
  bool makeBlock(VulkanBlock &block, vk::Size bytes, const std::string &use,
                 Error &error, bool isNear = false);
  bool takeBlock(vk::Size bytes, VulkanBlock &block, Error &error);
  void giveBlock(VulkanBlock &block);
  void recycle(Recording &recording, bool isDone = false);
  /// Takes back what the device is done with.
  void retire();
  bool submitCommands(vk::Commands commands, Error &error);
  bool submit(Stream &stream, Error &error);
  /// Looks for a while, since waiting takes long to wake up.
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
  /// The timeline's value when all that was submitted is done.
  uint64_t submitted = 0;
  std::deque<UnderWay> underWay;
  std::vector<vk::Commands> freeCommands;
  std::vector<VulkanBlock> freeBlocks, freeParameters;
  /// Is not 0 when a kernel has waited too long.
  VulkanBlock stuck;
  std::atomic<volatile uint32_t *> stuckWord{nullptr};
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANWORK_H
