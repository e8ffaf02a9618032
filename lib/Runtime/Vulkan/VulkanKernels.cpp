//===- VulkanKernels.cpp - Vulkan pipelines of kernels --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanKernels.h"
#include "Runtime/Calls/Device.h"
#include "Runtime/Core/DiskCache.h"
#include "Runtime/Core/SHA256.h"

#include <algorithm>
#include <cstring>

using namespace relax_rt;

/// Parameters in memory take a binding, too.
static uint32_t countBindings(const VulkanKernelImage &image) {
  return static_cast<uint32_t>(image.bindingCount) +
         (image.headWords + image.parameterCount > image.pushedWords ? 1 : 0);
}

vk::Result VulkanKernels::makeLayout(Layouts &made) {
  vk::PushRange range{vk::kComputeStage, 0, device.maxPushed};
  vk::LayoutInfo info;
  info.rangeCount = 1;
  info.ranges = &range;
  info.setCount = made.set ? 1 : 0;
  info.sets = &made.set;
  return device.vk.createLayout(device.device, &info, nullptr, &made.layout);
}

bool VulkanKernels::start(Error &error) {
  return device.check(makeLayout(plain), "creating the layout of kernels",
                      error);
}

bool VulkanKernels::layoutsFor(uint32_t bindings, Layouts &found,
                               Error &error) {
  Layouts &made = bound[bindings];
  std::vector<vk::Binding> all(bindings);
  for (uint32_t i = 0; i < bindings; ++i)
    all[i].number = i;
  vk::SetLayoutInfo info;
  info.count = bindings;
  info.bindings = all.data();
  vk::Result result = vk::kSuccess;
  if (!made.set)
    result =
        device.vk.createSetLayout(device.device, &info, nullptr, &made.set);
  if (!result && !made.layout)
    result = makeLayout(made);
  found = made;
  return device.check(result, "creating the layout of kernels", error);
}

// Runs only if the device failed to start; other devices are never destroyed.
VulkanKernels::~VulkanKernels() {
  if (plain.layout)
    device.vk.destroyLayout(device.device, plain.layout, nullptr);
}

std::atomic<void *> &VulkanKernels::placeOf(RelaxDeviceKernel &kernel) {
  auto unload = [](relax_rt::Device &, void *kernel) {
    delete static_cast<VulkanKernel *>(kernel);
  };
  return Loaded::of(kernel.loaded, unload).on[index];
}

const VulkanKernel *VulkanKernels::get(RelaxDeviceKernel &kernel,
                                       Error &error) {
  std::atomic<void *> &place = placeOf(kernel);
  if (void *known = place.load(std::memory_order_acquire))
    return static_cast<VulkanKernel *>(known);
  std::lock_guard<std::mutex> lock(mutex);
  if (void *known = place.load(std::memory_order_acquire))
    return static_cast<VulkanKernel *>(known);
  VulkanKernel *made = load(kernel, error);
  if (made)
    place.store(made, std::memory_order_release);
  return made;
}

const VulkanKernel *VulkanKernels::getStrided(const VulkanKernel &kernel,
                                              Error &error) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!kernel.strided)
    kernel.strided.reset(make(kernel.image[kernel.image->stridedOffset],
                              /*isStrided=*/true, error));
  return kernel.strided.get();
}

