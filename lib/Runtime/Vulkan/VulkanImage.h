//===- VulkanImage.h - kernels for Vulkan in an object file -----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `RelaxDeviceModule::image` is of a program for Vulkan. Compiler and
// runtime share this file alone.
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
  /// A module of its own, with one entry point, "main".
  const uint32_t *code;
  int64_t codeBytes;
  /// The words of a launch that the kernel has as parameters, of 8 bytes each.
  const int64_t *parameters;
  int64_t parameterCount;
  /// Bytes that a block shares, its threads, and how many of them exchange
  /// values, 0 where none do.
  int64_t sharedBytes, threads, subgroup;
  /// Which of the parameters are pointers of buffers that are bound, in their
  /// order; the kernel has then how many bytes of what is bound lie before
  /// each. -1: buffers are used by their addresses.
  const int64_t *bindings;
  int64_t bindingCount;
  /// Which of the parameters must be numbers of 32 bits, since the kernel
  /// counts with no more.
  const int64_t *narrow;
  int64_t narrowCount;
  /// Words that are pushed before the parameters, 1 or `kWaitingWords`, and how
  /// many are at most.
  int64_t headWords, pushedWords;
  /// How far behind this one is the kernel that does the same with any number
  /// of blocks, which stride over the grid; 0: there is none.
  int64_t stridedOffset;
};

struct VulkanImage {
  int64_t magic, count;
  VulkanKernelImage kernels[1]; // `count`
};

/// Words that are pushed: the number of the first block, then the parameters;
/// or, where those are more, the address of a block of memory with them. Where
/// buffers are bound that block is the last of them, and what is pushed is the
/// number of its words before the first parameter. So many every device has,
/// and so many those with matrices.
constexpr int64_t kPushedWords = 16, kMostPushedWords = 32;

/// A kernel that may wait for the one before it has four words before its
/// parameters: of the first, 32 bits are the number of the first block, and
/// above it is how many blocks are waited for, which may be 0; the second is
/// where its own blocks count themselves when they are done, 0: they do not;
/// the third is where those do that are waited for; and of what lies at the
/// fourth, a block makes 1 that has waited too long.
constexpr int64_t kWaitingWords = 4;

} // namespace relax_rt

#endif // RELAX_RUNTIME_VULKAN_VULKANIMAGE_H
