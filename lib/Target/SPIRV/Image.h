//===- Image.h - SPIR-V in an object file -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_IMAGE_H
#define RELAX_TARGET_SPIRV_IMAGE_H

#include "Target/Common/HostBuilder.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace mlir::relax {

/// On a `spirv.module` of a kernel: the words of a launch that it reads, in the
/// order in which it has them; and of a block the bytes that it shares, its
/// threads, and how many of these exchange values (0: none do). Where buffers
/// are bound, which of the words are pointers of those, in their order; and
/// which must be numbers of 32 bits.
constexpr StringLiteral kParametersAttr = "parameters";
constexpr StringLiteral kBlockAttr = "block";
constexpr StringLiteral kBindingsAttr = "bindings";
constexpr StringLiteral kNarrowAttr = "narrow";
/// How many words are pushed before the parameters, and how many at most.
constexpr StringLiteral kPushedAttr = "pushed";

/// The name of the module that a kernel becomes.
std::string getSPIRVName(StringRef kernel);

/// Those of all kernels of a program.
SmallVector<spirv::ModuleOp> getSPIRVKernels(ModuleOp module);

/// The binary of a kernel.
LogicalResult serializeKernel(spirv::ModuleOp kernel,
                              SmallVectorImpl<uint32_t> &words);

/// The image of a program's kernels for the runtime (VulkanImage.h there), and
/// its size.
FailureOr<LLVM::GlobalOp> makeSPIRVImage(ModuleOp module, HostBuilder &builder,
                                         int64_t &bytes);

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_IMAGE_H
