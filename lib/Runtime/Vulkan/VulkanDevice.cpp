//===- VulkanDevice.cpp - Vulkan devices ----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanDevice.h"
#include "Runtime/Vulkan/VulkanImage.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace relax_rt;

namespace {

/// Extensions, beyond the core, that kernels with subgroup matrices need.
constexpr const char *kMatrixExtensions[] = {"VK_KHR_cooperative_matrix",
                                             "VK_KHR_shader_bfloat16"};

/// Reports the registers of a kernel.
constexpr const char *kExecutables = "VK_KHR_pipeline_executable_properties";

using Extensions = std::vector<vk::ExtensionProperties>;

Extensions listExtensions(const VulkanDevice &device) {
  uint32_t count = 0;
  device.vk.enumerateExtensions(device.physical, nullptr, &count, nullptr);
  Extensions extensions(count);
  device.vk.enumerateExtensions(device.physical, nullptr, &count,
                                extensions.data());
  return extensions;
}

bool has(const Extensions &extensions, const char *name) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const vk::ExtensionProperties &known) {
                       return !strcmp(known.name, name);
                     });
}

/// Finds the properties that determine how many blocks of a kernel are resident
/// at a time.
void findMultiprocessors(VulkanDevice &device, const Extensions &extensions) {
  if (!has(extensions, "VK_NV_shader_sm_builtins") ||
      !has(extensions, kExecutables))
    return;
  vk::ExecutableFeatures executables;
  vk::Features features;
  features.next = &executables;
  device.vk.getFeatures(device.physical, &features);
  if (!executables.info)
    return;
  vk::MultiprocessorProperties multiprocessors;
  vk::Properties properties;
  properties.next = &multiprocessors;
  device.vk.getProperties(device.physical, &properties);
  device.multiprocessors = multiprocessors.count;
  device.subgroupsAtOnce = multiprocessors.subgroups;
}

/// Whether subgroups support the matrices that kernels use (`hasMatrices`).
bool findMatrices(VulkanDevice &device, const Extensions &extensions) {
  if (!device.vk.getMatrices || device.api < vk::version(1, 3) ||
      device.subgroup != 32 ||
      device.maxPushed < kMostPushedWords * sizeof(uint64_t))
    return false;
  for (const char *wanted : kMatrixExtensions)
    if (!has(extensions, wanted))
      return false;
  vk::BFloat16Features ofBFloat16;
  vk::MatrixFeatures matrices;
  vk::Features12 features12;
  vk::Features features;
  features.next = &features12;
  features12.next = &matrices;
  matrices.next = &ofBFloat16;
  device.vk.getFeatures(device.physical, &features);
  if (!matrices.matrices || !ofBFloat16.type || !ofBFloat16.matrices)
    return false;
  uint32_t count = 0;
  device.vk.getMatrices(device.physical, &count, nullptr);
  std::vector<vk::MatrixProperties> all(count);
  device.vk.getMatrices(device.physical, &count, all.data());
  auto hasKind = [&](int32_t kind) {
    return std::any_of(
        all.begin(), all.end(), [&](const vk::MatrixProperties &is) {
          return is.m == 16 && is.n == 16 && is.k == 16 && is.a == kind &&
                 is.b == kind && is.c == vk::kOfFloat32 &&
                 is.result == vk::kOfFloat32 && is.scope == vk::kOfSubgroup;
        });
  };
  return hasKind(vk::kOfFloat16) && hasKind(vk::kOfBFloat16);
}

