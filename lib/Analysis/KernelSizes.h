//===- KernelSizes.h - sizes in a kernel as expressions ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way back from index arithmetic to the expressions that it came from: what
// a kernel on buffers computes of the sizes of its parameters, as expressions
// of its symbols. Callers know the values of those, and so that of each
// expression.
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

  /// The expression that has the value of the integer `value`; null where
  /// there is none in the kernel's symbols.
  SymExprAttr get(Value value);
  /// That of a dimension of a buffer.
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
