//===- MergeLaunches.cpp - merges independent launches --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Products.h"
#include "Target/GPU/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::relax;

/// Whether a host op can be moved before the preceding launch.
static bool canMoveUp(Operation &op) {
  return isMemoryEffectFree(&op) || isa<memref::AllocOp>(op);
}

/// Moves the body of a launch into `into`; block `first` of `merged` becomes
/// its first block.
static void moveBody(gpu::LaunchOp launch, gpu::LaunchOp merged, Block *into,
                     Value first) {
  OpBuilder builder(into->getTerminator());
  Location loc = launch.getLoc();
  Value block = merged.getBlockIds().x;
  if (first) {
    // Block indices, and so their difference, are below 2^31. The casts tell
    // this to code that uses narrower integers.
    auto narrow = [&](Value index) {
      return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                          index);
    };
    block = arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(),
        arith::SubIOp::create(builder, loc, narrow(block), narrow(first)));
  }
  auto replace = [](gpu::KernelDim3 from, gpu::KernelDim3 to) {
    from.x.replaceAllUsesWith(to.x);
    from.y.replaceAllUsesWith(to.y);
    from.z.replaceAllUsesWith(to.z);
  };
  gpu::KernelDim3 blocks = merged.getBlockIds(), grid = merged.getGridSize();
  replace(launch.getBlockIds(), {block, blocks.y, blocks.z});
  replace(launch.getGridSize(), {launch.getGridSizeX(), grid.y, grid.z});
  replace(launch.getThreadIds(), merged.getThreadIds());
  replace(launch.getBlockSize(), merged.getBlockSize());
  for (BlockArgument buffer : launch.getWorkgroupAttributions())
    buffer.replaceAllUsesWith(
        merged.addWorkgroupAttribution(buffer.getType(), buffer.getLoc()));
  Block &body = launch.getBody().front();
  into->getOperations().splice(into->getTerminator()->getIterator(),
                               body.getOperations(), body.begin(),
                               std::prev(body.end()));
}

/// Merges two launches: the blocks of `one` come first, then the blocks of
/// `other`.
static gpu::LaunchOp merge(gpu::LaunchOp one, gpu::LaunchOp other) {
  OpBuilder builder(other);
  Location loc = other.getLoc();
  Value count = one.getGridSizeX();
  Value blocks =
      arith::AddIOp::create(builder, loc, count, other.getGridSizeX());
  Value shared = one.getDynamicSharedMemorySize();
  if (Value others = other.getDynamicSharedMemorySize())
    shared = shared ? builder.createOrFold<arith::MaxUIOp>(loc, shared, others)
                    : others;
  auto merged = gpu::LaunchOp::create(
      builder, loc, blocks, other.getGridSizeY(), other.getGridSizeZ(),
      other.getBlockSizeX(), other.getBlockSizeY(), other.getBlockSizeZ(),
      shared);
  builder.setInsertionPointToStart(&merged.getBody().front());
  gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPointToStart(&merged.getBody().front());
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        merged.getBlockIds().x, count);
  auto branch = scf::IfOp::create(builder, loc, isFirst,
                                  /*withElseRegion=*/true);
  // Skip the count of workgroup buffers, which is an attribute without a
  // dialect.
  for (NamedAttribute attribute : one->getDiscardableAttrs())
    if (attribute.getNameDialect())
      merged->setDiscardableAttr(attribute.getName(), attribute.getValue());
  if (one->hasAttr(kManyBlocksAttr) && other->hasAttr(kManyBlocksAttr))
    merged->setDiscardableAttr(kManyBlocksAttr, builder.getUnitAttr());
  moveBody(one, merged, branch.thenBlock(), {});
  moveBody(other, merged, branch.elseBlock(), count);
  one.erase();
  other.erase();
  return merged;
}

/// Whether blocks form clusters, and so must all run the same code.
static bool isCluster(gpu::LaunchOp launch) {
  return launch->hasAttr(NVVM::NVVMDialect::getClusterDimAttrName());
}

void relax::mergeLaunches(Operation *after, Operation *before) {
  gpu::LaunchOp last;
  Operation *next = after ? after->getNextNode() : &before->getBlock()->front();
  while (next != before) {
    Operation *op = next;
    next = op->getNextNode();
    auto launch = dyn_cast<gpu::LaunchOp>(op);
    if (!launch) {
      // Move ops that later launches need before the first one.
      if (last && canMoveUp(*op))
        op->moveBefore(last);
      else
        last = nullptr;
      continue;
    }
    if (last && !isCluster(last) && !isCluster(launch) &&
        isEqualConstantIntOrValue(last.getBlockSizeX(), launch.getBlockSizeX()))
      last = merge(last, launch);
    else
      last = launch;
  }
}
