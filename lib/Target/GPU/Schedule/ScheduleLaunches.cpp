//===- ScheduleLaunches.cpp - structured ops to GPU launches --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Attention/AttentionEmitter.h"
#include "Target/GPU/Chip.h"
#include "Target/GPU/Matmul/Products.h"
#include "Target/GPU/Passes.h"
#include "Target/Schedule/LongSums.h"

namespace mlir::relax {
#define GEN_PASS_DEF_SCHEDULELAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct ScheduleLaunches
    : relax::impl::ScheduleLaunchesPassBase<ScheduleLaunches> {
  using ScheduleLaunchesPassBase::ScheduleLaunchesPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!chip.empty()) {
      FailureOr<Chip> named =
          Chip::parseTarget(chip, [&] { return kernel.emitError(); });
      if (failed(named))
        return signalPassFailure();
      has = *named;
    }
    // First try to match contractions that share rows as attention.
    for (bool rowBlocks : {true, false})
      for (bool asVectors : {true, false})
        if (succeeded(scheduleKernel(
                kernel, rowBlocks,
                [&](const KernelGraph &graph, OpBuilder &builder) {
                  return emit(graph, builder, kernel.getLoc(), asVectors);
                })))
          return;
    keepLostOfSums(kernel);
  }

  LogicalResult emit(const KernelGraph &graph, OpBuilder &builder, Location loc,
                     bool asVectors) {
    DenseMap<Value, Storage> storage;
    for (ArrayRef<Nest> left = graph.nests; !left.empty();) {
      const Nest &nest = left.front();
      if (!nest.rows.empty()) {
        if (failed(emitAttention(graph, nest, builder, loc, storage, has,
                                 asVectors)))
          return failure();
        left = left.drop_front();
        continue;
      }
      if (size_t count = emitProducts(graph, left, builder, loc, storage, has,
                                      asVectors)) {
        left = left.drop_front(count);
        continue;
      }
      left = left.drop_front();
      if (failed(emitNest(graph, nest, builder, loc, storage, has.subgroupSize,
                          asVectors)))
        return failure();
    }
    return success();
  }

  Chip has;
};

} // namespace
