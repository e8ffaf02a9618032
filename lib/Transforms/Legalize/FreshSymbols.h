//===- FreshSymbols.h - symbols for unknown dimensions ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H
#define RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H

#include "Relax/Ops/Function.h"

namespace mlir::relax {

/// Whether a tensor or shape of known rank has an unknown dimension.
bool hasUnknownDims(Type type);

/// Whether `coarse` has a static dimension that `named` lacks.
bool saysMore(Type coarse, Type named);

/// Creates symbols, `d0` and so on, that a function does not use.
class FreshSymbols {
public:
  explicit FreshSymbols(FuncOp function) : function(function) {}

  SymExprAttr make();
  /// Replaces each unknown dimension of a tensor or shape type by a new symbol.
  Type nameDims(Type type);

private:
  void collect();

  FuncOp function;
  DenseSet<StringAttr> taken;
  unsigned next = 0;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_FRESHSYMBOLS_H
