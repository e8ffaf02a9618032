//===- Faults.h - a Vulkan loader that fails on request ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library that RELAX_VULKAN_LOADER names. It forwards each call to the loader
// of the machine, counts the calls and the created objects, and on request can
//
//   fail calls           relax_vulkan_fail, RELAX_VULKAN_FAIL=name:nth:code,...
//   change the reported  relax_vulkan_set, RELAX_VULKAN_SET=name=value,...
//   device properties
//   save the code of     RELAX_VULKAN_KEEP=folder
//   kernels
//
// The nth call from then on fails, or every call if n is 0. The settings are
// defined in Limits.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_VULKAN_FAULTS_H
#define RELAX_VULKAN_FAULTS_H

#include "Runtime/Vulkan/VulkanFunctions.h"

#include <map>
#include <mutex>
#include <string>

#define RELAX_EXPORT extern "C" __attribute__((visibility("default")))

namespace faults {

struct Rule {
  int64_t nth;
  relax_rt::vk::Result code;
};

struct State {
  std::mutex mutex;
  std::map<std::string, Rule> rules;
  std::map<std::string, int64_t> calls, objects, settings;
  /// The bytes passed to a pipeline cache.
  int64_t cacheBytes = 0;
  /// Replaces the code of the next kernel.
  std::string replacement;

  /// A setting, or its default.
  int64_t get(const char *name, int64_t otherwise);
};

State &state();

// Limits.cpp
void change(relax_rt::vk::Properties *properties);
void change(relax_rt::vk::Features *features);
void change(relax_rt::vk::QueueFamily &family);

} // namespace faults

#endif // RELAX_VULKAN_FAULTS_H
