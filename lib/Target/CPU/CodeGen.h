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

/// What machine code is made for.
struct CPUTarget {
  /// "x86_64-unknown-linux-gnu", "aarch64-linux-gnu", …
  std::string triple;
  /// A name that LLVM knows: "znver4", "cortex-a76"; "" is the baseline.
  std::string cpu;
  /// Beyond those of the CPU: "+avx512f,-sse4a".
  std::string features;
  /// 0 to 3.
  unsigned optimization = 3;

  /// The machine that this process runs on, with all its vector units.
  static CPUTarget host();

  /// Bits of the widest vector register: what schedules tile for. 128 where
  /// nothing better is known.
  unsigned vectorBits() const;

  /// The features that a CPU needs to run code for this target (Features.h).
  SmallVector<std::string> requiredFeatures() const;
};

/// LLVM's description of `target`; null, with `error` set, where LLVM has no
/// such target.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const CPUTarget &target, std::string &error);

/// A module in the LLVM dialect as optimised LLVM IR for `machine`; null where
/// it cannot be translated, with an error emitted.
std::unique_ptr<llvm::Module> translateAndOptimize(ModuleOp module,
                                                   llvm::LLVMContext &context,
                                                   llvm::TargetMachine &machine,
                                                   unsigned optimization);

/// A module in the LLVM dialect as a relocatable object file.
LogicalResult emitObject(ModuleOp module, const CPUTarget &target,
                         SmallVectorImpl<char> &object);

/// The same as assembly, for people.
LogicalResult emitAssembly(ModuleOp module, const CPUTarget &target,
                           SmallVectorImpl<char> &assembly);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_CODEGEN_H
