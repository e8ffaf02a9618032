//===- VulkanBindings.h - descriptor sets of kernels ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On devices without buffer addresses, each launch has a descriptor set. Sets
// come from pools, which a command list keeps for as long as it may run.
//
// A kernel gets whole memory blocks (VulkanDevice.h) and adds the byte offset
// of its own data; so tensors may begin anywhere, and several may share a
// block.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H
#define RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H

#include "Runtime/Vulkan/VulkanDevice.h"

namespace relax_rt {

/// The descriptor pools of a command list; the last one has free sets.
using VulkanSetPools = std::vector<vk::SetPool>;

/// All functions must be called under the mutex of the device's work.
class VulkanBindings {
public:
  explicit VulkanBindings(const VulkanDevice &device) : device(device) {}

  /// Binds buffers for the next launch.
  bool bind(vk::Commands commands, VulkanSetPools &pools, vk::Layout layout,
            vk::SetLayout setLayout,
            const std::vector<vk::BoundBuffer> &buffers, Error &error);
  /// Takes back pools whose command list no longer runs.
  void giveBack(VulkanSetPools &pools);

private:
  /// The capacity of a pool; a kernel with more buffers gets its own pool.
  static constexpr uint32_t kSets = 64, kBuffers = 512;
  /// The number of free pools that are kept.
  static constexpr size_t kKept = 16;

  vk::Result makePool(uint32_t buffers, vk::SetPool &pool);

  const VulkanDevice &device;
  std::vector<vk::SetPool> freePools;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H
