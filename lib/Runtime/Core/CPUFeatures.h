//===- CPUFeatures.h - what this CPU has ------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for a CPU with extensions that this one lacks ends the process by an
// illegal instruction, somewhere. So compiled code carries the names of what it
// needs (CPUFeatures.def), and its entries ask `relax_rt_require_cpu` once
// before anything else of it runs. The entries themselves are compiled for the
// baseline of the architecture.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_CPUFEATURES_H
#define RELAX_RUNTIME_CORE_CPUFEATURES_H

#include <string>

namespace relax_rt {

/// Those of `features`, names with commas between them, that this CPU or its
/// operating system lacks, in the same form. A name that is not known here is
/// missing.
std::string findMissingFeatures(const char *features);

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_CPUFEATURES_H
