//===- CodeGen.h - the LLVM dialect to machine code -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_CODEGEN_H
#define RELAX_TARGET_CPU_CODEGEN_H

#include "Runtime/Core/CPUName.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::relax {

/// The CPU that code is generated for.
struct CPUTarget : relax_rt::CPUName {
  /// Optimization level, 0 to 3.
  unsigned optimization = 3;

  /// The machine that this process runs on.
  static CPUTarget host();

  /// Reads the name of a CPU target, such as "cpu:x86-64-v3,+avx512bf16"
  /// (Runtime/Core/TargetName.h). Sets `error` if it has another form.
  static std::optional<CPUTarget> parse(StringRef name, std::string &error);

  /// Whether LLVM knows the triple, the CPU and the features, and these do not
  /// contradict each other. If not, sets `error`, which lists the names that
  /// LLVM knows.
  bool check(std::string &error) const;

  /// Changes features: what a new feature needs comes with it, and what needs a
  /// removed feature goes with it. Unknown names are added, for `check` to
  /// find.
  void change(const relax_rt::CPUName &by);

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
