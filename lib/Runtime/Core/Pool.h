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

/// What every block is aligned to; a cache line.
constexpr size_t kAlignment = 64;

/// Sizes of blocks, four to each power of two. The bytes of a class are 256,
/// and then (4 + q) << s for q from 1 to 4.
struct SizeClass {
  static constexpr int kCount = 4 * 48;
  /// What the largest holds.
  static constexpr size_t kMost = size_t(1) << 47;

  int index;
  size_t bytes;

  /// The smallest that holds `bytes`.
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
  /// Null where there is no memory.
  static void *allocate(size_t bytes);
  /// `bytes` as it was allocated.
  static void free(void *data, size_t bytes);
  static void trim();
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_POOL_H
