//===- SHA256.cpp - the hash of FIPS 180-4 --------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/SHA256.h"

#include <algorithm>
#include <cstring>

using namespace relax_rt;

/// The first bits of the fractions of the cube roots of the first 64 primes.
static constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits) {
  return word >> bits | word << (32 - bits);
}

void SHA256::addBlock(const uint8_t *block) {
  uint32_t words[64];
  for (int i = 0; i < 16; ++i)
    words[i] = uint32_t(block[4 * i]) << 24 | block[4 * i + 1] << 16 |
               block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               words[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  std::copy_n(state, 8, s);
  for (int i = 0; i < 64; ++i) {
    uint32_t a = s[0], e = s[4];
    uint32_t first = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                     ((e & s[5]) ^ (~e & s[6])) + kRound[i] + words[i];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    std::copy_backward(s, s + 7, s + 8);
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; ++i)
    state[i] += s[i];
}

void SHA256::update(const void *data, size_t bytes) {
  auto *from = static_cast<const uint8_t *>(data);
  total += bytes;
  while (bytes) {
    if (!held && bytes >= 64) {
      addBlock(from);
      from += 64;
      bytes -= 64;
      continue;
    }
    size_t count = std::min(bytes, 64 - held);
    memcpy(rest + held, from, count);
    from += count;
    bytes -= count;
    if ((held += count) == 64) {
      addBlock(rest);
      held = 0;
    }
  }
}

std::array<uint8_t, 32> SHA256::finish() {
  uint64_t bits = total * 8;
  uint8_t one = 0x80, zero = 0, length[8];
  update(&one, 1);
  while (held != 56)
    update(&zero, 1);
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  update(length, 8);
  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string SHA256::hex(const std::array<uint8_t, 32> &digest) {
  std::string text;
  for (uint8_t byte : digest)
    for (int half : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[half];
  return text;
}
