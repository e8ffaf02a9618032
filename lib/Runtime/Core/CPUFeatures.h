//===- CPUFeatures.h - detection of CPU features ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Running code compiled for an extension that the CPU lacks ends the process
// with an illegal instruction at some random place. So compiled code carries
// the names of the features it needs (CPUFeatures.def), and its entry points
// call `relax_rt_require_cpu` once before anything else. The entry points
// themselves are compiled for the baseline of the architecture.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_CPUFEATURES_H
#define RELAX_RUNTIME_CORE_CPUFEATURES_H

#include <string>

namespace relax_rt {

/// Returns the subset of `features` (comma-separated) that this CPU or its
/// operating system lacks, in the same form. Unknown names count as missing.
std::string findMissingFeatures(const char *features);

/// Returns the features of the table (CPUFeatures.def) that this CPU has, in
/// the same form.
std::string findFeatures();

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_CPUFEATURES_H
