//===- Chip.cpp - GPUs that code is compiled for --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Chip.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::relax;

std::optional<Chip> Chip::parse(StringRef name) {
  std::optional<ChipName> read = ChipName::read({name.data(), name.size()});
  if (!read)
    return std::nullopt;
  Chip chip;
  static_cast<ChipName &>(chip) = *read;
  chip.hasWarpgroups = chip.version == 90 && chip.suffix == 'a';
  if (chip.kind == Kind::Vulkan) {
    chip.hasTensorCores = false;
    // Nearly all devices have this much; devices with cooperative matrices have
    // more of both.
    chip.sharedBytes = (chip.hasMatrices ? 48 : 32) << 10;
    chip.pushedWords = chip.hasMatrices ? 32 : 16;
  }
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
