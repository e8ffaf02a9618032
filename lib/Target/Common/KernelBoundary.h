//===- KernelBoundary.h - kernels with buffers at their boundary -*- C++ -*-==//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_KERNELBOUNDARY_H
#define RELAX_TARGET_COMMON_KERNELBOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::relax {

/// Fails where a tensor or a buffer of the module has elements of a type that
/// no target has code for, such as i3, f80 or tf32; the error names the value.
LogicalResult checkElementTypes(ModuleOp module);

/// Turns the kernels in tensor form of a module into ones that take buffers and
/// return nothing, in place: parameters become memrefs of identity layout, and
/// each result is materialised in its destination: the operand in which the
/// calls of the kernel leave it, or where it is not called in place, the tensor
/// parameter in the same place counted from the last. Symbolic shapes
/// (`relax.shape`) and symbols of parameters are kept, so that calls still say
/// what they mean. The body is still on tensors, between
/// `bufferization.to_tensor` and `bufferization.materialize_in_destination`.
///
/// Fails where calls of one kernel disagree on its destinations, and where
/// `checkElementTypes` does.
LogicalResult convertKernelBoundaries(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_KERNELBOUNDARY_H
