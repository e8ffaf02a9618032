//===- CheckDevices.cpp - check that tensors are where they are used ------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement.h"
#include "Transforms/Devices/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CHECKDEVICESPASS
#include "Transforms/Devices/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct CheckDevices : relax::impl::CheckDevicesPassBase<CheckDevices> {
  void runOnOperation() override {
    if (failed(checkPlaces(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
