//===- DiskCache.h - the compiler's cache on disk ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Caches the code that drivers compile, so that the next process need not wait
// for it. The entries live in the folder of the compiler's cache, in its
// format, under its limit and its rules of trust and eviction, all of which
// python/relax_mlir/cache.py documents. The description is {"kind": "<kind>"}.
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
  /// Returns false if there is no entry of this kind. `key` is a SHA-256 in
  /// hexadecimal.
  static bool read(const char *kind, const std::string &key, std::string &data);
  static void write(const char *kind, const std::string &key, const void *data,
                    size_t bytes);
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_DISKCACHE_H
