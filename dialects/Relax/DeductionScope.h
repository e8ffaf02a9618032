//===- DeductionScope.h - context of ops without operands -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule finds the declared ranges of symbols through its operands. For an op
// without operands (`relax.arange`), the code that deduces its type must set a
// scope, since MLIR's interface has no parameter for it. Without a scope,
// symbols are assumed to be non-negative, and the verifier, which sees the op
// in its function, rejects deductions that do not hold there.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_DEDUCTIONSCOPE_H
#define RELAX_DEDUCTIONSCOPE_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::relax {

/// RAII: in this scope, this thread deduces types of ops inside `around`.
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
