//===- Chip.h - GPUs that code is compiled for ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs are identified by names, which only this file parses; Python uses the C
// API.
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

#ifndef RELAX_TARGET_GPU_CHIP_H
#define RELAX_TARGET_GPU_CHIP_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

namespace mlir::relax {

/// A GPU, or a kind of GPU. The default is any NVIDIA GPU.
struct Chip {
  enum class Kind { NVIDIA, Vulkan, Emulated };
  Kind kind = Kind::NVIDIA;

  /// Threads that can exchange values by shuffles; 1 if there are no shuffles.
  unsigned subgroupSize = 32;
  /// Available shared memory per block, in bytes.
  int64_t sharedBytes = 160 << 10;

  /// The version of an NVIDIA GPU, 90 for "sm_90"; 0 for any. Its suffix is 'a'
  /// for code for one GPU, 'f' for code for a family, or 0.
  unsigned version = 0;
  char suffix = 0;
  /// NVIDIA: `mma` and asynchronous copies; warpgroup products.
  bool hasTensorCores = true, hasWarpgroups = false;

  /// Vulkan: buffer addresses, 64-bit integers, cooperative matrices of bf16
  /// and f16.
  bool hasAddresses = true, hasInt64 = true, hasMatrices = false;
  /// Vulkan: whether kernels wait for earlier kernels by themselves.
  bool canOverlap = false;
  /// Vulkan: 8-byte words of push constants.
  unsigned pushedWords = 16;

  /// Parses a name; none if it has another form. Accepts names of future GPUs,
  /// too.
  static std::optional<Chip> parse(StringRef name);

  /// Reads the name of a GPU that code can be compiled for: NVIDIA GPUs have
  /// bf16 tensor cores and asynchronous copies, and LLVM knows them. Emits an
  /// error for other names.
  static FailureOr<Chip>
  parseTarget(StringRef name, function_ref<InFlightDiagnostic()> emitError);

  /// Whether an NVIDIA GPU has at least this version.
  bool isFrom(unsigned least) const {
    return kind == Kind::NVIDIA && version >= least;
  }

  /// Whether code for this GPU runs on a device.
  bool runsOn(const Chip &device) const;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_CHIP_H
