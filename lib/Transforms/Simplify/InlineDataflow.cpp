//===- InlineDataflow.cpp - dissolve dataflow blocks ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Simplify/InlineDataflow.h"

#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"

namespace mlir::relax {
#define GEN_PASS_DEF_INLINEDATAFLOWPASS
#include "Transforms/Simplify/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

void relax::inlineDataflow(DataflowOp dataflow) {
  Block &body = dataflow.getBody().front();
  auto output = cast<OutputOp>(body.getTerminator());
  OpBuilder builder(output);
  for (auto [result, value] :
       llvm::zip(dataflow.getResults(), output.getOperands())) {
    // The block's result may have a coarser type than the value. Relax ops
    // accept the finer type; for other ops a cast keeps the old one.
    if (value.getType() == result.getType() || !isTypePinned(result))
      result.replaceAllUsesWith(value);
    else
      result.replaceAllUsesWith(MatchCastOp::create(builder, dataflow.getLoc(),
                                                    result.getType(), value));
  }
  output.erase();
  dataflow->getBlock()->getOperations().splice(dataflow->getIterator(),
                                               body.getOperations());
  dataflow.erase();
}

namespace {
struct InlineDataflow : relax::impl::InlineDataflowPassBase<InlineDataflow> {
  void runOnOperation() override {
    getOperation().walk([](DataflowOp dataflow) { inlineDataflow(dataflow); });
  }
};
} // namespace
