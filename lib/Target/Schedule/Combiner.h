//===- Combiner.h - how a reduction combines values -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_COMBINER_H
#define RELAX_TARGET_SCHEDULE_COMBINER_H

#include "Target/Common/Passes.h"

namespace mlir::relax {

/// The associative, commutative op of a reduction: sum, product, maximum, …
struct Combiner {
  arith::AtomicRMWKind kind;

  /// Matches result `number` of `op`; none if the body does not end in such an
  /// op.
  static std::optional<Combiner> match(linalg::GenericOp op, unsigned number);

  /// The neutral element, as a vector.
  Value identity(OpBuilder &builder, Location loc, VectorType type) const;
  Value combine(OpBuilder &builder, Location loc, Value lhs, Value rhs) const;
  /// Combines all lanes of a vector.
  Value reduce(OpBuilder &builder, Location loc, Value vector) const;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_COMBINER_H
