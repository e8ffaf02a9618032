//===- Passes.h - kernels to SPIR-V -----------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_PASSES_H
#define RELAX_TARGET_SPIRV_PASSES_H

#include "Runtime/Vulkan/VulkanImage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::relax {

// The generated file undefines the macros that select its parts.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Target/SPIRV/Passes.h.inc"

struct SPIRVOptions : PassPipelineOptions<SPIRVOptions> {
  Option<bool> bound{*this, "bound",
                     llvm::cl::desc("for devices without buffer addresses"),
                     llvm::cl::init(false)};
  Option<bool> narrow{
      *this, "narrow",
      llvm::cl::desc("also for devices without 64-bit integers"),
      llvm::cl::init(false)};
  Option<bool> overlap{
      *this, "overlap",
      llvm::cl::desc("let kernels wait for earlier kernels by themselves"),
      llvm::cl::init(false)};
  Option<int64_t> pushed{
      *this, "pushed",
      llvm::cl::desc("maximum number of 8-byte push constants of a kernel"),
      llvm::cl::init(relax_rt::kPushedWords)};
};

/// The pipeline `relax-gpu-to-spirv`, on modules: turns each launched kernel
/// into a `spirv.module`.
void buildSPIRVPipeline(OpPassManager &manager,
                        const SPIRVOptions &options = {});

/// The pipeline `relax-vulkan-to-llvm`, on modules: lowers launches to SPIR-V
/// in the module and runtime calls, and everything else to the LLVM dialect.
void buildVulkanToLLVMPipeline(OpPassManager &manager,
                               const SPIRVOptions &options = {});

/// Registers the two pipelines.
void registerRelaxSPIRVPipelines();

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_PASSES_H
