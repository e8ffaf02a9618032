//===- VulkanBindings.h - buffers that are bound to kernels -----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where buffers have no addresses, each launch has a set of them. Sets come
// from pools, which a list of commands has for as long as it may run.
//
// A kernel is bound whole blocks of memory (VulkanDevice.h), and adds how many
// bytes lie before its own; so tensors may begin anywhere, and several of one
// block are no matter.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H
#define RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H

#include "Runtime/Vulkan/VulkanDevice.h"

namespace relax_rt {

/// The pools of a list of commands; the last one has sets left.
using VulkanSetPools = std::vector<vk::SetPool>;

/// All of it under the mutex of the device's work.
class VulkanBindings {
public:
  explicit VulkanBindings(const VulkanDevice &device) : device(device) {}

  /// Binds buffers to what is launched next.
  bool bind(vk::Commands commands, VulkanSetPools &pools, vk::Layout layout,
            vk::SetLayout setLayout,
            const std::vector<vk::BoundBuffer> &buffers, Error &error);
  /// The list does not run any more.
  void giveBack(VulkanSetPools &pools);

private:
  /// Of a pool; a kernel that is bound more has a pool of its own.
  static constexpr uint32_t kSets = 64, kBuffers = 512;
  /// Free pools that are kept.
  static constexpr size_t kKept = 16;

  vk::Result makePool(uint32_t buffers, vk::SetPool &pool);

  const VulkanDevice &device;
  std::vector<vk::SetPool> freePools;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANBINDINGS_H
