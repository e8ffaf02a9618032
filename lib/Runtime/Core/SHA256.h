//===- SHA256.h - the hash of FIPS 180-4 ------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_SHA256_H
#define RELAX_RUNTIME_CORE_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace relax_rt {

class SHA256 {
public:
  void update(const void *data, size_t bytes);
  /// Returns the digest; may be called only once.
  std::array<uint8_t, 32> finish();
  static std::string hex(const std::array<uint8_t, 32> &digest);

private:
  void addBlock(const uint8_t *block);

  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t rest[64];
  size_t held = 0;
  uint64_t total = 0;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_SHA256_H
