//===- FuseOps.cpp - group kernel calls that become one kernel ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups.h finds the groups; here each is outlined. The new function keeps the
// caller's symbol names, so that types and expressions are copied unchanged;
// symbols that no parameter defines are passed as integers.
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Transforms/Fusion/Groups.h"
#include "Transforms/Fusion/Outliner.h"
#include "Transforms/Fusion/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSEOPSPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Outlines groups into functions; equal groups share one.
struct FuseOps : relax::impl::FuseOpsPassBase<FuseOps> {
  using FuseOpsPassBase::FuseOpsPassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    KernelFacts facts(table);
    Outliner outliner(table);
    SmallVector<FuncOp> functions;
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function->hasAttr(notes::kPrimitive))
        functions.push_back(function);
    for (FuncOp function : functions)
      function.walk([&](Block *block) {
        for (ArrayRef<CallTIROp> group :
             findGroups(*block, facts, maxGroupSize, shareOperands))
          outliner.outline(group, group.back());
      });
  }
};

} // namespace
