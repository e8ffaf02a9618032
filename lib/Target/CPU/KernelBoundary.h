//===- KernelBoundary.h - kernels with buffers at their boundary -*- C++ -*-==//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_KERNELBOUNDARY_H
#define RELAX_TARGET_CPU_KERNELBOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::relax {

/// Turns a kernel in tensor form into one that takes buffers and returns
/// nothing, in place: parameters become memrefs of identity layout, and each
/// result is materialised in its destination, the tensor parameter in the same
/// place counted from the last. Symbolic shapes (`relax.shape`) and symbols of
/// parameters are kept, so that calls still say what they mean. The body is
/// still on tensors, between `bufferization.to_tensor` and
/// `bufferization.materialize_in_destination`.
void convertKernelBoundary(func::FuncOp kernel);

} // namespace mlir::relax

#endif // RELAX_TARGET_CPU_KERNELBOUNDARY_H
