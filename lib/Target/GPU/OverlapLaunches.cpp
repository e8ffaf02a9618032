//===- OverlapLaunches.cpp - kernels that begin before others end ---------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of a step of a decoder are short: much of their time passes
// before the first load. Let each begin while the one before it ends, and wait
// when it first needs memory. All kernels wait, so whatever ran before the one
// that a kernel waits for has ended too.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct OverlapLaunches : relax::impl::OverlapLaunchesPassBase<OverlapLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel())
        return;
      Block &entry = kernel.getBody().front();
      OpBuilder builder = OpBuilder::atBlockBegin(&entry);
      NVVM::GriddepcontrolOp::create(
          builder, kernel.getLoc(), NVVM::GridDepActionKind::launch_dependents);
      // A prefetch brings nothing to where it could be stale.
      builder.setInsertionPoint(
          &*llvm::find_if(llvm::drop_begin(entry), [](Operation &op) {
            return !isMemoryEffectFree(&op) && !isa<memref::PrefetchOp>(op);
          }));
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                     NVVM::GridDepActionKind::wait);
    });
    module.walk([](gpu::LaunchFuncOp launch) {
      launch->setDiscardableAttr("relax.overlaps",
                                 UnitAttr::get(launch.getContext()));
    });
  }
};

} // namespace
