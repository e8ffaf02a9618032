//===- VulkanKernels.h - code for devices of Vulkan -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are made when they are first launched. What a module needs of the
// device is written in front of it (OpCapability), and looked at before the
// driver, which need not say what it lacks. What the driver makes of a kernel
// is kept on disk, in an entry of its own.
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
  /// 0 where buffers are used by their addresses.
  vk::SetLayout setLayout = 0;
  /// The one that strides over the grid, once it was asked for; and of such a
  /// one how many blocks the device has at once.
  mutable std::unique_ptr<VulkanKernel> strided;
  int64_t blocksAtOnce = 0;

  ~VulkanKernel() {
    device.vk.destroyPipeline(device.device, pipeline, nullptr);
  }
};

class VulkanKernels {
public:
  /// `index`: that of the runtime's device.
  VulkanKernels(const VulkanDevice &device, int index)
      : device(device), index(index) {}

  ~VulkanKernels();
  bool start(Error &error);
  /// Null with the error set.
  const VulkanKernel *get(RelaxDeviceKernel &kernel, Error &error);
  /// The kernel that strides over the grid. Null with the error set.
  const VulkanKernel *getStrided(const VulkanKernel &kernel, Error &error);

private:
  /// How parameters, and so many buffers, are handed to a kernel; they stay.
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
