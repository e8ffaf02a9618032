//===- CubinCache.h - disk cache of CUDA machine code -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Caches the machine code that the driver assembles from PTX, so that the next
// process need not wait for it (DiskCache.h).
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CUDA_CUBINCACHE_H
#define RELAX_RUNTIME_CUDA_CUBINCACHE_H

#include "Runtime/Core/DiskCache.h"

namespace relax_rt {

struct CubinCache {
  struct Text {
    const char *data;
    size_t bytes; // without the terminating zero
  };

  /// Returns whether an image is PTX rather than machine code.
  static bool isAssembly(const void *image, Text &text);

  static std::string keyOf(const Text &text, int64_t architecture,
                           int driverVersion, const std::string &device);
  static bool read(const std::string &key, std::string &cubin) {
    return DiskCache::read("cubin", key, cubin);
  }
  static void write(const std::string &key, const void *cubin, size_t bytes) {
    DiskCache::write("cubin", key, cubin, bytes);
  }
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CUDA_CUBINCACHE_H
