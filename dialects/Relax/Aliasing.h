//===- Aliasing.h - aliasing of operands and results ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a single op passes memory from value to value: through a view, an
// in-place kernel, a tuple, a branch, a loop or a call. Folds (Forwarding.h)
// and memory passes (lib/Transforms/Memory/Aliases.h) follow the same steps;
// they differ in what they know about called functions.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ALIASING_H
#define RELAX_ALIASING_H

#include "mlir/IR/Operation.h"

namespace mlir::relax {

/// Whether values of this type have reference-counted memory.
bool isReferenceCounted(Type type);

/// Whether every result of `op` aliases all of its operands.
bool isViewOp(Operation *op);
/// For each result, the operand whose storage it takes; empty for other ops.
ArrayRef<int64_t> getInplaceIndices(Operation *op);

/// Calls `fn` on each result of `use`'s owner that aliases the operand as a
/// view or in place.
void walkDirectAliases(OpOperand &use, function_ref<void(Value)> fn);

/// Whether `op` calls a library that may retain its operands and use them after
/// the call. A closure may be a callback, which can do the same.
bool isKeptByLibrary(Operation *op);

/// Whether a result of `op`, a call or `relax.make_closure`, may alias an
/// operand.
using PassesOn =
    function_ref<bool(Operation *op, unsigned operand, unsigned result)>;

/// Calls `fn` on each operand from which `value` may get its memory in one
/// step. For a loop-carried value these are the initial value and the yielded
/// one.
void walkSources(Value value, PassesOn passesOn,
                 function_ref<void(OpOperand &)> fn);
/// Calls `fn` on each value that may get its memory from `use` in one step.
void walkTargets(OpOperand &use, PassesOn passesOn,
                 function_ref<void(Value)> fn);

} // namespace mlir::relax

#endif // RELAX_ALIASING_H
