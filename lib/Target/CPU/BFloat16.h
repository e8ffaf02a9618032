//===- BFloat16.h - bf16 on x86-64 ------------------------------*- C++ -*-===//
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

/// Expands bf16 arithmetic to f32 and bf16 conversions to integer arithmetic on
/// x86-64. Without AVX512-BF16, LLVM 22 would call `__truncsfbf2` for each
/// element, which only the libgcc of GCC 13 and later has (llvm-project issue
/// 97896). With it, LLVM would use `vcvtneps2bf16`, which takes subnormal
/// numbers for zero.
void expandBFloat16(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_BFLOAT16_H
