//===- CubinCache.h - machine code on disk ----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the driver's assembler has made of PTX, so that the next process need
// not wait for it. The entries lie in the folder of the compiler's own cache,
// in its format, under its limit (python/relax_mlir/cache.py): a checksum, a
// description in JSON behind its length, and the machine code. A damaged entry
// is as if it were not there, and a folder that cannot be written to is no
// error: there is no cache then. There is none either where RELAX_CACHE_DIR is
// set and empty.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CUBINCACHE_H
#define RELAX_RUNTIME_CUBINCACHE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace relax_rt {

struct CubinCache {
  struct Text {
    const char *data;
    size_t bytes; // without the zero that ends it
  };

  /// Whether an image is PTX, rather than machine code already.
  static bool isAssembly(const void *image, Text &text);
  static bool isEnabled();

  static std::string keyOf(const Text &text, int64_t architecture,
                           int driverVersion, const std::string &device);
  /// False where there is no such entry.
  static bool read(const std::string &key, std::string &cubin);
  static void write(const std::string &key, const void *cubin, size_t bytes);
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CUBINCACHE_H
