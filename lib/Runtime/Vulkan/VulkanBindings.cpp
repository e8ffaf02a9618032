//===- VulkanBindings.cpp - descriptor sets of kernels --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanBindings.h"

#include <algorithm>

using namespace relax_rt;

vk::Result VulkanBindings::makePool(uint32_t buffers, vk::SetPool &pool) {
  if (!freePools.empty() && buffers <= kBuffers) {
    pool = freePools.back();
    freePools.pop_back();
    return vk::kSuccess;
  }
  vk::SetPoolSize size;
  size.count = std::max(buffers, kBuffers);
  vk::SetPoolInfo info;
  info.mostSets = kSets;
  info.sizes = &size;
  return device.vk.createSetPool(device.device, &info, nullptr, &pool);
}

bool VulkanBindings::bind(vk::Commands commands, VulkanSetPools &pools,
                          vk::Layout layout, vk::SetLayout setLayout,
                          const std::vector<vk::BoundBuffer> &buffers,
                          Error &error) {
  const vk::Library &vk = device.vk;
  uint32_t count = static_cast<uint32_t>(buffers.size());
  vk::SetInfo info;
  info.layouts = &setLayout;
  vk::Set set = 0;
  auto allocate = [&] {
    info.pool = pools.back();
    return vk.allocateSets(device.device, &info, &set);
  };
  // An exhausted pool reports that it is out of memory.
  if (pools.empty() || allocate() != vk::kSuccess) {
    vk::SetPool pool = 0;
    if (!device.check(makePool(count, pool), "creating a descriptor pool",
                      error))
      return false;
    pools.push_back(pool);
    if (!device.check(allocate(), "binding buffers", error))
      return false;
  }
  vk::SetWrite write;
  write.set = set;
  write.count = count;
  write.buffers = buffers.data();
  vk.updateSets(device.device, 1, &write, 0, nullptr);
  vk.bindSets(commands, vk::kComputePoint, layout, 0, 1, &set, 0, nullptr);
  return true;
}

void VulkanBindings::giveBack(VulkanSetPools &pools) {
  for (vk::SetPool pool : pools) {
    if (freePools.size() < kKept &&
        device.vk.resetSetPool(device.device, pool, 0) == vk::kSuccess)
      freePools.push_back(pool);
    else
      device.vk.destroySetPool(device.device, pool, nullptr);
  }
  pools.clear();
}