/// Queries a device; returns the missing features that all code needs.
std::string describe(VulkanDevice &device, vk::Features12 &features12,
                     vk::Features11 &features11, vk::Features &features,
                     vk::SubgroupSizeFeatures &widths) {
  vk::SubgroupSizeProperties sizes;
  vk::Maintenance3Properties maintenance;
  vk::SubgroupProperties subgroups;
  vk::FloatProperties floats;
  vk::DriverProperties driver;
  vk::Properties properties;
  properties.next = &subgroups;
  subgroups.next = &floats;
  floats.next = &driver;
  driver.next = &maintenance;
  device.vk.getProperties(device.physical, &properties);
  device.api = properties.api;
  device.name = properties.name;
  device.identity.assign(reinterpret_cast<char *>(properties.cacheID),
                         sizeof(properties.cacheID));
  for (uint32_t part :
       {properties.vendor, properties.device, properties.driver})
    device.identity += " " + std::to_string(part);
  if (properties.api < kLeastVulkan)
    return "Vulkan " + versionText(kLeastVulkan) + " (it has " +
           versionText(properties.api) + ")";
  bool hasWidths = properties.api >= vk::version(1, 3);
  if (hasWidths) {
    maintenance.next = &sizes;
    device.vk.getProperties(device.physical, &properties);
  }
  auto limit = [&](size_t at) {
    uint32_t value;
    memcpy(&value, properties.limits + at, sizeof(value));
    return value;
  };
  device.takesBlocksInOrder = driver.driver == vk::kDriverOfNVIDIA;
  device.maxPushed = std::min<uint32_t>(limit(vk::kMaxPushed),
                                        kMostPushedWords * sizeof(uint64_t));
  device.maxSharedBytes = limit(vk::kMaxSharedBytes);
  for (int i = 0; i < 3; ++i)
    device.maxGroups[i] = limit(vk::kMaxGroups + 4 * i);
  device.maxThreads = std::min(limit(vk::kMaxThreads), limit(vk::kMaxBlock));
  device.maxAllocation = maintenance.maxAllocation;
  device.maxBindings = limit(vk::kMaxBindings);
  // Kernels index bound buffers with 31 bits.
  device.maxBound = std::min<vk::Size>(limit(vk::kMaxRange), INT32_MAX);
  memcpy(&device.nanosecondsOfTick, properties.limits + vk::kTick,
         sizeof(float));
  device.subgroup = subgroups.size;
  device.hasShuffles = subgroups.stages & vk::kComputeStage &&
                       subgroups.operations & vk::kShuffles;
  device.hasIEEE = floats.preserves32;
  device.vk.getMemory(device.physical, &device.memory);
  for (uint32_t i = 0; i < device.memory.heapCount; ++i)
    if (device.memory.heaps[i].flags & 1) // VK_MEMORY_HEAP_DEVICE_LOCAL_BIT
      device.bytes =
          std::max<int64_t>(device.bytes, device.memory.heaps[i].bytes);

  features.next = &features11;
  features11.next = &features12;
  features12.next = hasWidths ? &widths : nullptr;
  device.vk.getFeatures(device.physical, &features);
  device.hasFloat64 = features.all[vk::kFloat64];
  device.hasInt16 = features.all[vk::kInt16];
  device.hasInt64 = features.all[vk::kInt64];
  device.hasStorage16 = features11.storage16;
  device.hasStorage8 = features12.all[vk::kStorage8];
  device.hasFloat16 = features12.all[vk::kFloat16];
  device.hasInt8 = features12.all[vk::kInt8];
  device.hasWidths = widths.sizeControl && sizes.least != sizes.most &&
                     sizes.stages & vk::kComputeStage;
  device.hasFullSubgroups = widths.fullSubgroups;
  if (!features12.all[vk::kTimeline])
    return "timelines (timelineSemaphore)";
  // Addresses are 64-bit integers.
  device.hasAddresses = features12.all[vk::kAddresses] && device.hasInt64;
  device.hasMemoryModel =
      features12.all[vk::kMemoryModel] && features12.all[vk::kMemoryOfDevice];
  // Kernels with matrices use addresses.
  Extensions extensions = listExtensions(device);
  device.hasMatrices = device.hasAddresses && device.hasMemoryModel &&
                       findMatrices(device, extensions);
  findMultiprocessors(device, extensions);
  // Without addresses, whole blocks must be bindable.
  if (!device.hasAddresses)
    device.maxAllocation = device.maxAllocation
                               ? std::min(device.maxAllocation, device.maxBound)
                               : device.maxBound;
  return "";
}

/// Creates the device, enabling only the features that kernels use.
vk::Result createDevice(VulkanDevice &device) {
  vk::SubgroupSizeFeatures widths;
  vk::Features12 features12;
  vk::Features11 features11;
  vk::Features features;
  features.next = &features11;
  features11.next = &features12;
  features12.next = device.api >= vk::version(1, 3) ? &widths : nullptr;
  features.all[vk::kInt64] = device.hasInt64;
  features.all[vk::kInt16] = device.hasInt16;
  features.all[vk::kFloat64] = device.hasFloat64;
  features11.storage16 = device.hasStorage16;
  features12.all[vk::kStorage8] = device.hasStorage8;
  features12.all[vk::kFloat16] = device.hasFloat16;
  features12.all[vk::kInt8] = device.hasInt8;
  features12.all[vk::kTimeline] = 1;
  features12.all[vk::kAddresses] = device.hasAddresses;
  features12.all[vk::kMemoryModel] = features12.all[vk::kMemoryOfDevice] =
      device.hasMemoryModel;
  widths.sizeControl = device.hasWidths;
  widths.fullSubgroups = device.hasFullSubgroups;
  vk::BFloat16Features ofBFloat16;
  vk::MatrixFeatures matrices;
  std::vector<const char *> extensions;
  if (device.hasMatrices) {
    widths.next = &matrices;
    matrices.next = &ofBFloat16;
    matrices.matrices = ofBFloat16.type = ofBFloat16.matrices = 1;
    extensions.assign(std::begin(kMatrixExtensions),
                      std::end(kMatrixExtensions));
  }
  vk::ExecutableFeatures executables;
  if (device.multiprocessors) {
    executables.next = features.next;
    features.next = &executables;
    executables.info = 1;
    extensions.push_back(kExecutables);
  }
  float priority = 1;
  vk::QueueInfo queue;
  queue.family = device.family;
  queue.priorities = &priority;
  vk::DeviceInfo info;
  info.next = &features;
  info.queueCount = 1;
  info.queues = &queue;
  info.extensionCount = extensions.size();
  info.extensions = extensions.data();
  return device.vk.createDevice(device.physical, &info, nullptr,
                                &device.device);
}

} // namespace

