//===- Pool.h - pooled memory -----------------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_POOL_H
#define RELAX_RUNTIME_CORE_POOL_H

#include "Runtime/Core/RelaxRuntime.h"

namespace relax_rt {

/// The alignment of every block: a cache line.
constexpr size_t kAlignment = 64;

/// Size classes of blocks, four to each power of two. The sizes are 256, and
/// then (4 + q) << s for q from 1 to 4.
struct SizeClass {
  static constexpr int kCount = 4 * 48;
  /// The size of the largest class.
  static constexpr size_t kMost = size_t(1) << 47;

  int index;
  size_t bytes;

  /// Returns the smallest class that holds `bytes`.
  static SizeClass of(size_t bytes) {
    if (bytes <= 256)
      return {0, 256};
    int shift = 61 - __builtin_clzll(bytes - 1);
    size_t quarter = ((bytes - 1) >> shift) + 1; // 5..8
    return {4 * (shift - 6) + static_cast<int>(quarter) - 4, quarter << shift};
  }
  static size_t bytesOf(int index) {
    return index == 0 ? 256
                      : size_t((index - 1) % 4 + 5) << ((index - 1) / 4 + 6);
  }
};

struct Pool {
  /// Returns null if out of memory.
  static void *allocate(size_t bytes);
  /// `bytes` must be the size that was allocated.
  static void free(void *data, size_t bytes);
  static void trim();
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_POOL_H
