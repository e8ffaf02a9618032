//===- KernelSizes.h - kernel sizes as symbolic expressions -----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recovers symbolic expressions from index arithmetic: describes the values
// that a kernel on buffers computes from the sizes of its parameters as
// expressions of its symbols. Callers know the values of the symbols, and so
// the value of each expression.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_KERNELSIZES_H
#define RELAX_ANALYSIS_KERNELSIZES_H

#include "Relax/Symbolic/Prover.h"
#include "Relax/Symbolic/SymBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::relax {

class KernelSizes {
public:
  explicit KernelSizes(func::FuncOp kernel);

  /// The expression for the value of the integer `value`; null if it cannot be
  /// expressed in the kernel's symbols.
  SymExprAttr get(Value value);
  /// The expression for the size of a dimension of a buffer.
  SymExprAttr getDim(Value buffer, int64_t axis);

  SymBuilder &getMath() { return math; }
  const Prover &getProver() const { return prover; }

private:
  SymExprAttr compute(Value value);
  SymExprAttr computeArith(Operation *op);
  SymExprAttr divide(SymExprAttr lhs, SymExprAttr rhs, SymKind kind);
  SymExprAttr getAffine(AffineExpr expr, unsigned numDims, ValueRange operands);
  bool isAtLeast(SymExprAttr expr, int64_t least) const;

  func::FuncOp kernel;
  Prover prover;
  SymBuilder math;
  DenseMap<Value, SymExprAttr> known;
};

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_KERNELSIZES_H
