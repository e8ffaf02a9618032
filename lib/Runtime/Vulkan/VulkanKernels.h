//===- VulkanKernels.h - Vulkan pipelines of kernels ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled at their first launch. A module declares the device
// features it needs (OpCapability). These are checked here first, since drivers
// need not report what they lack. Compiled kernels are cached on disk, one
// entry each.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANKERNELS_H
#define RELAX_RUNTIME_VULKAN_VULKANKERNELS_H

#include "Runtime/Core/RelaxRuntime.h"
#include "Runtime/Vulkan/VulkanDevice.h"
#include "Runtime/Vulkan/VulkanImage.h"

#include <atomic>
#include <memory>

namespace relax_rt {

struct VulkanKernel {
  const VulkanDevice &device;
  const VulkanKernelImage *image = nullptr;
  vk::Pipeline pipeline = 0;
  vk::Layout layout = 0;
  /// 0 if buffers are used by address.
  vk::SetLayout setLayout = 0;
  /// The variant that strides over the grid, once requested; and, in such a
  /// variant, the number of resident blocks.
  mutable std::unique_ptr<VulkanKernel> strided;
  int64_t blocksAtOnce = 0;

  ~VulkanKernel() {
    device.vk.destroyPipeline(device.device, pipeline, nullptr);
  }
};

class VulkanKernels {
public:
  /// `index` is the runtime's index of the device.
  VulkanKernels(const VulkanDevice &device, int index)
      : device(device), index(index) {}

  ~VulkanKernels();
  bool start(Error &error);
  /// Returns null with `error` set.
  const VulkanKernel *get(RelaxDeviceKernel &kernel, Error &error);
  /// Returns the variant that strides over the grid. Returns null with `error`
  /// set.
  const VulkanKernel *getStrided(const VulkanKernel &kernel, Error &error);

private:
  /// Pipeline layouts by number of buffers; never destroyed.
  struct Layouts {
    vk::Layout layout = 0;
    vk::SetLayout set = 0;
  };
  bool layoutsFor(uint32_t bindings, Layouts &found, Error &error);
  vk::Result makeLayout(Layouts &made);
  std::atomic<void *> &placeOf(RelaxDeviceKernel &kernel);
  VulkanKernel *load(RelaxDeviceKernel &kernel, Error &error);
  VulkanKernel *make(const VulkanKernelImage &image, bool isStrided,
                     Error &error);
  vk::Result makePipeline(const VulkanKernelImage &image,
                          const vk::ComputeInfo &info, vk::Pipeline &pipeline);
  int64_t countAtOnce(const VulkanKernelImage &image, vk::Pipeline pipeline);
  bool check(const VulkanKernelImage &image, std::string &lacks) const;

  const VulkanDevice &device;
  const int index;
  Layouts plain;
  std::map<uint32_t, Layouts> bound;
  std::mutex mutex;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANKERNELS_H
