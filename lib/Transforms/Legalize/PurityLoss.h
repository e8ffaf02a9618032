//===- PurityLoss.h - side effects of checks --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_PURITYLOSS_H
#define RELAX_TRANSFORMS_LEGALIZE_PURITYLOSS_H

#include "Relax/Ops/Function.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::relax {

/// Dissolves dataflow blocks around checks, and drops `pure` from functions
/// that contain them.
class PurityLoss {
public:
  explicit PurityLoss(ModuleOp module);

  /// Call for each function to which checks were added.
  void apply(FuncOp function);

private:
  llvm::StringMap<SmallVector<CallOp>> calls;
  DenseSet<Operation *> lost, affected;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_PURITYLOSS_H
