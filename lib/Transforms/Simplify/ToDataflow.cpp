//===- ToDataflow.cpp - group pure ops into dataflow blocks ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_TODATAFLOWPASS
#include "Transforms/Simplify/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Whether `relax.dataflow` may contain the op.
bool isDataflowOp(Operation &op) {
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() &&
         (isa<MatchCastOp>(op) || isMemoryEffectFree(&op));
}

/// Whether deduction rules need to see the op: a rule may look at the constant
/// or the `relax.sym` that defines an operand, which a dataflow block would
/// hide. These ops have no operands and can be repeated after the block.
bool isRepeatable(Operation *op) {
  return op->getNumOperands() == 0 && isPure(op);
}

void makeDataflow(ArrayRef<Operation *> ops) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isOutside = [&](OpOperand &use) {
    return !inside.contains(use.getOwner());
  };
  Operation *last = ops.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  llvm::SetVector<Value> outputs;
  for (Operation *op : ops) {
    if (llvm::none_of(op->getUses(), isOutside))
      continue;
    if (isRepeatable(op)) {
      Operation *copy = builder.clone(*op);
      op->replaceUsesWithIf(copy->getResults(), isOutside);
      continue;
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUses(), isOutside))
        outputs.insert(result);
  }
  builder.setInsertionPointAfter(last);
  auto dataflow =
      DataflowOp::create(builder, ops.front()->getLoc(),
                         ValueRange(outputs.getArrayRef()).getTypes());
  Block *body = builder.createBlock(&dataflow.getBody());
  for (Operation *op : ops)
    op->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  OutputOp::create(builder, last->getLoc(), outputs.getArrayRef());
  for (auto [index, output] : llvm::enumerate(outputs.takeVector()))
    output.replaceUsesWithIf(dataflow.getResult(index), [&](OpOperand &use) {
      return use.getOwner()->getParentOp() != dataflow;
    });
}

struct ToDataflow : relax::impl::ToDataflowPassBase<ToDataflow> {
  using ToDataflowPassBase::ToDataflowPassBase;

  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>())
      for (Block &block : function.getBody())
        visit(block);
  }

  void visit(Block &block) {
    SmallVector<Operation *> run;
    auto flush = [&] {
      if (!run.empty() && run.size() >= minSize)
        makeDataflow(run);
      run.clear();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isDataflowOp(op)) {
        run.push_back(&op);
        continue;
      }
      flush();
      if (isa<IfOp, WhileOp>(op))
        for (Region &region : op.getRegions())
          visit(region.front());
    }
    flush();
  }
};

} // namespace
