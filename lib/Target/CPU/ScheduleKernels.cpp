//===- ScheduleKernels.cpp - structured ops to loops over vectors ---------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass itself: brings a kernel into the form that the graph of stages
// reads, emits its nests (Schedule/), and takes everything back where that does
// not work out.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"
#include "Target/CPU/Schedule/NormalForm.h"

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
      // What is the same for all of an innermost row is seldom in lanes.
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

static LogicalResult schedule(func::FuncOp kernel, unsigned vectorBits) {
  if (failed(bringToNormalForm(kernel)))
    return failure();
  collapseLoops(kernel);
  FailureOr<KernelGraph> graph = KernelGraph::read(kernel, /*rowBlocks=*/true);
  if (failed(graph))
    return failure();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  PointEmitter emitter(builder, kernel.getLoc(),
                       vectorBits / widestElement(kernel));
  emitter.fewRegisters = vectorBits == 256;
  for (const Nest &nest : graph->nests)
    if (failed(NestEmitter(*graph, nest, emitter).emit()))
      return failure();
  // What was computed is gone; sizes of it may be left.
  for (bufferization::MaterializeInDestinationOp root : graph->roots)
    root.erase();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

namespace {

struct ScheduleKernels : relax::impl::ScheduleKernelsPassBase<ScheduleKernels> {
  using ScheduleKernelsPassBase::ScheduleKernelsPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal() || kernel.getNumResults() ||
        kernel.getOps<bufferization::MaterializeInDestinationOp>().empty())
      return;
    OwningOpRef<func::FuncOp> copy = kernel.clone();
    if (succeeded(schedule(kernel, vectorBits)))
      return;
    kernel.getBody().takeBody(copy->getBody());
  }
};

} // namespace
