//===- ChipName.cpp - names of GPUs, for Python ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/ChipName.h"
#include "Runtime/Core/RelaxRuntime.h"

using relax_rt::ChipName;

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
