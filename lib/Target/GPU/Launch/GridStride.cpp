//===- GridStride.cpp - adds grid-stride kernels --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If kernels wait for earlier kernels, each block has to find out whether it
// may proceed, and to signal its own completion, which takes about as long as
// the work of a short block. For a kernel with many short blocks, a second
// version is therefore added in which a block loops over several block indices,
// so that any number of blocks can do the work. The launcher chooses the
// version and the number of blocks. The second version is a separate kernel
// because the loop costs 0.4 us per launch, even if a constant of the pipeline
// says that there is only one iteration.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_GRIDSTRIDEPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Appends the number of blocks of the launch as the last argument.
static LogicalResult addGridSize(gpu::GPUFuncOp kernel) {
  unsigned last = kernel.getNumArguments();
  if (failed(kernel.insertArgument(last, IndexType::get(kernel.getContext()),
                                   {}, kernel.getLoc())))
    return failure();
  kernel.walk([&](gpu::GridDimOp size) {
    if (size.getDimension() == gpu::Dimension::x)
      size.replaceAllUsesWith(kernel.getArgument(last));
  });
  return success();
}

/// Wraps the kernel in a loop over block indices, up to the kernel's last
/// argument. Block indices are below 2^31, so i32 is used: computations on them
/// then need no more bits than with `gpu.block_id`.
static void strideGrid(gpu::GPUFuncOp kernel) {
  Location loc = kernel.getLoc();
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  auto narrow = [&](Value index) {
    return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                        index);
  };
  Value end = narrow(kernel.getArgument(kernel.getNumArguments() - 1));
  Value first = narrow(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
  Value stride =
      narrow(gpu::GridDimOp::create(builder, loc, gpu::Dimension::x));
  auto loop = scf::WhileOp::create(builder, loc, first.getType(), first);
  Block *body =
      builder.createBlock(&loop.getBefore(), {}, first.getType(), loc);
  Block *again =
      builder.createBlock(&loop.getAfter(), {}, first.getType(), loc);
  Value number = body->getArgument(0);
  body->getOperations().splice(body->end(), entry.getOperations(),
                               std::next(loop->getIterator()),
                               entry.getTerminator()->getIterator());
  builder.setInsertionPointToStart(body);
  Value block = arith::IndexCastUIOp::create(builder, loc,
                                             builder.getIndexType(), number);
  SmallVector<NVVM::GriddepcontrolOp> waits;
  bool sharesMemory = kernel.getNumWorkgroupAttributions() > 0;
  body->walk([&](Operation *op) {
    if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      if (id.getDimension() == gpu::Dimension::x)
        id.replaceAllUsesWith(block);
    } else if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op)) {
      if (control.getKind() == NVVM::GridDepActionKind::wait)
        waits.push_back(control);
    }
    sharesMemory |= isa<gpu::DynamicSharedMemoryOp>(op);
  });
  // One wait makes the results of all earlier launches visible.
  for (NVVM::GriddepcontrolOp wait : waits) {
    builder.setInsertionPoint(wait);
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, number, first);
    auto branch = scf::IfOp::create(builder, loc, isFirst);
    wait->moveBefore(branch.thenBlock()->getTerminator());
  }
  builder.setInsertionPointToEnd(body);
  Value next = arith::AddIOp::create(builder, loc, number, stride);
  Value goesOn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, next, end);
  scf::ConditionOp::create(builder, loc, goesOn, next);
  builder.setInsertionPointToEnd(again);
  if (sharesMemory)
    gpu::BarrierOp::create(builder, loc);
  scf::YieldOp::create(builder, loc, again->getArgument(0));
}

namespace {

struct GridStride : relax::impl::GridStridePassBase<GridStride> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<Operation *, SmallVector<gpu::LaunchFuncOp>> launches;
    module.walk([&](gpu::LaunchFuncOp launch) {
      Operation *kernel = module.lookupSymbol(launch.getKernel());
      if (kernel && kernel->hasAttr(kManyBlocksAttr))
        launches[kernel].push_back(launch);
    });
    auto isOne = [](Value size) { return getConstantIntValue(size) == 1; };
    auto isLine = [&](gpu::LaunchFuncOp launch) {
      return isOne(launch.getGridSizeY()) && isOne(launch.getGridSizeZ());
    };
    for (auto &[op, all] : launches) {
      op->removeAttr(kManyBlocksAttr);
      auto kernel = cast<gpu::GPUFuncOp>(op);
      if (!llvm::all_of(all, isLine) ||
          !llvm::hasSingleElement(kernel.getBody()))
        continue;
      if (failed(addGridSize(kernel)))
        return signalPassFailure();
      for (gpu::LaunchFuncOp launch : all)
        launch.getKernelOperandsMutable().append(launch.getGridSizeX());
      gpu::GPUFuncOp strided = kernel.clone();
      strided.setName((kernel.getName() + "_grid_stride").str());
      SymbolTable(kernel->getParentOp())
          .insert(strided, std::next(kernel->getIterator()));
      strided->setAttr(kGridStrideAttr, UnitAttr::get(&getContext()));
      strideGrid(strided);
      kernel->setAttr(kGridStrideAttr, FlatSymbolRefAttr::get(strided));
    }
  }
};

} // namespace
