//===- DeductionScope.h - where ops without operands are --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule finds the declared ranges of symbols by way of its operands. An op
// that has none (`relax.arange`) is told by whoever deduces its type: MLIR's
// interface has no place for it. Without a scope, symbols are taken to be
// non-negative, and the verifier, which sees the op in its function, refuses
// what does not hold there.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_DEDUCTIONSCOPE_H
#define RELAX_DEDUCTIONSCOPE_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::relax {

/// While it lives, this thread deduces types of ops inside `around`.
class DeductionScope {
public:
  explicit DeductionScope(Operation *around);
  ~DeductionScope();
  DeductionScope(const DeductionScope &) = delete;
  DeductionScope &operator=(const DeductionScope &) = delete;

  /// The op of the innermost scope, or null.
  static Operation *current();

private:
  Operation *outer;
};

} // namespace mlir::relax

#endif // RELAX_DEDUCTIONSCOPE_H
