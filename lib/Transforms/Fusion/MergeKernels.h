//===- MergeKernels.h - merge the kernels of a group ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H
#define RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H

#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {

struct MergedKernel {
  func::FuncOp function; // not in the module yet
  /// The parameters of the primitive function that are inputs of the kernel,
  /// and the integers that it is passed, in order.
  SmallVector<unsigned> inputs;
  SmallVector<SymExprAttr> integers;
  /// The constants of the primitive function that are inputs, too; they come
  /// after its parameters.
  SmallVector<ConstantOp> constants;
};

/// Why a primitive function cannot become one kernel.
struct MergeFailure {
  std::string reason;
  Operation *op = nullptr; // that is in the way; may be null
};

/// Merges the kernels that `primitive` calls. Fails if it contains anything but
/// calls of kernels with bodies, and constants. Leaves `primitive` as it is.
FailureOr<MergedKernel> mergeKernels(FuncOp primitive, SymbolTable &table,
                                     MergeFailure &why);

/// Fuses loop nests of a kernel into a single pass over the data if possible.
void fuseLoopNests(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_MERGEKERNELS_H
