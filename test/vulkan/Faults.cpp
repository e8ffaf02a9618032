//===- Faults.cpp - a Vulkan loader that fails on request -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>
#include <vector>

using namespace faults;
using namespace relax_rt;

namespace {

/// The real functions that our wrappers call.
vk::Library real;
using Find = vk::Function (*)(vk::Instance, const char *);
Find findReal = nullptr;

/// The pipeline cache data after the header, for drivers that return none:
/// makes its handling testable.
constexpr char kKept[] = "what a driver has made of a kernel";
constexpr size_t kHeader = 32;

vk::Device lastDevice = nullptr;
vk::Result (*waitIdle)(vk::Device) = nullptr;

/// On a lost device no work is in flight.
vk::Result lose(vk::Result code) {
  if (code == vk::kDeviceLost && waitIdle)
    waitIdle(lastDevice);
  return code;
}

/// Counts a call; returns its injected error, if any.
vk::Result enter(const char *name) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  ++all.calls[name];
  auto found = all.rules.find(name);
  if (found == all.rules.end())
    return vk::kSuccess;
  auto [nth, code] = found->second;
  if (nth == 0)
    return lose(code);
  if (--found->second.nth > 0)
    return vk::kSuccess;
  all.rules.erase(found);
  return lose(code);
}

/// Counts the objects of each kind: vkCreateBuffer creates a "Buffer".
void count(const char *name, int64_t change) {
  for (const char *verb : {"vkCreate", "vkAllocate", "vkDestroy", "vkFree"})
    if (!strncmp(name, verb, strlen(verb))) {
      std::string kind = name + strlen(verb);
      for (const char *many : {"ComputePipelines", "CommandBuffers"})
        if (kind == many)
          kind.pop_back();
      if (kind == "ComputePipeline")
        kind = "Pipeline";
      State &all = state();
      std::lock_guard<std::mutex> lock(all.mutex);
      all.objects[kind] += change;
    }
}

bool isMade(const char *name) {
  return !strncmp(name, "vkCreate", 8) || !strncmp(name, "vkAllocate", 10);
}

/// A wrapper for each Vulkan function, by its field in the library.
template <auto field>
struct Hook;

template <typename Result, typename... Parameters,
          Result (*vk::Library::*field)(Parameters...)>
struct Hook<field> {
  static inline const char *name = "";

  static Result call(Parameters... arguments) {
    if constexpr (std::is_same_v<Result, vk::Result>) {
      if (vk::Result code = enter(name))
        return code;
      vk::Result result = (real.*field)(arguments...);
      if (result == vk::kSuccess && isMade(name))
        count(name, 1);
      return result;
    } else {
      // A function without a result is skipped rather than failed.
      if (enter(name))
        return Result();
      if (!strncmp(name, "vkDestroy", 9) || !strncmp(name, "vkFree", 6))
        count(name, -1);
      return (real.*field)(arguments...);
    }
  }
};

//===----------------------------------------------------------------------===//
// Functions that do more
//===----------------------------------------------------------------------===//

void getProperties(vk::Physical device, vk::Properties *properties) {
  real.getProperties(device, properties);
  change(properties);
}

void getFeatures(vk::Physical device, vk::Features *features) {
  real.getFeatures(device, features);
  change(features);
}

void getFamilies(vk::Physical device, uint32_t *count,
                 vk::QueueFamily *families) {
  real.getFamilies(device, count, families);
  for (uint32_t i = 0; families && i < *count; ++i)
    change(families[i]);
}

vk::Result enumerate(vk::Instance instance, uint32_t *count,
                     vk::Physical *devices) {
  if (vk::Result code = enter("vkEnumeratePhysicalDevices"))
    return code;
  vk::Result result = real.enumerate(instance, count, devices);
  *count = static_cast<uint32_t>(state().get("devices", *count));
  return result;
}

vk::Result enumerateVersion(uint32_t *version) {
  vk::Result result = real.enumerateVersion(version);
  *version = static_cast<uint32_t>(state().get("loader", *version));
  return result;
}

