//===- Pool.h - pooled memory -----------------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_POOL_H
#define RELAX_RUNTIME_POOL_H

#include "RelaxRuntime.h"

namespace relax_rt {

/// What every block is aligned to; a cache line.
constexpr size_t kAlignment = 64;

struct Pool {
  /// Null where there is no memory.
  static void *allocate(size_t bytes);
  /// `bytes` as it was allocated.
  static void free(void *data, size_t bytes);
  static void trim();
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_POOL_H
