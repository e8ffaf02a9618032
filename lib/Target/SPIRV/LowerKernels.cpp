//===- LowerKernels.cpp - GPU kernels to SPIR-V for Vulkan ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/Image.h"
#include "Target/SPIRV/KernelEmitter.h"
#include "Target/SPIRV/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "Target/SPIRV/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct LowerKernels : relax::impl::LowerKernelsPassBase<LowerKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<gpu::GPUFuncOp> kernels;
    module.walk([&](gpu::GPUFuncOp kernel) { kernels.push_back(kernel); });
    Builder builder(&getContext());
    for (gpu::GPUFuncOp kernel : kernels) {
      KernelEmitter emitter(kernel);
      FailureOr<spirv::ModuleOp> made =
          emitter.emit(module.getBody(), getSPIRVName(kernel.getName()));
      if (failed(made))
        return signalPassFailure();
      (*made)->setAttr(kParametersAttr,
                       builder.getDenseI64ArrayAttr(emitter.getParameters()));
      (*made)->setAttr(kBlockAttr,
                       builder.getDenseI64ArrayAttr({emitter.getSharedBytes(),
                                                     emitter.getThreads(),
                                                     emitter.getSubgroup()}));
    }
  }
};

} // namespace