vk::Result createCache(vk::Device device, const vk::CacheInfo *info,
                       const void *, vk::Cache *cache) {
  if (vk::Result code = enter("vkCreatePipelineCache"))
    return code;
  vk::CacheInfo own = *info;
  State &all = state();
  if (all.get("cache", 0) && own.bytes) {
    std::lock_guard<std::mutex> lock(all.mutex);
    all.cacheBytes += own.bytes;
    own.bytes = kHeader;
  }
  vk::Result result = real.createCache(device, &own, nullptr, cache);
  if (result == vk::kSuccess)
    count("vkCreatePipelineCache", 1);
  return result;
}

vk::Result getCacheData(vk::Device device, vk::Cache cache, size_t *bytes,
                        void *data) {
  if (vk::Result code = enter("vkGetPipelineCacheData"))
    return code;
  if (!state().get("cache", 0))
    return real.getCacheData(device, cache, bytes, data);
  if (!data) {
    *bytes = kHeader + sizeof(kKept);
    return vk::kSuccess;
  }
  size_t header = kHeader;
  memcpy(static_cast<char *>(data) + kHeader, kKept, sizeof(kKept));
  vk::Result result = real.getCacheData(device, cache, &header, data);
  return result < 0 ? result : vk::kSuccess;
}

/// Saves the code in the folder given by RELAX_VULKAN_KEEP.
void keep(const vk::ShaderInfo &info) {
  const char *folder = std::getenv("RELAX_VULKAN_KEEP");
  if (!folder || !*folder)
    return;
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < info.bytes / sizeof(uint32_t); ++i)
    hash = (hash ^ info.code[i]) * 0x100000001b3;
  std::string path = std::string(folder) + "/" + std::to_string(hash) + ".spv";
  if (FILE *file = fopen(path.c_str(), "wb")) {
    fwrite(info.code, 1, info.bytes, file);
    fclose(file);
  }
}

vk::Result createShader(vk::Device device, const vk::ShaderInfo *info,
                        const void *, vk::Shader *shader) {
  keep(*info);
  std::string path;
  {
    State &all = state();
    std::lock_guard<std::mutex> lock(all.mutex);
    path.swap(all.replacement);
  }
  vk::ShaderInfo own = *info;
  std::vector<uint32_t> code;
  if (FILE *file = path.empty() ? nullptr : fopen(path.c_str(), "rb")) {
    for (uint32_t word; fread(&word, sizeof(word), 1, file) == 1;)
      code.push_back(word);
    fclose(file);
    own.bytes = code.size() * sizeof(uint32_t);
    own.code = code.data();
  }
  return Hook<&vk::Library::createShader>::call(device, &own, nullptr, shader);
}

vk::Function getDeviceFunction(vk::Device device, const char *name);

//===----------------------------------------------------------------------===//
// Lookup of functions
//===----------------------------------------------------------------------===//

/// Returns our wrapper of a real function, which is saved; null if there is
/// none.
template <auto field, typename Real>
vk::Function hook(const char *name, Real found) {
  if (!found)
    return nullptr;
  using Own = std::remove_reference_t<decltype(real.*field)>;
  real.*field = reinterpret_cast<Own>(found);
  Hook<field>::name = name;
  return reinterpret_cast<vk::Function>(&Hook<field>::call);
}

vk::Function special(const char *name) {
#define RELAX_SPECIAL(own, text)                                               \
  if (!strcmp(name, text))                                                     \
    return reinterpret_cast<vk::Function>(own);
  RELAX_SPECIAL(getProperties, "vkGetPhysicalDeviceProperties2")
  RELAX_SPECIAL(getFeatures, "vkGetPhysicalDeviceFeatures2")
  RELAX_SPECIAL(getFamilies, "vkGetPhysicalDeviceQueueFamilyProperties")
  RELAX_SPECIAL(enumerate, "vkEnumeratePhysicalDevices")
  RELAX_SPECIAL(enumerateVersion, "vkEnumerateInstanceVersion")
  RELAX_SPECIAL(createShader, "vkCreateShaderModule")
  RELAX_SPECIAL(createCache, "vkCreatePipelineCache")
  RELAX_SPECIAL(getCacheData, "vkGetPipelineCacheData")
  RELAX_SPECIAL(getDeviceFunction, "vkGetDeviceProcAddr")
#undef RELAX_SPECIAL
  return nullptr;
}

