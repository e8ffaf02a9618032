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

/// Attributes on the `spirv.module` of a kernel. `parameters`: the words of a
/// launch that it reads, in the order in which it gets them. `block`: shared
/// memory in bytes, threads per block, and the size of the subgroup (0:
/// unused). `bindings`: with descriptors, which of the parameters are the
/// pointers of bound buffers, in order. `narrow`: which of the parameters must
/// fit in 32 bits.
constexpr StringLiteral kParametersAttr = "parameters";
constexpr StringLiteral kBlockAttr = "block";
constexpr StringLiteral kBindingsAttr = "bindings";
constexpr StringLiteral kNarrowAttr = "narrow";
/// The number of words before the parameters, and the maximum number of push
/// constants.
constexpr StringLiteral kPushedAttr = "pushed";

/// The name of the SPIR-V module of a kernel.
std::string getSPIRVName(StringRef kernel);

/// The SPIR-V modules of all kernels.
SmallVector<spirv::ModuleOp> getSPIRVKernels(ModuleOp module);

/// Serializes a kernel to a SPIR-V binary.
LogicalResult serializeKernel(spirv::ModuleOp kernel,
                              SmallVectorImpl<uint32_t> &words);

/// Makes the image of all kernels for the runtime (see VulkanImage.h) and
/// computes its size.
FailureOr<LLVM::GlobalOp> makeSPIRVImage(ModuleOp module, HostBuilder &builder,
                                         int64_t &bytes);

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_IMAGE_H
