//===- OutlineLaunches.cpp - moves launches to one GPU module -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OUTLINELAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static constexpr StringLiteral moduleName = "relax_kernels";

/// Makes a name valid for assemblers.
static std::string identifier(StringRef name) {
  std::string text = name.str();
  for (char &character : text)
    if (!llvm::isAlnum(character))
      character = '_';
  return text;
}

static Value cast(OpBuilder &builder, Location loc, Value value, Type type) {
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(type),
                                            ValueRange(value))
      .getResult(0);
}

/// Tensor maps are passed by value, and the kernel gets a pointer to the
/// parameter. Records the resulting parameter numbers for `relax-cuda-to-llvm`.
static void passMapsByValue(OpBuilder &builder, gpu::GPUFuncOp kernel,
                            SmallVectorImpl<Value> &operands) {
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  SmallVector<Type> types = llvm::to_vector(kernel.getArgumentTypes());
  SmallVector<int64_t> maps;
  int64_t next = 0;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Type type = operand.getType();
    auto tensor = dyn_cast<MemRefType>(type);
    int64_t first = next;
    next += tensor ? 3 + 2 * tensor.getRank() : 1;
    if (!isa<nvgpu::TensorMapDescriptorType>(type))
      continue;
    maps.push_back(first);
    types[index] = pointer;
    operand = cast(builder, kernel.getLoc(), operand, pointer);
    BlockArgument argument = kernel.getArgument(index);
    argument.setType(pointer);
    OpBuilder inside = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value inner = cast(inside, kernel.getLoc(), argument, type);
    argument.replaceAllUsesExcept(inner, inner.getDefiningOp());
  }
  if (maps.empty())
    return;
  kernel.setFunctionType(builder.getFunctionType(types, {}));
  kernel->setAttr(kTensorMapsAttr, builder.getDenseI64ArrayAttr(maps));
}

/// Copies `relax.invariant` from the parameters of the host function to the
/// kernel.
static void noteInvariants(gpu::GPUFuncOp kernel, ValueRange operands) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto buffer = dyn_cast<MemrefValue>(operand);
    if (!buffer)
      continue;
    auto argument = dyn_cast<BlockArgument>(memref::skipViewLikeOps(buffer));
    auto function = dyn_cast_if_present<func::FuncOp>(
        argument ? argument.getOwner()->getParentOp() : nullptr);
    if (function &&
        function.getArgAttr(argument.getArgNumber(), notes::kInvariant))
      kernel.setArgAttr(index, notes::kInvariant,
                        UnitAttr::get(kernel.getContext()));
  }
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
      // Recompute these in the kernel: they are cheap, and known values
      // simplify the code.
      if (failed(sinkOperationsIntoLaunchOp(launch, [](Operation *op) {
            return matchPattern(op, m_Constant()) || isa<memref::DimOp>(op);
          })))
        return signalPassFailure();
      auto function = launch->getParentOfType<func::FuncOp>();
      SmallVector<Value> operands;
      gpu::GPUFuncOp kernel = outlineKernelFunc(
          launch, identifier(function.getSymName()), operands);
      symbols.insert(kernel); // makes the name unique
      for (NamedAttribute attribute : launch->getDiscardableAttrs())
        kernel->setDiscardableAttr(attribute.getName(), attribute.getValue());
      if (std::optional<int64_t> size =
              getConstantIntValue(launch.getBlockSizeX()))
        kernel.setKnownBlockSizeAttr(
            builder.getDenseI32ArrayAttr({static_cast<int32_t>(*size), 1, 1}));
      builder.setInsertionPoint(launch);
      noteInvariants(kernel, operands);
      passMapsByValue(builder, kernel, operands);
      gpu::LaunchFuncOp::create(builder, launch.getLoc(), kernel,
                                launch.getGridSizeOperandValues(),
                                launch.getBlockSizeOperandValues(),
                                launch.getDynamicSharedMemorySize(), operands);
      launch.erase();
    }
  }
};

} // namespace
