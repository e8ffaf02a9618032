//===- VulkanDevice.h - a Vulkan device and its memory ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The capabilities that a device reports, and blocks of its memory, found by
// address. Drivers limit the number of allocations (to 4096 at times), so small
// blocks share slabs.
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

/// The first version with buffer addresses and timeline semaphores.
constexpr uint32_t kLeastVulkan = vk::version(1, 2);

const char *textOf(vk::Result result);
std::string versionText(uint32_t version);

struct VulkanLoader {
  vk::Library vk;
  vk::Instance instance = nullptr;
};

/// Returns the loader of the process. Returns null with `error` set on failure;
/// the next call tries again.
const VulkanLoader *openVulkanLoader(Error &error);
/// Lists devices with their own memory first and CPU devices last.
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
  /// The driver and its version.
  std::string identity;
  int64_t bytes = 0;
  vk::MemoryProperties memory{};
  vk::Size maxAllocation = 0;
  float nanosecondsOfTick = 1;
  /// The bits of a time on the device that count; 0 if it takes no times.
  uint64_t tickMask = 0;

  // Limits of kernels.
  uint32_t maxPushed = 0, maxSharedBytes = 0, maxGroups[3] = {}, maxThreads = 0;
  uint32_t subgroup = 0;
  /// Whether no block of a launch starts before all blocks of earlier launches
  /// have: then a kernel that waits for an earlier one cannot deadlock.
  bool takesBlocksInOrder = false;
  /// The number of multiprocessors and of resident subgroups on each; 0 if the
  /// driver does not report these and the registers of kernels.
  uint32_t multiprocessors = 0, subgroupsAtOnce = 0;
  /// Whether the driver picks one of several subgroup sizes unless one is
  /// requested.
  bool hasWidths = false, hasFullSubgroups = false;
  bool hasShuffles = false, hasInt8 = false, hasInt16 = false, hasInt64 = false,
       hasFloat16 = false, hasFloat64 = false, hasStorage8 = false,
       hasStorage16 = false, hasIEEE = false, hasMemoryModel = false;
  /// Whether buffers have addresses; otherwise they are bound by descriptors.
  bool hasAddresses = false;
  /// The most buffers that a kernel can bind, and the most bytes of each.
  uint32_t maxBindings = 0;
  vk::Size maxBound = 0;
  /// Whether subgroups support 16 x 16 matrices of f16 and bf16 with products
  /// summed in f32.
  bool hasMatrices = false;

  /// How many threads can exchange values; 1 if unsupported.
  uint32_t exchangingThreads() const { return hasShuffles ? subgroup : 1; }
  /// The architecture that code is compiled for, as targets name it:
  /// "subgroup_8_bound".
  std::string architecture() const;

  /// Returns false with `error` set if `result` is an error.
  bool check(vk::Result result, const char *what, Error &error) const {
    return result == vk::kSuccess || report(result, what, error);
  }
  bool report(vk::Result result, const std::string &what, Error &error) const;

  /// Opens the device of a number; devices with their own memory come first.
  /// Returns null with `error` set.
  static std::unique_ptr<VulkanDevice> open(int32_t id, Error &error);
};

/// A buffer and its memory.
struct VulkanBlock {
  vk::Memory memory = 0;
  vk::Buffer buffer = 0;
  /// A unique address: the buffer's, or an invented one if buffers have none.
  uint64_t address = 0;
  vk::Size bytes = 0;
  /// The host mapping, if the block is in host memory.
  char *data = nullptr;

  enum class Result { Made, NoMemory, Failed };
  /// Returns `Failed` with `error` set. `isNear` asks for memory, if there is
  /// any, that the device reads fast, for small data that the host writes.
  Result make(const VulkanDevice &device, vk::Size size, bool forHost,
              Error &error, bool isNear = false);
  void destroy(const VulkanDevice &device);
};

/// The memory of a device. Thread-safe.
class VulkanMemory {
public:
  explicit VulkanMemory(const VulkanDevice &device) : device(device) {}

  /// Returns true with null if out of memory; false with `error` set.
  bool allocate(size_t bytes, void *&data, Error &error);
  void free(void *data);

  struct Place {
    vk::Buffer buffer = 0;
    vk::Size offset = 0, left = 0;
  };
  /// Finds the buffer of an address; none if it is not on this device.
  Place find(const void *data);

private:
  struct Slab {
    VulkanBlock block;
    /// Free ranges: size by offset.
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
