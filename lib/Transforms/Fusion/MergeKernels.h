//===- MergeKernels.h - one kernel of a primitive function ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H
#define RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H

#include "Relax/Ops/Function.h"
#include "Relax/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {

struct MergedKernel {
  func::FuncOp function; // not in the module yet
  /// The parameters of the primitive function that the kernel takes as inputs,
  /// and what it is passed as integers, in order.
  SmallVector<unsigned> inputs;
  SmallVector<SymExprAttr> integers;
};

/// The kernels that `primitive` calls, one after the other. Null, with the
/// reason, where it is more than calls of kernels with bodies.
FailureOr<MergedKernel> mergeKernels(FuncOp primitive, SymbolTable &table,
                                     std::string &reason);

/// Fuses loop nests of a kernel where that leaves one pass over the data.
void fuseLoopNests(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H
