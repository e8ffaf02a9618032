//===- DiskCache.h - the compiler's cache on disk ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What drivers make of code, so that the next process need not wait for it. The
// entries lie in the folder of the compiler's own cache, in its format, under
// its limit, and are trusted and removed by its rules, all of which
// python/relax_mlir/cache.py states. The description is {"kind": "<kind>"}.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_DISKCACHE_H
#define RELAX_RUNTIME_CORE_DISKCACHE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace relax_rt {

struct DiskCache {
  static bool isEnabled();
  /// False where there is no entry of this kind. `key` is a SHA-256 in
  /// hexadecimal.
  static bool read(const char *kind, const std::string &key, std::string &data);
  static void write(const char *kind, const std::string &key, const void *data,
                    size_t bytes);
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_DISKCACHE_H
