//===- AnnotateKernelPatterns.cpp - note the pattern of each kernel -------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelPattern.h"
#include "Relax/Notes.h"
#include "Transforms/Fusion/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_ANNOTATEKERNELPATTERNSPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {
struct AnnotateKernelPatterns
    : relax::impl::AnnotateKernelPatternsPassBase<AnnotateKernelPatterns> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (!kernel.isExternal())
        kernel->setAttr(notes::kPattern,
                        builder.getStringAttr(
                            stringifyKernelPattern(classifyKernel(kernel))));
  }
};
} // namespace
