//===- FreshSymbols.h - symbols for unknown dimensions ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H
#define RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H

#include "Relax/RelaxOps.h"

namespace mlir::relax {

/// Whether a dimension of a tensor or shape of known rank is unknown.
bool hasUnknownDims(Type type);

/// Whether a dimension of `coarse` is a number that `named` does not have.
bool saysMore(Type coarse, Type named);

/// Makes symbols, `d0` and so on, that a function does not have.
class FreshSymbols {
public:
  explicit FreshSymbols(FuncOp function) : function(function) {}

  SymExprAttr make();
  /// A tensor or shape type with a symbol for each unknown dimension.
  Type nameDims(Type type);

private:
  void collect();

  FuncOp function;
  DenseSet<StringAttr> taken;
  unsigned next = 0;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H