vk::Function wrap(const char *name, vk::Function found) {
  if (state().get((std::string("without ") + name).c_str(), 0))
    return nullptr;
#define RELAX_WRAP(field, text, result, parameters)                            \
  if (!strcmp(name, #text)) {                                                  \
    vk::Function own = hook<&vk::Library::field>(#text, found);                \
    return own && special(name) ? special(name) : own;                         \
  }
  RELAX_VULKAN_GLOBALS(RELAX_WRAP)
  RELAX_VULKAN_OF_INSTANCE(RELAX_WRAP)
  RELAX_VULKAN_OF_DEVICE(RELAX_WRAP)
#undef RELAX_WRAP
  return found;
}

vk::Function getDeviceFunction(vk::Device device, const char *name) {
  lastDevice = device;
  waitIdle = reinterpret_cast<vk::Result (*)(vk::Device)>(
      real.getDeviceFunction(device, "vkDeviceWaitIdle"));
  return wrap(name, real.getDeviceFunction(device, name));
}

/// Calls `use(name, rest)` for each "name<separator>rest" of a variable.
template <typename Use>
void readSettings(const char *variable, char separator, Use use) {
  const char *given = std::getenv(variable);
  std::string text = given ? given : "";
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    if (size_t middle = part.find(separator); middle != std::string::npos)
      use(part.substr(0, middle), part.substr(middle + 1));
    at = end + 1;
  }
}

} // namespace

int64_t State::get(const char *name, int64_t otherwise) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

State &faults::state() {
  static State &all = [&]() -> State & {
    State &made = *new State; // threads may end after static objects
    readSettings("RELAX_VULKAN_SET", '=',
                 [&](const std::string &name, const std::string &value) {
                   made.settings[name] =
                       std::strtoll(value.c_str(), nullptr, 0);
                 });
    readSettings("RELAX_VULKAN_FAIL", ':',
                 [&](const std::string &name, const std::string &rest) {
                   char *end = nullptr;
                   int64_t nth = std::strtoll(rest.c_str(), &end, 10);
                   made.rules[name] = {nth, static_cast<vk::Result>(std::strtol(
                                                end + 1, nullptr, 10))};
                 });
    return made;
  }();
  return all;
}

RELAX_EXPORT vk::Function vkGetInstanceProcAddr(vk::Instance instance,
                                                const char *name) {
  if (!findReal)
    if (void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL))
      findReal = reinterpret_cast<Find>(dlsym(loader, "vkGetInstanceProcAddr"));
  return findReal ? wrap(name, findReal(instance, name)) : nullptr;
}

/// Makes the nth call from now on fail, or every call if n is 0; code 0 ends
/// that.
RELAX_EXPORT void relax_vulkan_fail(const char *name, int64_t nth,
                                    int32_t code) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (code)
    all.rules[name] = {nth, code};
  else
    all.rules.erase(name);
}

RELAX_EXPORT void relax_vulkan_set(const char *name, int64_t value) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.settings[name] = value;
}

RELAX_EXPORT void relax_vulkan_unset(const char *name) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.settings.erase(name);
}

RELAX_EXPORT int64_t relax_vulkan_calls(const char *name) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.calls[name];
}

/// The number of objects of a kind: "Buffer", "Pipeline", ...
RELAX_EXPORT int64_t relax_vulkan_objects(const char *kind) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.objects[kind];
}

/// Makes the next kernel from the contents of a file.
RELAX_EXPORT void relax_vulkan_replace(const char *path) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.replacement = path;
}

RELAX_EXPORT int64_t relax_vulkan_cache_bytes() {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.cacheBytes;
}
