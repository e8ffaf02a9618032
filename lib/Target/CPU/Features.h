//===- Features.h - what machine code needs of a CPU ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of a CPU in one place: which ones code for a target may use, and
// the check that compiled code carries. Runtime/CPUFeatures.def has their
// names; Runtime/CPUFeatures.h says how the check works.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_FEATURES_H
#define RELAX_TARGET_CPU_FEATURES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::relax {

/// The features that code for `machine` may use beyond the baseline of its
/// architecture, in the order of the table.
llvm::SmallVector<llvm::StringRef>
getRequiredFeatures(const llvm::TargetMachine &machine);

/// Whether a function is called from outside before it is known that the CPU
/// can run the rest. Such a function is compiled for the baseline.
bool isEntry(const llvm::Function &function);

/// Lets each entry of `module` fail with the names of what the CPU lacks,
/// before it does anything else. The check is done once: afterwards it costs a
/// load and a branch that is never taken.
void addFeatureChecks(llvm::Module &module,
                      llvm::ArrayRef<llvm::StringRef> features);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_FEATURES_H
