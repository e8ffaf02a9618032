//===- CubinCache.cpp - disk cache of CUDA machine code -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CUDA/CubinCache.h"
#include "Runtime/Core/SHA256.h"

#include <cstring>

using namespace relax_rt;

bool CubinCache::isAssembly(const void *image, Text &text) {
  // Machine code begins with a magic number; PTX with comments, then this.
  text.data = static_cast<const char *>(image);
  const char *at = text.data;
  for (;;) {
    at += strspn(at, " \t\r\n");
    if (at[0] == '/' && at[1] == '/')
      at += strcspn(at, "\n");
    else if (at[0] == '/' && at[1] == '*' && strstr(at, "*/"))
      at = strstr(at, "*/") + 2;
    else
      break;
  }
  if (strncmp(at, ".version", 8) != 0)
    return false;
  text.bytes = strlen(text.data);
  return true;
}

std::string CubinCache::keyOf(const Text &text, int64_t architecture,
                              int driverVersion, const std::string &device) {
  std::string what = "cubin sm_" + std::to_string(architecture) + " driver " +
                     std::to_string(driverVersion) + " " + device;
  SHA256 hash;
  hash.update(what.c_str(), what.size() + 1);
  hash.update(text.data, text.bytes);
  return SHA256::hex(hash.finish());
}
