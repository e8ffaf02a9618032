//===- BFloat16.h - bf16 on CPUs without it ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_BFLOAT16_H
#define RELAX_TARGET_CPU_BFLOAT16_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::relax {

/// Computes in f32 what a module for an x86-64 without conversions of bf16
/// computes in bf16, and converts by arithmetic of integers. LLVM 22 calls
/// `__truncsfbf2` for each element there, which only the libgcc of GCC 13 and
/// later has (llvm-project issue 97896).
void expandBFloat16(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_BFLOAT16_H
