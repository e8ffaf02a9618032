//===- Passes.h - kernels to GPU code ---------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_PASSES_H
#define RELAX_TARGET_GPU_PASSES_H

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::relax {

// The generated file undefines the macros that select its parts.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Target/GPU/Passes.h.inc"

struct LaunchOptions : PassPipelineOptions<LaunchOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("the GPU, such as sm_90a, whose specific "
                     "features may be used; empty for any"),
      llvm::cl::init("")};
};

/// The pipeline `relax-gpu-bufferize`, on modules: turns kernels with memref
/// parameters into host functions that launch GPU code.
void buildKernelLaunchPipeline(OpPassManager &manager,
                               const LaunchOptions &options = {});

/// On a launch and its kernel: it has many short blocks.
constexpr StringLiteral kManyBlocksAttr = "many_blocks";
/// On a kernel: the name of the variant that does the same with any number of
/// blocks (`relax-gpu-grid-stride`). On that variant: a unit attribute.
constexpr StringLiteral kGridStrideAttr = "grid_stride";

/// On a launch: its kernel itself waits for earlier kernels.
constexpr StringLiteral kOverlapsAttr = "overlaps";

struct CUDAOptions : PassPipelineOptions<CUDAOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("the GPU, such as sm_90; \"emulated\" "
                     "is the device of the tests"),
      llvm::cl::init("sm_80")};
};

/// The pipeline `relax-cuda-to-llvm`, on modules: lowers launches to PTX in the
/// module and runtime calls, and everything else to the LLVM dialect.
void buildCUDAToLLVMPipeline(OpPassManager &manager,
                             const CUDAOptions &options = {});

/// The size of a tensor map, in words.
constexpr int64_t tensorMapWords = 16;

/// The parameters of a kernel, counted in LLVM types, that are tensor maps.
constexpr StringLiteral kTensorMapsAttr = "tensor_maps";

/// Registers the two pipelines.
void registerRelaxGPUPipelines();

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_PASSES_H
