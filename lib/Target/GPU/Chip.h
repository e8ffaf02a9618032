//===- Chip.h - what schedules may use of a GPU -----------------*- C++ -*-===//
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

/// A GPU, by its name: "sm_90a" of NVIDIA; "subgroup_8", any of Vulkan on which
/// so many threads exchange values, "subgroup_8_bound" where buffers have no
/// addresses, "subgroup_8_narrow" where there are no integers of 64 bits
/// either, "subgroup_8_overlap" where kernels can wait for others themselves,
/// "subgroup_32_matrices" where those threads multiply matrices as well; empty
/// for any of NVIDIA.
struct Chip {
  /// Threads that exchange values by shuffles; 1 where none do.
  unsigned subgroupSize = 32;
  /// What NVIDIA has beside: `mma` and asynchronous copies, and from sm_90a on
  /// products by warpgroups.
  bool hasTensorCores = true, hasWarpgroups = false;
  /// Whether a subgroup has matrices together, of bf16 and of f16.
  bool hasMatrices = false;
  /// What a block may share, in bytes, as the launch asks for it.
  int64_t sharedBytes = 160 << 10;

  /// Whether there is such a GPU; of NVIDIA, those that have tensor cores of
  /// bf16 and asynchronous copies, and that the compiler knows.
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
      // Nearly every device has as much; those with matrices have more.
      chip.sharedBytes = (chip.hasMatrices ? 48 : 32) << 10;
    }
    return chip;
  }
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_CHIP_H