bool VulkanKernels::check(const VulkanKernelImage &image,
                          std::string &lacks) const {
  if (image.sharedBytes > device.maxSharedBytes) {
    lacks = std::to_string(image.sharedBytes) +
            " bytes of shared memory per block; it has " +
            std::to_string(device.maxSharedBytes);
    return false;
  }
  if (image.threads > device.maxThreads) {
    lacks = "blocks of " + std::to_string(image.threads) +
            " threads; it has at most " + std::to_string(device.maxThreads);
    return false;
  }
  if (image.bindingCount >= 0 && countBindings(image) > device.maxBindings) {
    lacks = std::to_string(countBindings(image)) +
            " bound buffers per kernel; it has at most " +
            std::to_string(device.maxBindings);
    return false;
  }
  // A required subgroup size implies shuffles.
  if (image.subgroup &&
      (image.subgroup != device.subgroup || !device.hasShuffles)) {
    lacks = "subgroups of " + std::to_string(image.subgroup) +
            " threads with shuffles; its subgroups have " +
            std::to_string(device.exchangingThreads());
    return false;
  }
  if (image.pushedWords * sizeof(uint64_t) > device.maxPushed) {
    lacks = std::to_string(image.pushedWords * sizeof(uint64_t)) +
            " bytes of push constants; it has " +
            std::to_string(device.maxPushed);
    return false;
  }
  // The first word of an instruction holds its length and opcode.
  constexpr uint32_t kCapability = 17;
  constexpr int64_t kHeader = 5;
  int64_t count = image.codeBytes / 4;
  for (int64_t at = kHeader;
       at + 1 < count && (image.code[at] & 0xffff) == kCapability;
       at += image.code[at] >> 16) {
    struct Known {
      uint32_t number;
      bool isThere;
      std::string name;
    };
    const Known all[] = {
        {1, true, "Shader"},
        {9, device.hasFloat16, "arithmetic in f16 (Float16)"},
        {10, device.hasFloat64, "arithmetic in f64 (Float64)"},
        {11, device.hasInt64, "64-bit integers (Int64)"},
        {22, device.hasInt16, "16-bit integers (Int16)"},
        {39, device.hasInt8, "8-bit integers (Int8)"},
        {61, true, "GroupNonUniform"},
        {65, device.hasShuffles, "exchange among threads (Shuffle)"},
        {4433, device.hasStorage16,
         "16 bits in memory (StorageBuffer16BitAccess)"},
        {4448, device.hasStorage8,
         "8 bits in memory (StorageBuffer8BitAccess)"},
        {4466, device.hasIEEE,
         "infinities and NaN in f16, f32 or f64 (SignedZeroInfNanPreserve)"},
        {5116, device.hasMatrices, "bf16 (BFloat16TypeKHR)"},
        {5118, device.hasMatrices,
         "matrices of bf16 (BFloat16CooperativeMatrixKHR)"},
        {5345, device.hasMemoryModel, "the memory model (VulkanMemoryModel)"},
        {5346, device.hasMemoryModel,
         "the memory model of a device (VulkanMemoryModelDeviceScope)"},
        {5347, device.hasAddresses,
         "buffer addresses (PhysicalStorageBufferAddresses)"},
        {6022, device.hasMatrices,
         "matrices of subgroups (CooperativeMatrixKHR)"},
    };
    bool isThere = false;
    lacks = "capability " + std::to_string(image.code[at + 1]) + " of SPIR-V";
    for (const Known &known : all)
      if (known.number == image.code[at + 1]) {
        isThere = known.isThere;
        lacks = known.name;
      }
    if (!isThere)
      return false;
  }
  return true;
}

/// The cache key: everything that the compiled kernel depends on.
static std::string keyOf(const VulkanDevice &device,
                         const VulkanKernelImage &image) {
  SHA256 hash;
  std::string what = "pipeline " + device.identity + " subgroup " +
                     std::to_string(image.subgroup) + " ";
  hash.update(what.data(), what.size());
  hash.update(image.code, image.codeBytes);
  return SHA256::hex(hash.finish());
}

vk::Result VulkanKernels::makePipeline(const VulkanKernelImage &image,
                                       const vk::ComputeInfo &info,
                                       vk::Pipeline &pipeline) {
  // Without a cache, the driver compiles the kernel anyway.
  vk::Cache cache = 0;
  std::string key, known;
  if (DiskCache::isEnabled()) {
    key = keyOf(device, image);
    DiskCache::read("pipeline", key, known);
    vk::CacheInfo cacheInfo;
    cacheInfo.bytes = known.size();
    cacheInfo.data = known.data();
    if (device.vk.createCache(device.device, &cacheInfo, nullptr, &cache))
      cache = 0;
  }
  vk::Result result = device.vk.createPipelines(device.device, cache, 1, &info,
                                                nullptr, &pipeline);
  if (!cache)
    return result;
  // Some drivers return only a header.
  constexpr size_t kHeader = 32;
  size_t bytes = 0;
  if (!result &&
      !device.vk.getCacheData(device.device, cache, &bytes, nullptr) &&
      bytes > kHeader && bytes != known.size()) {
    std::string made(bytes, '\0');
    if (!device.vk.getCacheData(device.device, cache, &bytes, &made[0]))
      DiskCache::write("pipeline", key, made.data(), bytes);
  }
  device.vk.destroyCache(device.device, cache, nullptr);
  return result;
}

