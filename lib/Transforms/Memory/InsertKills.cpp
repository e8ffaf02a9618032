//===- InsertKills.cpp - end storages and values after their last use -----===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_INSERTKILLSPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {
struct InsertKills : relax::impl::InsertKillsPassBase<InsertKills> {
  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (failed(verifyNoDataflow(function, getArgument())))
        return signalPassFailure();
      insertKills(function);
    }
  }
};
} // namespace
