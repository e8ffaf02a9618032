//===- Chip.cpp - GPUs that code is compiled for --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Chip.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::relax;

/// Reads a decimal number without leading zeros.
static bool consumeNumber(StringRef &text, unsigned &number) {
  return !text.empty() && llvm::isDigit(text.front()) && text.front() != '0' &&
         !text.consumeInteger(10, number);
}

static std::optional<Chip> parseVulkan(StringRef rest) {
  Chip chip;
  chip.kind = Chip::Kind::Vulkan;
  chip.hasTensorCores = false;
  // Nearly all devices have this much.
  chip.sharedBytes = 32 << 10;
  if (!consumeNumber(rest, chip.subgroupSize) ||
      !llvm::isPowerOf2_32(chip.subgroupSize) || chip.subgroupSize > 128)
    return std::nullopt;
  if (rest == "_bound" || rest == "_narrow") {
    chip.hasAddresses = false;
    chip.hasInt64 = rest == "_bound";
  } else if (rest == "_overlap") {
    chip.canOverlap = true;
  } else if (rest == "_matrices" && chip.subgroupSize == 32) {
    chip.canOverlap = chip.hasMatrices = true;
    // Devices with cooperative matrices have more of both.
    chip.sharedBytes = 48 << 10;
    chip.pushedWords = 32;
  } else if (!rest.empty()) {
    return std::nullopt;
  }
  return chip;
}

std::optional<Chip> Chip::parse(StringRef name) {
  if (name.consume_front("subgroup_"))
    return parseVulkan(name);
  Chip chip;
  if (name == "emulated") {
    chip.kind = Kind::Emulated;
    return chip;
  }
  if (!name.consume_front("sm_") || !consumeNumber(name, chip.version))
    return std::nullopt;
  if (name == "a" || name == "f")
    chip.suffix = name.front();
  else if (!name.empty())
    return std::nullopt;
  chip.hasWarpgroups = chip.version == 90 && chip.suffix == 'a';
  return chip;
}

FailureOr<Chip>
Chip::parseTarget(StringRef name,
                  function_ref<InFlightDiagnostic()> emitError) {
  static const llvm::StringSet<> nvidia{
      "sm_80",   "sm_86",  "sm_87",   "sm_88",   "sm_89",  "sm_90",
      "sm_90a",  "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a",
      "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a",
      "sm_120f", "sm_121", "sm_121a", "sm_121f"};
  std::optional<Chip> chip = parse(name);
  if (chip && (chip->kind != Kind::NVIDIA || nvidia.contains(name)))
    return *chip;
  emitError()
      << "there is no GPU '" << name
      << "' that code can be compiled for; NVIDIA GPUs are named 'sm_80' "
         "(the oldest), 'sm_90', …, Vulkan devices 'subgroup_32'";
  return failure();
}

bool Chip::runsOn(const Chip &device) const {
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
