//===- Chip.h - GPU features used by schedules ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_CHIP_H
#define RELAX_TARGET_GPU_CHIP_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::relax {

/// Describes a GPU by name: "sm_90a" for an NVIDIA GPU; "subgroup_8" for any
/// Vulkan device with subgroups of 8 threads that can shuffle; with suffix
/// "_bound" for devices without buffer addresses, "_narrow" if they lack 64-bit
/// integers as well, "_overlap" if kernels can wait for earlier kernels
/// themselves, and "_matrices" (as in "subgroup_32_matrices") if there are
/// cooperative matrices too; empty for any NVIDIA GPU.
struct Chip {
  /// Threads that can exchange values by shuffles; 1 if there are no shuffles.
  unsigned subgroupSize = 32;
  /// NVIDIA features: `mma` and asynchronous copies, and warpgroup products
  /// (from sm_90a on).
  bool hasTensorCores = true, hasWarpgroups = false;
  /// Whether there are cooperative matrices of bf16 and f16.
  bool hasMatrices = false;
  /// Available shared memory per block, in bytes.
  int64_t sharedBytes = 160 << 10;

  /// Whether the name denotes a known GPU. NVIDIA GPUs must have bf16 tensor
  /// cores and asynchronous copies, and be known to the compiler.
  static bool isKnown(StringRef name);

  static bool isVulkan(StringRef name) { return name.starts_with("subgroup_"); }

  static Chip parse(StringRef name, unsigned subgroupSize) {
    Chip chip;
    chip.subgroupSize = subgroupSize;
    chip.hasWarpgroups = name == "sm_90a";
    if (name.consume_front("subgroup_")) {
      if (name.consumeInteger(10, chip.subgroupSize))
        chip.subgroupSize = 1;
      chip.hasTensorCores = false;
      chip.hasMatrices = name == "_matrices" && chip.subgroupSize == 32;
      // Nearly all devices have this much; devices with cooperative matrices
      // have more.
      chip.sharedBytes = (chip.hasMatrices ? 48 : 32) << 10;
    }
    return chip;
  }
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_CHIP_H
