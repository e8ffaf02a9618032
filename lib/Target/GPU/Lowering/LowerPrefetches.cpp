//===- LowerPrefetches.cpp - prefetches for NVIDIA GPUs -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERPREFETCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct LowerPrefetches : relax::impl::LowerPrefetchesPassBase<LowerPrefetches> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::Prefetch prefetch) {
      OpBuilder builder(prefetch);
      auto level = NVVM::PrefetchCacheLevelAttr::get(
          builder.getContext(), NVVM::PrefetchCacheLevel::L2);
      NVVM::PrefetchOp::create(builder, prefetch.getLoc(), level,
                               /*evictPriority=*/nullptr, prefetch.getAddr(),
                               /*predicate=*/Value());
      prefetch.erase();
    });
  }
};

} // namespace
