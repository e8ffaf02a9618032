//===- OutlineLaunches.cpp - bodies of launches into one GPU module -------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OUTLINELAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static constexpr StringLiteral moduleName = "relax_kernels";

/// A name as assemblers take it.
static std::string identifier(StringRef name) {
  std::string text = name.str();
  for (char &character : text)
    if (!llvm::isAlnum(character))
      character = '_';
  return text;
}

namespace {

struct OutlineLaunches : relax::impl::OutlineLaunchesPassBase<OutlineLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<gpu::LaunchOp> launches;
    module.walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
    if (launches.empty())
      return;
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), moduleName);
    SymbolTable symbols(kernels);
    for (gpu::LaunchOp launch : launches) {
      // What is cheap to compute anew, and simpler if it is known.
      if (failed(sinkOperationsIntoLaunchOp(launch, [](Operation *op) {
            return matchPattern(op, m_Constant()) || isa<memref::DimOp>(op);
          })))
        return signalPassFailure();
      auto function = launch->getParentOfType<func::FuncOp>();
      SmallVector<Value> operands;
      gpu::GPUFuncOp kernel = outlineKernelFunc(
          launch, identifier(function.getSymName()), operands);
      symbols.insert(kernel); // under a name of its own
      for (NamedAttribute attribute : launch->getDiscardableAttrs())
        kernel->setDiscardableAttr(attribute.getName(), attribute.getValue());
      if (std::optional<int64_t> size =
              getConstantIntValue(launch.getBlockSizeX()))
        kernel.setKnownBlockSizeAttr(
            builder.getDenseI32ArrayAttr({static_cast<int32_t>(*size), 1, 1}));
      builder.setInsertionPoint(launch);
      gpu::LaunchFuncOp::create(builder, launch.getLoc(), kernel,
                                launch.getGridSizeOperandValues(),
                                launch.getBlockSizeOperandValues(),
                                launch.getDynamicSharedMemorySize(), operands);
      launch.erase();
    }
  }
};

} // namespace
