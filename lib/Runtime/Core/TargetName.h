//===- TargetName.h - names of targets --------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is what code is compiled for: a CPU, and for a device also a GPU.
// This is the only place that reads its name, for the command line, Python, and
// the tools:
//
//   cpu                                this machine's CPU, with all it has
//   cpu:x86-64-v3                      a CPU, or an ISA level
//   cpu:x86-64-v3,+avx512bf16,-fma     with a feature, without another one
//   cpu:native,-avx512f                this machine's CPU without a feature
//   aarch64-linux-gnu:cortex-a76       for another system, by LLVM's triple
//   cuda                               the first NVIDIA GPU of this machine
//   cuda:sm_90+cublaslt                a GPU (ChipName.h), and a library
//   vulkan, vulkan:subgroup_32         the same for Vulkan devices
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_TARGETNAME_H
#define RELAX_RUNTIME_CORE_TARGETNAME_H

#include "Runtime/Core/CPUName.h"
#include "Runtime/Core/ChipName.h"

#include <vector>

namespace relax_rt {

struct TargetName {
  /// Without a triple, a CPU of this machine's system; without either, this
  /// machine's CPU.
  CPUName cpu;
  /// "cuda" or "vulkan"; "" for a CPU.
  std::string device;
  /// The GPU; "" for this machine's.
  std::string chip;
  /// Libraries that code may call in addition to its own kernels.
  std::vector<std::string> libraries;

  /// Reads a name; returns false and sets `error` if it has another form.
  bool read(std::string_view text, std::string &error) {
    if (!checkCharacters(text, error))
      return false;
    size_t colon = text.find(':');
    std::string_view kind = text.substr(0, std::min(colon, text.find('+')));
    bool isDevice = kind == "cuda" || kind == "vulkan";
    std::string_view rest = text.substr(kind.size());
    if (!rest.empty() && rest.front() == ':') {
      rest.remove_prefix(1);
      if (rest.empty() || (isDevice && rest.front() == '+')) {
        error = quote(text) + " names nothing after the colon; expected '" +
                std::string(kind) +
                "' alone, or what it is, as in 'cuda:sm_90'";
        return false;
      }
    }
    if (isDevice)
      return readDevice(text, kind, rest, error);
    std::string_view system = kind.substr(0, kind.find(','));
    if (system != "cpu" && system.find('-') == std::string_view::npos) {
      error = "there is no target " + quote(text) +
              "; there are 'cpu', 'cpu:x86-64-v3', 'cuda', 'cuda:sm_90', "
              "'vulkan', and triples of LLVM";
      return false;
    }
    if (system.size() < kind.size()) {
      std::string_view features = text.substr(system.size() + 1);
      return refuseFeatures(text, system,
                            features.substr(0, features.find(':')), error);
    }
    if (colon == std::string_view::npos && !rest.empty()) {
      error = "there is no library " + quote(rest.substr(1)) + " for " +
              quote(kind) +
              "; a CPU has features, as in 'cpu:x86-64-v3,+avx512bf16'";
      return false;
    }
    return readCPU(text, kind, rest, error);
  }

  /// Checks the chip and the libraries of a target whose parts come from
  /// elsewhere, and sets its device.
  bool check(std::string &error) {
    if (!readChip(error))
      return false;
    for (const std::string &library : libraries)
      if (device != "cuda" ||
          (library != "cublaslt" && library != "cublaslt:auto")) {
        error = "there is no library " + quote(library) +
                " for this target; an NVIDIA GPU has 'cublaslt', "
                "'cublaslt:auto'";
        return false;
      }
    return true;
  }

private:
  static std::string quote(std::string_view text) {
    return "'" + std::string(text) + "'";
  }

  /// Names are words of LLVM and the like, and are passed on by lines.
  static bool checkCharacters(std::string_view text, std::string &error) {
    auto isOther = [](unsigned char c) { return c <= ' ' || c == 0x7F; };
    auto other = std::find_if(text.begin(), text.end(), isOther);
    if (other == text.end())
      return true;
    error = "the name of a target has white space or a control character "
            "after " +
            quote(text.substr(0, other - text.begin())) +
            "; expected none, as in 'cpu:x86-64-v3,+avx512bf16'";
    return false;
  }

  /// Features belong to a CPU: alone they would be ignored.
  static bool refuseFeatures(std::string_view text, std::string_view system,
                             std::string_view features, std::string &error) {
    bool isHere = system == "cpu";
    error = quote(text) +
            " names features without a CPU; expected a CPU before them, as "
            "in '" +
            std::string(system) + (isHere ? ":x86-64-v3," : ":generic,") +
            std::string(features) + "'; " +
            (isHere ? "'native' is this machine's, " : "") +
            "'generic' the baseline";
    return false;
  }

  /// Sets the device that the chip is.
  bool readChip(std::string &error) {
    device.clear();
    if (chip.empty())
      return true;
    std::optional<ChipName> read = ChipName::read(chip);
    if (!read) {
      error = "there is no GPU " + quote(chip) +
              "; NVIDIA GPUs are named 'sm_90', Vulkan devices 'subgroup_32'";
      return false;
    }
    device = read->device();
    return true;
  }

  bool readDevice(std::string_view text, std::string_view kind,
                  std::string_view rest, std::string &error) {
    chip = rest.substr(0, rest.find('+'));
    rest.remove_prefix(chip.size());
    while (!rest.empty()) {
      rest.remove_prefix(1);
      libraries.emplace_back(rest.substr(0, rest.find('+')));
      rest.remove_prefix(libraries.back().size());
      if (libraries.back().empty()) {
        error = quote(text) +
                " names no library after '+'; expected one, as in "
                "'cuda:sm_90+cublaslt'";
        return false;
      }
    }
    if (!readChip(error))
      return false;
    if (!chip.empty() && device != kind) {
      error = quote(chip) + " is not a GPU for " + std::string(kind) +
              "; those are named " +
              (kind == "cuda" ? "'sm_80', 'sm_90', …"
                              : "'subgroup_8', 'subgroup_32', …");
      return false;
    }
    device = kind;
    if (device != "cuda" && !libraries.empty()) {
      error =
          "there is no library " + quote(libraries[0]) + " for " + quote(text);
      return false;
    }
    return true;
  }

  bool readCPU(std::string_view text, std::string_view kind,
               std::string_view rest, std::string &error) {
    if (kind != "cpu")
      cpu.triple = kind;
    std::string_view name = rest.substr(0, rest.find(','));
    if (name.empty() && !rest.empty())
      return refuseFeatures(text, kind, rest.substr(1), error);
    if (!name.empty() && (name.front() == '+' || name.front() == '-'))
      return refuseFeatures(text, kind, rest, error);
    cpu.cpu = name;
    rest.remove_prefix(name.size());
    return cpu.readFeatures(rest, error);
  }
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_TARGETNAME_H
