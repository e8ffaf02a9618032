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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Waits in `block` before it touches memory.
static void waitIn(Block &block) {
  Operation &first = *llvm::find_if(block, [](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op);
  });
  if (auto branch = dyn_cast<scf::IfOp>(first);
      branch && branch.elseBlock() && !branch.getNumResults()) {
    waitIn(*branch.thenBlock());
    waitIn(*branch.elseBlock());
    return;
  }
  OpBuilder builder(&first);
  NVVM::GriddepcontrolOp::create(builder, first.getLoc(),
                                 NVVM::GridDepActionKind::wait);
}

namespace {

struct OverlapLaunches : relax::impl::OverlapLaunchesPassBase<OverlapLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel())
        return;
      Block &entry = kernel.getBody().front();
      waitIn(entry);
      OpBuilder builder = OpBuilder::atBlockBegin(&entry);
      NVVM::GriddepcontrolOp::create(
          builder, kernel.getLoc(), NVVM::GridDepActionKind::launch_dependents);
    });
    module.walk([](gpu::LaunchFuncOp launch) {
      launch->setDiscardableAttr(kOverlapsAttr,
                                 UnitAttr::get(launch.getContext()));
    });
  }
};

} // namespace
