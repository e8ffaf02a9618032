//===- ChipName.h - names of GPUs -------------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU has a name, and this is the only place that reads it: for the compiler,
// which makes code for the GPU (Target/GPU/Chip.h), and for whoever loads code,
// which may be for another GPU than the one that is there.
//
//   sm_90                  NVIDIA GPUs from this version on
//   sm_90a                 this GPU alone, with its warpgroup products
//   sm_100f                GPUs of this family
//   subgroup_8             Vulkan devices whose subgroups of 8 threads shuffle
//   subgroup_8_bound       also devices without buffer addresses
//   subgroup_8_narrow      also devices without 64-bit integers
//   subgroup_8_overlap     kernels wait for earlier kernels by themselves
//   subgroup_32_matrices   and use cooperative matrices
//   emulated               the device of the tests, which runs on the host
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_CHIPNAME_H
#define RELAX_RUNTIME_CORE_CHIPNAME_H

#include <charconv>
#include <optional>
#include <string_view>

namespace relax_rt {

/// What the name of a GPU says. The default is any NVIDIA GPU.
struct ChipName {
  enum class Kind { NVIDIA, Vulkan, Emulated };
  Kind kind = Kind::NVIDIA;

  /// Threads that can exchange values by shuffles; 1 if there are no shuffles.
  unsigned subgroupSize = 32;

  /// The version of an NVIDIA GPU, 90 for "sm_90"; 0 for any. Its suffix is 'a'
  /// for code for one GPU, 'f' for code for a family, or 0.
  unsigned version = 0;
  char suffix = 0;

  /// Vulkan: buffer addresses, 64-bit integers, cooperative matrices of bf16
  /// and f16.
  bool hasAddresses = true, hasInt64 = true, hasMatrices = false;
  /// Vulkan: whether kernels wait for earlier kernels by themselves.
  bool canOverlap = false;

  /// Reads a name; none if it has another form. GPUs of the future have names,
  /// too.
  static std::optional<ChipName> read(std::string_view name) {
    ChipName chip;
    if (name == "emulated") {
      chip.kind = Kind::Emulated;
      return chip;
    }
    if (consume(name, "subgroup_"))
      return readVulkan(name);
    if (!consume(name, "sm_") || !consumeNumber(name, chip.version))
      return std::nullopt;
    if (name == "a" || name == "f")
      chip.suffix = name.front();
    else if (!name.empty())
      return std::nullopt;
    return chip;
  }

  /// The kind of device, as DLPack and Python call it.
  const char *device() const {
    return kind == Kind::Vulkan ? "vulkan" : "cuda";
  }

  /// Whether code for this GPU runs on a device.
  bool runsOn(const ChipName &device) const {
    if (kind == Kind::Emulated) // whether it is here is known at link time
      return device.kind != Kind::Vulkan;
    if (kind != device.kind)
      return false;
    if (kind == Kind::Vulkan)
      return subgroupSize == device.subgroupSize &&
             (!hasAddresses || device.hasAddresses) &&
             (!hasInt64 || device.hasInt64) &&
             (!hasMatrices || device.hasMatrices);
    if (suffix == 'a')
      return device.version == version;
    return device.version >= version &&
           (!suffix || device.version / 10 == version / 10);
  }

private:
  static bool consume(std::string_view &text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix)
      return false;
    text.remove_prefix(prefix.size());
    return true;
  }

  /// Reads a decimal number without leading zeros.
  static bool consumeNumber(std::string_view &text, unsigned &number) {
    if (text.empty() || text.front() < '1' || text.front() > '9')
      return false;
    const char *end = text.data() + text.size();
    auto [next, error] = std::from_chars(text.data(), end, number);
    text.remove_prefix(next - text.data());
    return error == std::errc();
  }

  static std::optional<ChipName> readVulkan(std::string_view rest) {
    ChipName chip;
    chip.kind = Kind::Vulkan;
    unsigned &size = chip.subgroupSize;
    if (!consumeNumber(rest, size) || size & (size - 1) || size > 128)
      return std::nullopt;
    if (rest == "_bound" || rest == "_narrow") {
      chip.hasAddresses = false;
      chip.hasInt64 = rest == "_bound";
    } else if (rest == "_overlap") {
      chip.canOverlap = true;
    } else if (rest == "_matrices" && size == 32) {
      chip.canOverlap = chip.hasMatrices = true;
    } else if (!rest.empty()) {
      return std::nullopt;
    }
    return chip;
  }
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_CHIPNAME_H
