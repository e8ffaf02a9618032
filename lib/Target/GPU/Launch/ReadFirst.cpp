//===- ReadFirst.cpp - hoists loads ahead of computations -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/ReadFirst.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::relax;

/// Moves the `needed` ops of a range to its start.
template <typename Range>
static void putFirst(Range ops, const llvm::SetVector<Operation *> &needed) {
  Operation *place = nullptr;
  for (Operation &op : llvm::make_early_inc_range(ops)) {
    if (!needed.contains(&op))
      place = place ? place : &op;
    else if (place)
      op.moveBefore(place);
  }
}

void relax::readFirst(Block *block, Operation *from, Operation *behind) {
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == block; };
  auto range = [&] {
    return llvm::make_range(from ? from->getIterator() : block->begin(),
                            behind ? behind->getIterator() : block->end());
  };
  for (Operation &op : range())
    if (isa<memref::LoadOp, vector::LoadOp>(op))
      (void)getBackwardSlice(&op, &needed, options);
  putFirst(range(), needed);
}

/// The global memory that `op` reads; null if it reads none.
static Value globalRead(Operation &op) {
  Value buffer;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    buffer = load.getMemRef();
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    buffer = load.getBase();
  if (buffer && cast<MemRefType>(buffer.getType()).getMemorySpace())
    return {};
  return buffer;
}

/// Whether `op`, or an op in its regions, may write global memory.
static bool writesGlobally(Operation &op) {
  auto isShared = [](Value buffer) {
    return bool(cast<MemRefType>(buffer.getType()).getMemorySpace());
  };
  return op
      .walk([&](Operation *inner) {
        if (isa<gpu::BarrierOp, gpu::ShuffleOp, memref::LoadOp, vector::LoadOp,
                vector::GatherOp, scf::ForOp, scf::IfOp, scf::YieldOp,
                gpu::TerminatorOp>(inner) ||
            isMemoryEffectFree(inner))
          return WalkResult::advance();
        if (auto store = dyn_cast<memref::StoreOp>(inner);
            store && isShared(store.getMemRef()))
          return WalkResult::advance();
        if (auto store = dyn_cast<vector::StoreOp>(inner);
            store && isShared(store.getBase()))
          return WalkResult::advance();
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

void relax::readGlobalFirst(Block *block) {
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == block; };
  auto end = llvm::find_if(*block, writesGlobally);
  auto range = llvm::make_range(block->begin(), end);
  for (Operation &op : range) {
    llvm::SetVector<Operation *> slice;
    if (!globalRead(op) || failed(getBackwardSlice(&op, &slice, options)))
      continue;
    if (llvm::all_of(slice, [](Operation *part) {
          return globalRead(*part) ||
                 (isMemoryEffectFree(part) && !part->getNumRegions());
        }))
      needed.insert(slice.begin(), slice.end());
  }
  putFirst(range, needed);
}

void relax::computeLate(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers()) {
      user = op->getBlock()->findAncestorOpInBlock(*user);
      if (user && (!first || user->isBeforeInBlock(first)))
        first = user;
    }
    if (first)
      op->moveBefore(first);
  }
}
