//===- ConvertKernelBoundary.h - buffers at kernel boundaries ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_CONVERTKERNELBOUNDARY_H
#define RELAX_TARGET_COMMON_CONVERTKERNELBOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::relax {

/// Emits an error that names the value, and fails, if a tensor or buffer of the
/// module has an element type that no target supports, such as i3, f80 or tf32.
LogicalResult checkElementTypes(ModuleOp module);

/// Changes the kernels of a module from tensor form to buffers, in place:
/// parameters become memrefs with identity layout, and instead of being
/// returned, each result is materialized in its destination. This is the
/// operand where calls of the kernel leave it, or for kernels that are not
/// called in place, the tensor parameter at the same position counted from the
/// end. Symbolic shapes (`relax.shape`) and symbols of parameters are kept, so
/// that calls remain meaningful. The body stays on tensors, between
/// `bufferization.to_tensor` and `bufferization.materialize_in_destination`.
///
/// Fails if calls of one kernel disagree on its destinations, or if
/// `checkElementTypes` fails.
LogicalResult convertKernelBoundaries(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_CONVERTKERNELBOUNDARY_H
