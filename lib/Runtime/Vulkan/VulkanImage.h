//===- VulkanImage.h - Vulkan kernels in an object file ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of `RelaxDeviceModule::image` for Vulkan programs. This is the
// only file that compiler and runtime share.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANIMAGE_H
#define RELAX_RUNTIME_VULKAN_VULKANIMAGE_H

#include <cstdint>

namespace relax_rt {

/// "RELAXSP4"
constexpr int64_t kVulkanImage = 0x34505358414c4552;

struct VulkanKernelImage {
  const char *name;
  /// A SPIR-V module with one entry point, "main".
  const uint32_t *code;
  int64_t codeBytes;
  /// The words of a launch that are parameters of the kernel, 8 bytes each.
  const int64_t *parameters;
  int64_t parameterCount;
  /// Shared memory of a block in bytes, its threads, and the required subgroup
  /// size, or 0 if threads exchange no values.
  int64_t sharedBytes, threads, subgroup;
  /// Which parameters are pointers to bound buffers, in order; the kernel gets
  /// the byte offset into the bound buffer instead. -1: the kernel uses buffer
  /// addresses.
  const int64_t *bindings;
  int64_t bindingCount;
  /// Which parameters must fit in 32 bits, since the kernel computes with no
  /// more.
  const int64_t *narrow;
  int64_t narrowCount;
  /// Words pushed before the parameters (1 or `kWaitingWords`), and the maximum
  /// number of pushed words.
  int64_t headWords, pushedWords;
  /// The distance to the variant of this kernel that runs with any number of
  /// blocks, which stride over the grid; 0 if there is none.
  int64_t stridedOffset;
};

struct VulkanImage {
  int64_t magic, count;
  VulkanKernelImage kernels[1]; // `count`
};

/// Push constants: the number of the first block, then the parameters. If there
/// are more than fit, they are in a memory block and its address is pushed
/// instead; with bound buffers that block is the last buffer, and its word
/// offset to the first parameter is pushed. Every device supports
/// `kPushedWords`, and every device with matrices `kMostPushedWords`.
constexpr int64_t kPushedWords = 16, kMostPushedWords = 32;

/// A kernel that may wait for the previous one has four words before its
/// parameters. Word 0: the number of the first block in the low 32 bits, and
/// above it the number of blocks to wait for, which may be 0. Word 1: the
/// address of the counter that its own blocks increment when they finish, or 0.
/// Word 2: the address of the counter to wait for. Word 3: the address of a
/// flag that a block sets to 1 if it has waited too long.
constexpr int64_t kWaitingWords = 4;

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANIMAGE_H
