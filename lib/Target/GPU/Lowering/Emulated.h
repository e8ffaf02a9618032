//===- Emulated.h - GPU kernels as host functions ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LOWERING_EMULATED_H
#define RELAX_TARGET_GPU_LOWERING_EMULATED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::relax {

/// The functions that `relax-gpu-emulate-launches` created, in the form that
/// the emulator calls: with the addresses of their arguments.
SmallVector<func::FuncOp> getEmulatedKernels(ModuleOp module);

/// The number of argument words of such a function; an attribute until launches
/// are lowered.
constexpr StringLiteral kEmulatedArgumentsAttr = "emulated_arguments";
int64_t countEmulatedArguments(func::FuncOp function);

/// The name of the kernel that such a function emulates.
StringRef getEmulatedName(func::FuncOp function);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LOWERING_EMULATED_H
