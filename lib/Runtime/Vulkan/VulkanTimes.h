//===- VulkanTimes.h - kernel times on a Vulkan device ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a profile is active (KernelTimes.h), or with RELAX_DEVICE_TIMES=1, the
// device records a time before and after each launch of a command list that is
// submitted once. A profile gets the times when the host has waited for the
// device; with the variable, each wait reports the time spent in each kernel
// since the last report. The time includes waiting for other kernels. Devices
// whose queue takes no times are not measured.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANTIMES_H
#define RELAX_RUNTIME_VULKAN_VULKANTIMES_H

#include "Runtime/Vulkan/VulkanDevice.h"

#include <string>

namespace relax_rt {

/// The times of a command list.
struct ListTimes {
  struct Launch {
    std::string name, function, location;
  };

  /// How many launches are measured; lists are submitted after fewer.
  static constexpr uint32_t kMost = 128;

  bool hasRoom() const { return pool && launches.size() < kMost; }

  /// Two times for each launch.
  vk::QueryPool pool = 0;
  std::vector<Launch> launches;
  bool isProfiled = false, isReported = false;
};

/// All functions must be called under the mutex of the work.
class VulkanTimes {
public:
  explicit VulkanTimes(const VulkanDevice &device) : device(device) {}

  /// Called at the beginning of a list.
  void begin(ListTimes &list, vk::Commands commands);
  /// Called directly before a launch, and after it.
  void noteBegin(const ListTimes &list, vk::Commands commands);
  void noteEnd(ListTimes &list, vk::Commands commands, const char *name);
  /// Called when a list has finished or is discarded.
  void end(ListTimes &list, bool isDone);
  /// Prints the times so far and resets them.
  void report();

private:
  const VulkanDevice &device;
  struct Sum {
    uint64_t ticks = 0, launches = 0;
  };
  std::map<std::string, Sum> sums;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANTIMES_H
