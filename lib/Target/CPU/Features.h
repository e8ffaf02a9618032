//===- Features.h - CPU features that code requires -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes which CPU features code for a target may use, and adds the run-time
// check for them to compiled code. Runtime/CPUFeatures.def lists their names;
// Runtime/CPUFeatures.h describes the check.
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
class Triple;
} // namespace llvm

namespace mlir::relax {

/// The features of the table for an architecture, in its order: what code can
/// be asked to use, and the runtime can find.
llvm::SmallVector<llvm::StringRef> getKnownFeatures(const llvm::Triple &triple);

/// The features that code for `machine` may use beyond the baseline of its
/// architecture, in the order of the table.
llvm::SmallVector<llvm::StringRef>
getRequiredFeatures(const llvm::TargetMachine &machine);

/// Whether a function can be called from outside before the CPU has been
/// checked. Such a function is compiled for the baseline.
bool isEntry(const llvm::Function &function);

/// Makes each entry of `module` check the CPU first and fail with the names of
/// missing features. After the first call, the check costs a load and a branch
/// that is never taken.
void addFeatureChecks(llvm::Module &module,
                      llvm::ArrayRef<llvm::StringRef> features);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_FEATURES_H
