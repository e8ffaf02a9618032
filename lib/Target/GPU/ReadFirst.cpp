//===- ReadFirst.cpp - reads before what uses them ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/ReadFirst.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::relax;

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
  Operation *place = nullptr;
  for (Operation &op : llvm::make_early_inc_range(range())) {
    if (!needed.contains(&op))
      place = place ? place : &op;
    else if (place)
      op.moveBefore(place);
  }
}
