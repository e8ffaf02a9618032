//===- VulkanTimes.cpp - kernel times on a Vulkan device ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanTimes.h"
#include "Runtime/Calls/Device.h"
#include "Runtime/Core/KernelTimes.h"
#include "Runtime/Core/Kernels.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace relax_rt;

void VulkanTimes::begin(ListTimes &list, vk::Commands commands) {
  list.isProfiled = isProfiling();
  list.isReported = isOn("RELAX_DEVICE_TIMES");
  if (!device.tickMask || (!list.isProfiled && !list.isReported))
    return;
  vk::QueryInfo info;
  info.count = 2 * ListTimes::kMost;
  if (device.vk.createQueries(device.device, &info, nullptr, &list.pool)) {
    list.pool = 0;
    return;
  }
  device.vk.resetQueries(commands, list.pool, 0, info.count);
}

void VulkanTimes::noteBegin(const ListTimes &list, vk::Commands commands) {
  if (list.hasRoom())
    device.vk.noteTime(commands, vk::kAtEnd, list.pool,
                       2 * list.launches.size());
}

void VulkanTimes::noteEnd(ListTimes &list, vk::Commands commands,
                          const char *name) {
  if (!list.hasRoom())
    return;
  device.vk.noteTime(commands, vk::kAtEnd, list.pool,
                     2 * list.launches.size() + 1);
  // The code may be gone when the launch has ended.
  RelaxContext *call = currentCall();
  auto text = [](const char *given) { return given ? given : ""; };
  list.launches.push_back({name, text(call ? call->error.function : nullptr),
                           text(call ? call->lastLaunch : nullptr)});
}

/// Returns the name that the kernel has in the program.
static const char *nameOf(const ListTimes::Launch &launch) {
  constexpr std::string_view prefix = "relax_kernel_";
  bool hasPrefix = !launch.name.compare(0, prefix.size(), prefix);
  return launch.name.c_str() + (hasPrefix ? prefix.size() : 0);
}

void VulkanTimes::end(ListTimes &list, bool isDone) {
  if (!list.pool)
    return;
  std::vector<uint64_t> ticks(2 * list.launches.size());
  // Does not wait: all times are there when the list has finished.
  if (isDone && !ticks.empty() &&
      !device.vk.getQueries(device.device, list.pool, 0, ticks.size(),
                            ticks.size() * sizeof(uint64_t), ticks.data(),
                            sizeof(uint64_t), vk::kWide))
    for (size_t i = 0; i < list.launches.size(); ++i) {
      const ListTimes::Launch &launch = list.launches[i];
      uint64_t took = (ticks[2 * i + 1] - ticks[2 * i]) & device.tickMask;
      if (list.isProfiled)
        addTime(nameOf(launch), launch.function.c_str(),
                launch.location.c_str(),
                static_cast<int64_t>(static_cast<double>(took) *
                                     device.nanosecondsOfTick));
      if (!list.isReported)
        continue;
      Sum &sum = sums[launch.name];
      sum.ticks += took;
      ++sum.launches;
    }
  device.vk.destroyQueries(device.device, list.pool, nullptr);
  list = {};
}

void VulkanTimes::report() {
  if (sums.empty())
    return;
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.ticks > b.second.ticks;
  });
  for (const auto &[name, sum] : sorted)
    fprintf(stderr, "%10.1f us %5llu x %s\n",
            static_cast<double>(sum.ticks) * device.nanosecondsOfTick * 1e-3,
            static_cast<unsigned long long>(sum.launches), name.c_str());
  sums.clear();
}
