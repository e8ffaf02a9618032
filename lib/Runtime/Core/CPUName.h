//===- CPUName.h - names of CPUs --------------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CPU that code is made for: a triple, a model, and a set of features, all by
// LLVM's names. This is the only place that reads the text of features:
//
//   +avx512bf16,-fma       code may use the first, and not the second
//
// Whether LLVM knows the names is up to the compiler (Target/CPU/CodeGen.h).
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_CPUNAME_H
#define RELAX_RUNTIME_CORE_CPUNAME_H

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace relax_rt {

struct CPUName {
  /// "x86_64-unknown-linux-gnu", "aarch64-linux-gnu", …
  std::string triple;
  /// A CPU or an ISA level: "znver4", "x86-64-v3"; "" is the baseline of the
  /// architecture.
  std::string cpu;
  /// The features that differ from those of the CPU: whether code may use each.
  std::map<std::string, bool, std::less<>> features;

  /// Reads features separated by commas, each with its sign. A feature that is
  /// named again gets the later sign. Returns false, and sets `error`, if the
  /// text has another form.
  bool readFeatures(std::string_view text, std::string &error) {
    while (!text.empty()) {
      std::string_view one = text.substr(0, text.find(','));
      text.remove_prefix(std::min(one.size() + 1, text.size()));
      if (one.empty())
        continue;
      bool isUsed = one.front() == '+';
      if ((!isUsed && one.front() != '-') || one.size() == 1) {
        error = "'" + std::string(one) +
                "' is not a feature; expected '+' or '-' and a name, as in "
                "'+avx2'";
        return false;
      }
      features[std::string(one.substr(1))] = isUsed;
    }
    return true;
  }

  /// The features as text, the same text for the same set. Those that code must
  /// not use come last, so that none of the others brings them back.
  std::string featureText() const {
    std::string text;
    for (bool isUsed : {true, false})
      for (const auto &[name, value] : features)
        if (value == isUsed)
          text += (text.empty() ? "" : ",") + ((isUsed ? "+" : "-") + name);
    return text;
  }

  std::string_view architecture() const {
    return std::string_view(triple).substr(0, triple.find('-'));
  }

  /// Whether a triple is for the architecture and the system of `other`.
  bool isForSystemOf(const CPUName &other) const {
    return architecture() == other.architecture() &&
           triple.find(other.triple.substr(other.architecture().size())) !=
               std::string::npos;
  }
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_CPUNAME_H
