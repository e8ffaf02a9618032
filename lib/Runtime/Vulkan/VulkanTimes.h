//===- VulkanTimes.h - what kernels take on a device of Vulkan --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With RELAX_DEVICE_TIMES=1 the device notes the time behind each launch of a
// list of commands that is submitted once, and whoever waits for the device is
// told what all launches of each kernel took since the last time. What a kernel
// waits for is counted with it.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANTIMES_H
#define RELAX_RUNTIME_VULKAN_VULKANTIMES_H

#include "Runtime/Vulkan/VulkanDevice.h"

#include <string>

namespace relax_rt {

/// The times of a list of commands.
struct ListTimes {
  vk::QueryPool pool = 0;
  /// What lies behind each time but the first.
  std::vector<std::string> names;
};

/// Its functions are called under the mutex of the work.
class VulkanTimes {
public:
  explicit VulkanTimes(const VulkanDevice &device) : device(device) {}

  /// At the beginning of a list.
  void begin(ListTimes &list, vk::Commands commands);
  /// Behind a launch.
  void note(ListTimes &list, vk::Commands commands, const char *name);
  /// When a list is done, or is given up.
  void end(ListTimes &list, bool isDone);
  /// Tells what is known, and forgets it.
  void report();

private:
  static constexpr uint32_t kMost = 1024;

  const VulkanDevice &device;
  struct Sum {
    uint64_t ticks = 0, launches = 0;
  };
  std::map<std::string, Sum> sums;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANTIMES_H
