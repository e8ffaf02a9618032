//===- VulkanDevice.h - a device of Vulkan, and its memory ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device can do, as it says itself; and blocks of its memory, by their
// addresses. Drivers give few allocations (4096 at times), so small blocks lie
// together in slabs.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANDEVICE_H
#define RELAX_RUNTIME_VULKAN_VULKANDEVICE_H

#include "Runtime/Calls/Arguments.h"
#include "Runtime/Vulkan/VulkanFunctions.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace relax_rt {

/// The first version with addresses of buffers, and timelines.
constexpr uint32_t kLeastVulkan = vk::version(1, 2);

const char *textOf(vk::Result result);
std::string versionText(uint32_t version);

struct VulkanLoader {
  vk::Library vk;
  vk::Instance instance = nullptr;
};

/// The one of the process. Null with the error set; tried again the next time.
const VulkanLoader *openVulkanLoader(Error &error);
/// Those with memory of their own first, those of the CPU last.
bool listDevices(const VulkanLoader &loader, std::vector<vk::Physical> &devices,
                 Error &error);

struct VulkanDevice {
  VulkanDevice() = default;
  VulkanDevice(const VulkanDevice &) = delete;
  VulkanDevice &operator=(const VulkanDevice &) = delete;
  ~VulkanDevice() {
    if (device && vk.destroyDevice)
      vk.destroyDevice(device, nullptr);
  }

  vk::Library vk;
  vk::Physical physical = nullptr;
  vk::Device device = nullptr;
  vk::Queue queue = nullptr;
  uint32_t family = 0;

  /// "vulkan:0 (llvmpipe)".
  std::string title, name;
  uint32_t api = 0;
  /// The driver, its version included.
  std::string identity;
  int64_t bytes = 0;
  vk::MemoryProperties memory{};
  vk::Size maxAllocation = 0;
  float nanosecondsOfTick = 1;

  // What kernels may have.
  uint32_t maxPushed = 0, maxSharedBytes = 0, maxGroups[3] = {}, maxThreads = 0;
  uint32_t subgroup = 0;
  /// Whether no block of a launch is begun before all of earlier ones are: what
  /// waits for those has them run.
  bool takesBlocksInOrder = false;
  /// Multiprocessors, and subgroups that one has at once, where the driver
  /// tells the registers of kernels as well; else 0.
  uint32_t multiprocessors = 0, subgroupsAtOnce = 0;
  /// Whether the driver chooses among several widths unless it is told.
  bool hasWidths = false, hasFullSubgroups = false;
  bool hasShuffles = false, hasInt8 = false, hasInt16 = false, hasInt64 = false,
       hasFloat16 = false, hasFloat64 = false, hasStorage8 = false,
       hasStorage16 = false, hasIEEE = false, hasMemoryModel = false;
  /// Whether buffers have addresses; else they are bound to kernels.
  bool hasAddresses = false;
  /// Buffers that a kernel may be bound, and the bytes of each.
  uint32_t maxBindings = 0;
  vk::Size maxBound = 0;
  /// Whether a subgroup has matrices of 16 x 16 elements together, of f16 and
  /// of bf16, and f32 sums of their products.
  bool hasMatrices = false;

  /// How many threads exchange values; 1 where none do.
  uint32_t exchangingThreads() const { return hasShuffles ? subgroup : 1; }
  /// What code is compiled for, as a target names it: "subgroup_8_bound".
  std::string architecture() const;

  /// False with the error set where `result` is one.
  bool check(vk::Result result, const char *what, Error &error) const {
    return result == vk::kSuccess || report(result, what, error);
  }
  bool report(vk::Result result, const std::string &what, Error &error) const;

  /// Opens the device of a number: those of their own memory first. Null with
  /// the error set.
  static std::unique_ptr<VulkanDevice> open(int32_t id, Error &error);
};

/// A buffer with memory of its own.
struct VulkanBlock {
  vk::Memory memory = 0;
  vk::Buffer buffer = 0;
  /// One that no other block has; of the buffer, where those have some.
  uint64_t address = 0;
  vk::Size bytes = 0;
  /// In the host's memory, where the block is there.
  char *data = nullptr;

  enum class Result { Made, NoMemory, Failed };
  /// `Failed` with the error set. What the host writes a little of is where the
  /// device reads it fast with `isNear`, if there is such memory.
  Result make(const VulkanDevice &device, vk::Size size, bool forHost,
              Error &error, bool isNear = false);
  void destroy(const VulkanDevice &device);
};

/// Memory of a device. Its functions may be called by several threads.
class VulkanMemory {
public:
  explicit VulkanMemory(const VulkanDevice &device) : device(device) {}

  /// True with null where there is none; false with the error set.
  bool allocate(size_t bytes, void *&data, Error &error);
  void free(void *data);

  struct Place {
    vk::Buffer buffer = 0;
    vk::Size offset = 0, left = 0;
  };
  /// Where an address is; no buffer where it is none of this device.
  Place find(const void *data);

private:
  struct Slab {
    VulkanBlock block;
    /// Free parts: how many bytes at each offset.
    std::map<vk::Size, vk::Size> free;
  };
  static constexpr vk::Size kSlab = vk::Size(32) << 20, kAlign = 256;

  bool takeFrom(Slab &slab, vk::Size bytes, uint64_t &address);

  const VulkanDevice &device;
  std::mutex mutex;
  std::map<uint64_t, Slab> slabs; // by address
  std::map<uint64_t, vk::Size> sizes;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANDEVICE_H
