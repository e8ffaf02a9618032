//===- FuseSiblings.cpp - fuse contractions of one operand ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Transforms/Fusion/Groups.h"
#include "Transforms/Fusion/Outliner.h"
#include "Transforms/Fusion/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSESIBLINGSPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct FuseSiblings : relax::impl::FuseSiblingsPassBase<FuseSiblings> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    KernelFacts facts(table);
    Outliner outliner(table);
    for (FuncOp function : llvm::to_vector(getOperation().getOps<FuncOp>())) {
      if (function->hasAttr(notes::kPrimitive))
        continue;
      function.walk([&](Block *block) {
        for (ArrayRef<CallTIROp> group : findSiblings(*block, facts))
          outliner.outline(group, group.front());
      });
    }
  }
};

} // namespace
