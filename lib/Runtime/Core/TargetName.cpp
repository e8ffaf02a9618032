//===- TargetName.cpp - names of targets, for Python ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/TargetName.h"
#include "Runtime/Core/Context.h"

#include <cstring>

using namespace relax_rt;

/// Writes a result or, with a negative number of bytes, an error message.
static int64_t writeText(const std::string &text, bool isError, char *out,
                         int64_t size) {
  int64_t needed = relax_rt::writeText(text, out, size);
  return isError ? -needed : needed;
}

static std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : "+") + name;
  return text;
}

/// Reads the name of a target. Writes its parts, each on a line: the triple,
/// the CPU, the features, the device, the GPU, and the libraries, separated by
/// '+'. Returns the number of bytes needed, or, negative, those of the message
/// if this is not a target.
extern "C" RELAX_RT_EXPORT int64_t relax_rt_read_target(const char *text,
                                                        char *out,
                                                        int64_t size) {
  TargetName target;
  std::string error;
  if (!target.read(text, error))
    return writeText(error, /*isError=*/true, out, size);
  std::string parts = target.cpu.triple + "\n" + target.cpu.cpu + "\n" +
                      target.cpu.featureText() + "\n" + target.device + "\n" +
                      target.chip + "\n" + join(target.libraries);
  return writeText(parts, /*isError=*/false, out, size);
}

/// Checks the parts of a target, and writes its features in their one form.
/// Returns as `relax_rt_read_target` does. `libraries`: each after a '+'.
extern "C" RELAX_RT_EXPORT int64_t relax_rt_check_target(const char *features,
                                                         const char *chip,
                                                         const char *libraries,
                                                         char *out,
                                                         int64_t size) {
  TargetName target;
  target.chip = chip;
  for (const char *at = libraries; *at == '+';) {
    size_t length = strcspn(++at, "+");
    target.libraries.emplace_back(at, length);
    at += length;
  }
  std::string error;
  bool isRight =
      target.cpu.readFeatures(features, error) && target.check(error);
  return writeText(isRight ? target.cpu.featureText() : error, !isRight, out,
                   size);
}

/// Returns the kind of device that a GPU is; null if this is not a GPU's name.
extern "C" RELAX_RT_EXPORT const char *relax_rt_device_of(const char *name) {
  std::optional<ChipName> chip = ChipName::read(name);
  return chip ? chip->device() : nullptr;
}

/// Returns whether code for one GPU runs on another one, both by name.
extern "C" RELAX_RT_EXPORT int32_t relax_rt_runs_on(const char *code,
                                                    const char *device) {
  std::optional<ChipName> chip = ChipName::read(code);
  std::optional<ChipName> there = ChipName::read(device);
  return chip && there && chip->runsOn(*there);
}

/// Returns the architecture and the system that the runtime was compiled for,
/// in the words of LLVM's triples.
extern "C" RELAX_RT_EXPORT const char *relax_rt_machine() {
#if defined(__x86_64__)
  return "x86_64-linux";
#else
  return "aarch64-linux";
#endif
}

/// Returns whether this process can run code for a triple, on a CPU that has
/// the features (CPUFeatures.h).
extern "C" RELAX_RT_EXPORT int32_t relax_rt_runs_here(const char *triple) {
  CPUName code{triple, "", {}}, here{relax_rt_machine(), "", {}};
  return code.isForSystemOf(here);
}