/// How many blocks of a kernel are resident on the device, by its threads and
/// registers. If the driver does not report registers, returns a value typical
/// of large devices.
int64_t VulkanKernels::countAtOnce(const VulkanKernelImage &image,
                                   vk::Pipeline pipeline) {
  constexpr int64_t kUsual = 512;
  // Registers of a multiprocessor, and their allocation unit per thread.
  constexpr int64_t kRegisters = 65536, kTogether = 8;
  if (!device.vk.getStatistics)
    return kUsual;
  vk::ExecutableInfo info;
  info.pipeline = pipeline;
  uint32_t count = 0;
  device.vk.getStatistics(device.device, &info, &count, nullptr);
  std::vector<vk::ExecutableStatistic> all(count);
  device.vk.getStatistics(device.device, &info, &count, all.data());
  auto registers = std::find_if(
      all.begin(), all.end(), [](const vk::ExecutableStatistic &known) {
        return !strcmp(known.name, "Register Count") &&
               known.format == vk::kUnsigned64 && known.value;
      });
  if (registers == all.end())
    return kUsual;
  auto upTo = [](int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  int64_t threads = upTo(image.threads, device.subgroup),
          perThread = upTo(registers->value, kTogether),
          mostThreads = int64_t(device.subgroupsAtOnce) * device.subgroup;
  return device.multiprocessors *
         std::max<int64_t>(std::min(kRegisters / (perThread * threads),
                                    mostThreads / threads),
                           1);
}

VulkanKernel *VulkanKernels::load(RelaxDeviceKernel &kernel, Error &error) {
  auto refuse = [&](const std::string &message) -> VulkanKernel * {
    fail(error, "DeviceError",
         std::string("launch of '") + kernel.name + "': " + message);
    return nullptr;
  };
  auto *image = static_cast<const VulkanImage *>(kernel.module->image);
  if (image->magic != kVulkanImage)
    return refuse("the code is not for Vulkan");
  const VulkanKernelImage *found = nullptr;
  for (int64_t i = 0; i < image->count && !found; ++i)
    if (!strcmp(image->kernels[i].name, kernel.name))
      found = &image->kernels[i];
  if (!found)
    return refuse("the module has no such kernel");
  std::string lacks;
  if (!check(*found, lacks))
    return refuse(device.title + " lacks " + lacks +
                  "; the target for it is \"vulkan:" + device.architecture() +
                  "\"");
  return make(*found, /*isStrided=*/false, error);
}

VulkanKernel *VulkanKernels::make(const VulkanKernelImage &image,
                                  bool isStrided, Error &error) {
  vk::ShaderInfo code;
  code.bytes = image.codeBytes;
  code.code = image.code;
  vk::RequiredSubgroup width;
  width.size = device.subgroup;
  vk::ComputeInfo info;
  Layouts layouts = plain;
  if (image.bindingCount >= 0 &&
      !layoutsFor(countBindings(image), layouts, error))
    return nullptr;
  info.layout = layouts.layout;
  std::string what = std::string("creating kernel '") + image.name + "'";
  if (vk::Result result = device.vk.createShader(device.device, &code, nullptr,
                                                 &info.stage.shader)) {
    device.report(result, what, error);
    return nullptr;
  }
  if (image.subgroup && device.hasWidths)
    info.stage.next = &width;
  if (image.subgroup && device.hasFullSubgroups &&
      image.threads % image.subgroup == 0)
    info.stage.flags = vk::kFullSubgroups;
  if (isStrided && device.vk.getStatistics)
    info.flags = vk::kWithStatistics;
  vk::Pipeline pipeline = 0;
  vk::Result result = makePipeline(image, info, pipeline);
  device.vk.destroyShader(device.device, info.stage.shader, nullptr);
  if (result) {
    device.report(result, what, error);
    return nullptr;
  }
  auto *made =
      new VulkanKernel{device, &image, pipeline, layouts.layout, layouts.set};
  if (isStrided)
    made->blocksAtOnce = countAtOnce(image, pipeline);
  return made;
}
