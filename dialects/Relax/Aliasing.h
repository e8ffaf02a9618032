//===- Aliasing.h - how ops pass memory on ----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step of memory from value to value: through a view, a kernel in place, a
// tuple, a branch, a loop or a call. Folds (Forwarding.h) and passes over
// memory (lib/Transforms/Memory/Aliases.h) follow the same steps; they differ
// in what they know of the functions that are called.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ALIASING_H
#define RELAX_ALIASING_H

#include "mlir/IR/Operation.h"

namespace mlir::relax {

/// Whether memory of values of this type is counted by references.
bool isReferenceCounted(Type type);

/// Whether all results of `op` alias all of its operands.
bool isViewOp(Operation *op);
/// The operand in whose storage each result is; none for other ops.
ArrayRef<int64_t> getInplaceIndices(Operation *op);

/// Calls `fn` on each result of `use`'s owner that aliases the operand, where
/// that is a view or in place.
void walkDirectAliases(OpOperand &use, function_ref<void(Value)> fn);

/// Whether `op` calls a library that may keep its operands for any time, and
/// use them after the call. A closure may be a callback, which does the same.
bool isKeptByLibrary(Operation *op);

/// Whether a result of an op, which calls a function or makes a closure, may
/// have its memory from an operand.
using PassesOn =
    function_ref<bool(Operation *op, unsigned operand, unsigned result)>;

/// Calls `fn` on each operand that `value` may have its memory from, in one
/// step. Of what a loop carries these are the initial value and the one that
/// the body yields.
void walkSources(Value value, PassesOn passesOn,
                 function_ref<void(OpOperand &)> fn);
/// Calls `fn` on each value that may have its memory from `use`, in one step.
void walkTargets(OpOperand &use, PassesOn passesOn,
                 function_ref<void(Value)> fn);

} // namespace mlir::relax

#endif // RELAX_ALIASING_H
