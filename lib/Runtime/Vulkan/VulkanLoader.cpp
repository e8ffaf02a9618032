//===- VulkanLoader.cpp - the Vulkan loader -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Process.h"
#include "Runtime/Vulkan/VulkanDevice.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

using namespace relax_rt;

const char *relax_rt::textOf(vk::Result result) {
  switch (result) {
  case vk::kOutOfHostMemory:
    return "no memory of the host";
  case vk::kOutOfDeviceMemory:
  case vk::kOutOfPoolMemory:
    return "no memory of the device";
  case vk::kInitializationFailed:
    return "the driver does not start";
  case vk::kDeviceLost:
    return "the device is lost, and so is all data on it; a kernel may have "
           "run too long, or accessed invalid memory";
  case vk::kMapFailed:
    return "the host cannot map its memory";
  case vk::kTooManyObjects:
    return "the driver has too many of such objects";
  case vk::kLayerNotPresent:
    return "a layer is missing";
  case vk::kExtensionNotPresent:
    return "an extension is missing";
  case vk::kFeatureNotPresent:
    return "a feature is missing";
  case vk::kIncompatibleDriver:
    return "no driver for a device";
  case vk::kInvalidShader:
    return "the driver rejects the code";
  default:
    return "unknown error";
  }
}

std::string relax_rt::versionText(uint32_t version) {
  return std::to_string(vk::majorOf(version)) + "." +
         std::to_string(vk::minorOf(version));
}

static ForkResetMutex opening;

const VulkanLoader *relax_rt::openVulkanLoader(Error &error) {
  static const VulkanLoader *opened = nullptr;
  std::lock_guard<std::mutex> lock(opening);
  if (opened)
    return opened;
  const char *given = std::getenv("RELAX_VULKAN_LOADER");
  const char *path = given && *given ? given : "libvulkan.so.1";
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    fail(error, "DeviceError",
         std::string("no Vulkan loader: ") + (reason ? reason : path));
    return nullptr;
  }
  VulkanLoader loader;
  // Closes an unusable loader.
  auto refuse = [&](const std::string &message) {
    fail(error, "DeviceError", message);
    if (loader.instance && loader.vk.destroyInstance)
      loader.vk.destroyInstance(loader.instance, nullptr);
    dlclose(handle);
    return nullptr;
  };
  using Find = vk::Function (*)(vk::Instance, const char *);
  auto find = reinterpret_cast<Find>(dlsym(handle, "vkGetInstanceProcAddr"));
  auto isMissing = [&](const char *name) {
    return refuse(std::string("the Vulkan loader ") + path +
                  " is too old or not a Vulkan loader: it lacks " + name);
  };
  if (!find)
    return isMissing("vkGetInstanceProcAddr");
#define RELAX_VULKAN_FIND(field, name, result, parameters)                     \
  loader.vk.field = reinterpret_cast<decltype(loader.vk.field)>(               \
      find(loader.instance, #name));                                           \
  if (!loader.vk.field)                                                        \
    return isMissing(#name);
  RELAX_VULKAN_GLOBALS(RELAX_VULKAN_FIND)
  uint32_t version = 0;
  loader.vk.enumerateVersion(&version);
  if (version < kLeastVulkan)
    return refuse("the Vulkan loader has version " + versionText(version) +
                  ", but at least " + versionText(kLeastVulkan) +
                  " is required");
  vk::ApplicationInfo application;
  application.name = application.engine = "relax-mlir";
  application.api = vk::version(1, 3);
  vk::InstanceInfo info;
  info.application = &application;
  if (vk::Result result =
          loader.vk.createInstance(&info, nullptr, &loader.instance)) {
    loader.instance = nullptr;
    return refuse(std::string("Vulkan does not start: ") + textOf(result));
  }
  RELAX_VULKAN_OF_INSTANCE(RELAX_VULKAN_FIND)
#undef RELAX_VULKAN_FIND
  loader.vk.getMatrices = reinterpret_cast<decltype(loader.vk.getMatrices)>(
      find(loader.instance,
           "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  return opened = new VulkanLoader(loader);
}

/// Devices with their own memory come first, CPU devices last.
static int rankOf(int32_t kind) {
  switch (kind) {
  case vk::kDiscrete:
    return 0;
  case vk::kIntegrated:
    return 1;
  case vk::kVirtual:
    return 2;
  case vk::kCPU:
    return 4;
  default:
    return 3;
  }
}

bool relax_rt::listDevices(const VulkanLoader &loader,
                           std::vector<vk::Physical> &devices, Error &error) {
  uint32_t count = 0;
  vk::Result result = loader.vk.enumerate(loader.instance, &count, nullptr);
  devices.resize(count);
  if (result >= 0)
    result = loader.vk.enumerate(loader.instance, &count, devices.data());
  if (result < 0)
    return fail(error, "DeviceError",
                std::string("cannot list the Vulkan devices: ") +
                    textOf(result) + " (" + std::to_string(result) + ")");
  devices.resize(count);
  auto rank = [&](vk::Physical device) {
    vk::Properties properties;
    loader.vk.getProperties(device, &properties);
    return rankOf(properties.kind);
  };
  std::stable_sort(
      devices.begin(), devices.end(),
      [&](vk::Physical a, vk::Physical b) { return rank(a) < rank(b); });
  return true;
}
