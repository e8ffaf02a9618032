//===- Chip.h - GPUs that code is compiled for ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What schedules may use on a GPU, by its name (Runtime/Core/ChipName.h).
// Python asks through the C API.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_CHIP_H
#define RELAX_TARGET_GPU_CHIP_H

#include "Runtime/Core/ChipName.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

namespace mlir::relax {

/// A GPU, or a kind of GPU. The default is any NVIDIA GPU.
struct Chip : relax_rt::ChipName {
  /// Available shared memory per block, in bytes.
  int64_t sharedBytes = 160 << 10;
  /// NVIDIA: `mma` and asynchronous copies; warpgroup products.
  bool hasTensorCores = true, hasWarpgroups = false;
  /// Vulkan: 8-byte words of push constants.
  unsigned pushedWords = 16;

  /// Reads a name; none if it has another form.
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
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_CHIP_H
