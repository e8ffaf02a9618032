//===- CheckChip.cpp - checks the name of the GPU -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Chip.h"
#include "Target/GPU/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CHECKCHIPPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct CheckChip : relax::impl::CheckChipPassBase<CheckChip> {
  using CheckChipPassBase::CheckChipPassBase;

  void runOnOperation() override {
    if (failed(Chip::parseTarget(chip,
                                 [&] { return getOperation().emitError(); })))
      signalPassFailure();
  }
};

} // namespace
