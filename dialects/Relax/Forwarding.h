//===- Forwarding.h - replacing an op by its operand ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that computes the identity makes a copy: its result has its own memory.
// It may be replaced by its operand only if neither is overwritten. The same
// condition applies to reading the operand of an operand later.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_FORWARDING_H
#define RELAX_FORWARDING_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::relax {

/// Whether neither `value` nor a result of `op` may be overwritten, so that
/// `op` may be replaced by `value`, or may read it. Calls that may have side
/// effects, and closures, count as writes.
bool canForward(Value value, Operation *op);

/// Folds `op` to `value` if that is correct.
inline OpFoldResult forward(Value value, Operation *op) {
  return canForward(value, op) ? OpFoldResult(value) : OpFoldResult();
}

} // namespace mlir::relax

#endif // RELAX_FORWARDING_H
