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
// Before a kernel waits, it asks for what it loads first to be brought near
// (weights come from far). That is only a hint: what others write meanwhile is
// seen by the load itself.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERPREFETCHESPASS
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// The most places that a thread asks for.
static constexpr unsigned maxPrefetches = 16;

/// Makes a value anew from what does not depend on memory, where that is all it
/// depends on; null elsewhere. A loop is at its first step.
static Value computeAnew(Value value, OpBuilder &builder, IRMapping &known) {
  if (Value found = known.lookupOrNull(value))
    return found;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<gpu::GPUFuncOp>(parent))
      return value;
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || value != loop.getInductionVar())
      return {};
    Value first = computeAnew(loop.getLowerBound(), builder, known);
    known.map(value, first);
    return first;
  }
  if (!isMemoryEffectFree(op) || op->getNumRegions())
    return {};
  for (Value operand : op->getOperands())
    if (!computeAnew(operand, builder, known))
      return {};
  builder.clone(*op, known);
  return known.lookup(value);
}

/// Asks for what `load` reads from a buffer of the kernel's caller. Whether it
/// did.
static bool prefetch(Operation *load, OpBuilder &builder, IRMapping &known) {
  if (!isa<memref::LoadOp, vector::LoadOp>(load))
    return false;
  Value buffer = load->getOperand(0);
  if (!isa<BlockArgument>(buffer) ||
      !cast<MemRefType>(buffer.getType()).getLayout().isIdentity())
    return false;
  SmallVector<Value> at;
  for (Value index : load->getOperands().drop_front()) {
    at.push_back(computeAnew(index, builder, known));
    if (!at.back())
      return false;
  }
  memref::PrefetchOp::create(builder, load->getLoc(), buffer, at,
                             /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
  return true;
}

/// Waits in `block` before it touches memory.
static void waitIn(Block &block) {
  // A prefetch brings nothing to where it could be stale.
  Operation &first = *llvm::find_if(block, [](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() ||
           (!isMemoryEffectFree(&op) && !isa<memref::PrefetchOp>(op));
  });
  if (auto branch = dyn_cast<scf::IfOp>(first);
      branch && branch.elseBlock() && !branch.getNumResults()) {
    waitIn(*branch.thenBlock());
    waitIn(*branch.elseBlock());
    return;
  }
  OpBuilder builder(&first);
  IRMapping known;
  unsigned count = 0;
  auto ask = [&](Operation &op) {
    if (count < maxPrefetches)
      count += prefetch(&op, builder, known);
  };
  for (Operation *op = &first; op; op = op->getNextNode()) {
    if (isa<gpu::BarrierOp>(op))
      break;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Operation &inner : *loop.getBody())
        ask(inner);
    else
      ask(*op);
  }
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

/// Upstream's lowering to NVVM leaves prefetches to LLVM's intrinsic, which is
/// nothing on NVIDIA GPUs.
struct LowerPrefetches : relax::impl::LowerPrefetchesPassBase<LowerPrefetches> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::Prefetch prefetch) {
      OpBuilder builder(prefetch);
      auto level = NVVM::PrefetchCacheLevelAttr::get(
          builder.getContext(), NVVM::PrefetchCacheLevel::L2);
      NVVM::PrefetchOp::create(builder, prefetch.getLoc(), level,
                               /*evictPriority=*/nullptr, prefetch.getAddr(),
                               /*predicate=*/Value());
      prefetch.erase();
    });
  }
};

} // namespace
