//===- CPUFeatures.cpp - detection of CPU features ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/CPUFeatures.h"
#include "Runtime/Core/Context.h"

#include <cstring>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

using namespace relax_rt;

namespace {

/// Whether the `length` characters at `text` spell `name`.
[[maybe_unused]] bool isNamed(const char *name, const char *text,
                              size_t length) {
  return strlen(name) == length && memcmp(name, text, length) == 0;
}

#if defined(__x86_64__) || defined(__i386__)

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// Executes CPUID; returns zeros if the CPU lacks the leaf.
Registers readCPUID(uint32_t leaf, uint32_t subleaf) {
  Registers found;
  if (__get_cpuid_max(leaf & 0x80000000, nullptr) < leaf)
    return found;
  if (leaf == 7 && subleaf) {
    // Some CPUs return garbage for subleaves that they lack.
    __cpuid_count(7, 0, found.eax, found.ebx, found.ecx, found.edx);
    if (found.eax < subleaf)
      return Registers();
  }
  __cpuid_count(leaf, subleaf, found.eax, found.ebx, found.ecx, found.edx);
  return found;
}

/// XCR0: the registers that the operating system saves for each thread.
uint64_t readSavedState() {
  constexpr uint32_t kHasXGETBV = 1u << 27; // OSXSAVE
  if (!(readCPUID(1, 0).ecx & kHasXGETBV))
    return 0;
  uint32_t low, high;
  // XGETBV in bytes: assemblers accept its mnemonic only with an option.
  __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

constexpr uint64_t None = 0, AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000,
                   APX = 0x80000;

/// Whether a CPUID bit is set. AVX10 has a version instead: leaf 7 says whether
/// it exists, and the low byte of `ebx` of leaf 0x24 holds the version.
bool hasBit(uint32_t leaf, uint32_t subleaf, uint32_t Registers::*word,
            uint32_t bit) {
  Registers found = readCPUID(leaf, subleaf);
  if (leaf == 0x24)
    return (readCPUID(7, 1).edx >> 19 & 1) && (found.ebx & 0xff) >= bit;
  return found.*word >> bit & 1;
}

bool hasFeature(const char *text, size_t length) {
  static const uint64_t saved = readSavedState();
#ifdef __APPLE__
  // The system enables these registers on first use.
  constexpr uint64_t kOnDemand = AVX512;
#else
  constexpr uint64_t kOnDemand = 0;
#endif
#define RELAX_X86_FEATURE(name, leaf, subleaf, register, bit, state)           \
  if (isNamed(name, text, length))                                             \
    return ((saved | kOnDemand) & state) == state &&                           \
           hasBit(leaf, subleaf, &Registers::register, bit);
#include "Runtime/Core/CPUFeatures.def"
  return false;
}

#elif defined(__aarch64__) && defined(__linux__)

bool hasFeature(const char *text, size_t length) {
  static const uint64_t words[] = {0, getauxval(AT_HWCAP),
                                   getauxval(AT_HWCAP2)};
  bool isKnown = false, isThere = true;
#define RELAX_AARCH64_FEATURE(name, word, bit)                                 \
  if (isNamed(name, text, length)) {                                           \
    isKnown = true;                                                            \
    isThere &= words[word] >> bit & 1;                                         \
  }
#include "Runtime/Core/CPUFeatures.def"
  return isKnown && isThere;
}

#else

/// Features cannot be detected here; trust the compiled code.
bool hasFeature(const char *, size_t) { return true; }

#endif

} // namespace

std::string relax_rt::findMissingFeatures(const char *features) {
  std::string missing;
  for (const char *at = features; *at;) {
    size_t length = strcspn(at, ",");
    if (length && !hasFeature(at, length)) {
      missing += missing.empty() ? "" : ",";
      missing.append(at, length);
    }
    at += length + (at[length] == ',');
  }
  return missing;
}

std::string relax_rt::findFeatures() {
  static constexpr const char *names[] = {
#if defined(__x86_64__) || defined(__i386__)
#define RELAX_X86_FEATURE(name, leaf, subleaf, register, bit, state) name,
#else
#define RELAX_AARCH64_FEATURE(name, word, bit) name,
#endif
#include "Runtime/Core/CPUFeatures.def"
  };
  std::string found;
  const char *last = "";
  for (const char *name : names) { // some are listed twice in a row
    if (strcmp(name, last) != 0 && hasFeature(name, strlen(name)))
      found += (found.empty() ? "" : ",") + std::string(name);
    last = name;
  }
  return found;
}

extern "C" int relax_rt_require_cpu(const char *features, int32_t *isChecked) {
  std::string missing = findMissingFeatures(features);
  if (missing.empty()) {
    __atomic_store_n(isChecked, 1, __ATOMIC_RELAXED);
    return 0;
  }
  Error error;
  error.kind = "RuntimeError";
  error.message = "the code was compiled for a CPU with features that this one "
                  "lacks: " +
                  missing +
                  "; compile it for this machine, or for an older CPU (the "
                  "code needs " +
                  features + "; this CPU has " + findFeatures() + ")";
  raise(error);
  return -1;
}

extern "C" int64_t relax_rt_missing_features(const char *features, char *out,
                                             int64_t size) {
  return writeText(findMissingFeatures(features), out, size);
}

extern "C" int64_t relax_rt_cpu_features(char *out, int64_t size) {
  return writeText(findFeatures(), out, size);
}
