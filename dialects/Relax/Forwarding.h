//===- Forwarding.h - when one value may stand for another ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that computes the identity makes a copy: its result has memory of its
// own. To replace it by its operand is right as long as neither is written
// over, and the same holds for reading the operand of an operand later.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_FORWARDING_H
#define RELAX_FORWARDING_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::relax {

/// Whether nothing may write over `value`, or over a result of `op`, so that
/// `op` may be replaced by `value`, or read it. Calls that may have side
/// effects, and closures, count as writes.
bool canForward(Value value, Operation *op);

/// `value` as the fold of `op`, where that is right.
inline OpFoldResult forward(Value value, Operation *op) {
  return canForward(value, op) ? OpFoldResult(value) : OpFoldResult();
}

} // namespace mlir::relax

#endif // RELAX_FORWARDING_H
