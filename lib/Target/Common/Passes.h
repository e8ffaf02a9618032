//===- Passes.h - passes shared by targets ----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_PASSES_H
#define RELAX_TARGET_COMMON_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::relax {

// The generated file undefines the macros that select its parts.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Target/Common/Passes.h.inc"

/// The pipeline `relax-cpu-to-llvm`, on modules: lowers loops over memrefs, in
/// kernels and host functions, to the LLVM dialect. Allocations become calls of
/// `_mlir_memref_to_llvm_alloc` and `_mlir_memref_to_llvm_free`.
void buildKernelToLLVMPipeline(OpPassManager &manager);

/// Registers the pipeline.
void registerRelaxCommonPipelines();

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_PASSES_H