std::string VulkanDevice::architecture() const {
  const char *kind = !hasInt64                    ? "_narrow"
                     : !hasAddresses              ? "_bound"
                     : hasShuffles && hasMatrices ? "_matrices"
                                                  : "";
  return "subgroup_" + std::to_string(exchangingThreads()) + kind;
}

bool VulkanDevice::report(vk::Result result, const std::string &what,
                          Error &error) const {
  bool isMemory = result == vk::kOutOfDeviceMemory ||
                  result == vk::kOutOfHostMemory ||
                  result == vk::kOutOfPoolMemory;
  return fail(error, isMemory ? "MemoryError" : "DeviceError",
              what + " failed on " + title + ": " + textOf(result) + " (" +
                  std::to_string(result) + ")");
}

std::unique_ptr<VulkanDevice> VulkanDevice::open(int32_t id, Error &error) {
  const VulkanLoader *loader = openVulkanLoader(error);
  std::vector<vk::Physical> all;
  if (!loader || !listDevices(*loader, all, error))
    return nullptr;
  if (id < 0 || static_cast<size_t>(id) >= all.size()) {
    fail(error, "DeviceError",
         "there is no device vulkan:" + std::to_string(id) +
             "; the drivers have " + std::to_string(all.size()));
    return nullptr;
  }
  auto device = std::make_unique<VulkanDevice>();
  device->vk = loader->vk;
  device->physical = all[id];
  vk::SubgroupSizeFeatures widths;
  vk::Features12 features12;
  vk::Features11 features11;
  vk::Features features;
  std::string missing =
      describe(*device, features12, features11, features, widths);
  device->title = "vulkan:" + std::to_string(id) + " (" + device->name + ")";
  uint32_t count = 0;
  device->vk.getFamilies(device->physical, &count, nullptr);
  std::vector<vk::QueueFamily> families(count);
  device->vk.getFamilies(device->physical, &count, families.data());
  // A compute-only queue accepts work slightly faster.
  auto family = families.end();
  for (vk::Flags wanted : {vk::kCompute, vk::kCompute | vk::kGraphics})
    if (family == families.end())
      family = std::find_if(
          families.begin(), families.end(), [&](const vk::QueueFamily &family) {
            return (family.flags & (vk::kCompute | vk::kGraphics)) == wanted;
          });
  if (missing.empty() && family == families.end())
    missing = "a queue for computing";
  if (!missing.empty()) {
    fail(error, "DeviceError",
         device->title + " lacks what kernels need: " + missing);
    return nullptr;
  }
  device->family = static_cast<uint32_t>(family - families.begin());
  if (uint32_t bits = family->timestampBits)
    device->tickMask = ~uint64_t(0) >> (64 - std::min<uint32_t>(bits, 64));
  if (!device->check(createDevice(*device), "opening the device", error)) {
    device->device = nullptr;
    return nullptr;
  }
#define RELAX_VULKAN_FIND(field, name, result, parameters)                     \
  device->vk.field = reinterpret_cast<decltype(device->vk.field)>(             \
      device->vk.getDeviceFunction(device->device, #name));                    \
  if (!device->vk.field) {                                                     \
    fail(error, "DeviceError",                                                 \
         "the driver of " + device->title + " has no " #name);                 \
    return nullptr;                                                            \
  }
  RELAX_VULKAN_OF_DEVICE(RELAX_VULKAN_FIND)
#undef RELAX_VULKAN_FIND
  if (device->multiprocessors)
    device->vk.getStatistics =
        reinterpret_cast<decltype(device->vk.getStatistics)>(
            device->vk.getDeviceFunction(
                device->device, "vkGetPipelineExecutableStatisticsKHR"));
  device->vk.getQueue(device->device, device->family, 0, &device->queue);
  return device;
}
