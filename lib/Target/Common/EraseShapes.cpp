//===- EraseShapes.cpp - removes symbolic shapes from kernels -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Relax/RelaxDialect.h"
#include "Target/Common/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_ERASESHAPESPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct EraseShapes : relax::impl::EraseShapesPassBase<EraseShapes> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    kernel->removeAttr(RelaxDialect::kSymbolsAttr);
    kernel->removeAttr(notes::kComputedSizes);
    kernel->removeAttr(notes::kPrimitive);
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
      kernel.removeArgAttr(index, RelaxDialect::kShapeAttr);
      kernel.removeArgAttr(index, RelaxDialect::kSymbolAttr);
      kernel.removeArgAttr(index, notes::kInvariant);
      kernel.removeArgAttr(index, notes::kIndexBound);
    }
  }
};

} // namespace
