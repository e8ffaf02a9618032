//===- PurityLoss.cpp - side effects of checks ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/PurityLoss.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Index.h"
#include "Transforms/Simplify/InlineDataflow.h"

using namespace mlir;
using namespace mlir::relax;

PurityLoss::PurityLoss(ModuleOp module) {
  module.walk([&](CallOp call) { calls[call.getCallee()].push_back(call); });
}

void PurityLoss::apply(FuncOp function) {
  if (!affected.insert(function).second)
    return;
  SmallVector<DataflowOp> blocks;
  function.walk([&](DataflowOp block) {
    if (llvm::any_of(block.getBody().front(), [&](Operation &op) {
          return isa<AssertOp, CheckIndicesOp>(op) || lost.contains(&op);
        }))
      blocks.push_back(block);
  });
  for (DataflowOp block : blocks)
    inlineDataflow(block);
  if (!function.getPure())
    return;
  function.setPure(false);
  for (CallOp call : calls.lookup(function.getSymName())) {
    call.setPure(false);
    lost.insert(call);
    affected.erase(call->getParentOfType<FuncOp>());
    apply(call->getParentOfType<FuncOp>());
  }
}
