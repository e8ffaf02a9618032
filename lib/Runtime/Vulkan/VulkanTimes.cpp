//===- VulkanTimes.cpp - kernel times on a Vulkan device ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanTimes.h"
#include "Runtime/Calls/Device.h"

#include <algorithm>
#include <cstdio>

using namespace relax_rt;

void VulkanTimes::begin(ListTimes &list, vk::Commands commands) {
  if (!isOn("RELAX_DEVICE_TIMES"))
    return;
  vk::QueryInfo info;
  info.count = kMost;
  if (device.vk.createQueries(device.device, &info, nullptr, &list.pool)) {
    list.pool = 0;
    return;
  }
  device.vk.resetQueries(commands, list.pool, 0, kMost);
  device.vk.noteTime(commands, vk::kAtEnd, list.pool, 0);
}

void VulkanTimes::note(ListTimes &list, vk::Commands commands,
                       const char *name) {
  if (!list.pool || list.names.size() + 1 >= kMost)
    return;
  list.names.push_back(name);
  device.vk.noteTime(commands, vk::kAtEnd, list.pool, list.names.size());
}

void VulkanTimes::end(ListTimes &list, bool isDone) {
  if (!list.pool)
    return;
  std::vector<uint64_t> ticks(list.names.size() + 1);
  if (isDone &&
      !device.vk.getQueries(device.device, list.pool, 0, ticks.size(),
                            ticks.size() * sizeof(uint64_t), ticks.data(),
                            sizeof(uint64_t), vk::kWide | vk::kWaits))
    for (size_t i = 0; i < list.names.size(); ++i) {
      Sum &sum = sums[list.names[i]];
      sum.ticks += ticks[i + 1] - ticks[i];
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
