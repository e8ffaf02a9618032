//===- DiskCache.h - the compiler's cache on disk ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What drivers make of code, so that the next process need not wait for it. The
// entries lie in the folder of the compiler's own cache, in its format, under
// its limit (python/relax_mlir/cache.py): a checksum, a description in JSON
// behind its length, and the machine code. A damaged entry is as if it were not
// there, and a folder that cannot be written to is no error: there is no cache
// then. There is none either where RELAX_CACHE_DIR is set and empty.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_DISKCACHE_H
#define RELAX_RUNTIME_DISKCACHE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace relax_rt {

struct DiskCache {
  static bool isEnabled();
  /// False where there is no such entry of this kind.
  static bool read(const char *kind, const std::string &key, std::string &data);
  static void write(const char *kind, const std::string &key, const void *data,
                    size_t bytes);
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_DISKCACHE_H
