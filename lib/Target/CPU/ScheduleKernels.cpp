//===- ScheduleKernels.cpp - lowers structured ops to vector loops --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass itself: emits the nests of a kernel (lib/Target/Schedule).
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/CollapsedLoops.h"
#include "Target/CPU/PaddedOperands.h"
#include "Target/CPU/Schedule/NestEmitter.h"
#include "Target/Schedule/LongSums.h"

namespace mlir::relax {
#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "Target/CPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Bits of the widest element that the kernel works on.
static unsigned widestElement(func::FuncOp kernel) {
  unsigned widest = 8;
  auto see = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (element.isIntOrFloat())
      widest = std::max(widest, element.getIntOrFloatBitWidth());
  };
  kernel.walk([&](linalg::GenericOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      // Operands that do not change along the innermost loop are rarely
      // vectors.
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (op.isDpsInit(&operand) || op.getNumLoops() < 2 ||
          map.isFunctionOfDim(op.getNumLoops() - 1))
        see(operand.get().getType());
    }
    for (Operation &inner : *op.getBody())
      for (Type type : inner.getResultTypes())
        see(type);
  });
  return std::min(widest, 64u);
}

namespace {

struct ScheduleKernels : relax::impl::ScheduleKernelsPassBase<ScheduleKernels> {
  using ScheduleKernelsPassBase::ScheduleKernelsPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    dropUnitLoops(kernel);
    mergeLoopsOfContraction(kernel);
    storePaddedOperands(kernel);
    // Kernels that cannot be scheduled become plain loops.
    if (failed(schedule(kernel)))
      keepLostOfSums(kernel);
  }

  LogicalResult schedule(func::FuncOp kernel) {
    return scheduleKernel(
        kernel, /*rowBlocks=*/true,
        [&](const KernelGraph &graph, OpBuilder &builder) -> LogicalResult {
          PointEmitter emitter(builder, kernel.getLoc(),
                               vectorBits / widestElement(kernel));
          emitter.fewRegisters = vectorBits == 256;
          for (const Nest &nest : graph.nests)
            if (failed(NestEmitter(graph, nest, emitter).emit()))
              return failure();
          return success();
        });
  }
};

} // namespace
