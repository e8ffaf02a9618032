//===- Passes.h - kernels to CPU code ---------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_PASSES_H
#define RELAX_TARGET_CPU_PASSES_H

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
#include "Target/CPU/Passes.h.inc"

/// Options for scheduling kernels.
struct KernelOptions : PassPipelineOptions<KernelOptions> {
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("bits of a vector register"),
                              llvm::cl::init(512)};
  Option<bool> schedule{*this, "schedule",
                        llvm::cl::desc("make vectors, not plain loops alone"),
                        llvm::cl::init(true)};
  Option<bool> parallel{*this, "parallel",
                        llvm::cl::desc("use the thread pool of the runtime"),
                        llvm::cl::init(true)};
};

/// The pipeline `relax-cpu-bufferize`, on modules: turns kernels into loops
/// over memrefs (ConvertKernelBoundary.h). Kernels that already are loops over
/// memrefs do not change.
void buildKernelBufferizePipeline(OpPassManager &manager,
                                  const KernelOptions &options = {});

/// Registers the pipeline.
void registerRelaxCPUPipelines();

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_PASSES_H
