//===- CodeGen.h - the LLVM dialect to machine code -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_CODEGEN_H
#define RELAX_TARGET_CPU_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::relax {

/// The machine that code is generated for.
struct CPUTarget {
  /// "x86_64-unknown-linux-gnu", "aarch64-linux-gnu", …
  std::string triple;
  /// A name that LLVM knows: "znver4", "cortex-a76"; "" is the baseline.
  std::string cpu;
  /// Features in addition to those of the CPU: "+avx512f,-sse4a".
  std::string features;
  /// Optimization level, 0 to 3.
  unsigned optimization = 3;

  /// The machine that this process runs on.
  static CPUTarget host();

  /// Bits of the widest vector register, which schedules tile for; 128 if
  /// unknown.
  unsigned vectorBits() const;

  /// The features that a CPU needs to run code for this target (Features.h).
  SmallVector<std::string> requiredFeatures() const;
};

/// Creates LLVM's description of `target`; returns null and sets `error` if
/// LLVM does not know the target.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const CPUTarget &target, std::string &error);

/// Translates a module in the LLVM dialect to LLVM IR optimized for `machine`.
/// Emits an error and returns null if it cannot be translated.
std::unique_ptr<llvm::Module> translateAndOptimize(ModuleOp module,
                                                   llvm::LLVMContext &context,
                                                   llvm::TargetMachine &machine,
                                                   unsigned optimization);

/// Compiles a module in the LLVM dialect to a relocatable object file.
LogicalResult emitObject(ModuleOp module, const CPUTarget &target,
                         SmallVectorImpl<char> &object);

/// Compiles a module in the LLVM dialect to readable assembly.
LogicalResult emitAssembly(ModuleOp module, const CPUTarget &target,
                           SmallVectorImpl<char> &assembly);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_CODEGEN_H
