//===- SymNormalForm.h - normal form with floordiv only ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second normal form, for proofs rather than for people: `mod` and `ceildiv`
// are expressed by `floordiv`, whose dividends are reduced to one
// representative. It finds equalities that the readable form misses:
//
//   n mod 4 + 4*(n floordiv 4) - n          = 0
//   (3*n) floordiv 4 + (n + 3) floordiv 4   = n
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMNORMALFORM_H
#define RELAX_SYMBOLIC_SYMNORMALFORM_H

#include "Relax/Symbolic/SymPoly.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::relax {

/// Results have `problem` set if the normal form gets too large.
class SymNormalForm {
public:
  explicit SymNormalForm(MLIRContext *context) : context(context) {}

  SymPoly of(const SymPoly &poly);
  SymPoly of(SymExprAttr expr);

private:
  SymPoly compute(SymExprAttr expr);
  SymPoly floordiv(const SymPoly &dividend, const SymPoly &divisor);
  SymPoly floordivByConstant(SymPoly dividend, Wide divisor);
  SymPoly node(SymKind kind, MutableArrayRef<SymPoly> operands);

  MLIRContext *context;
  DenseMap<SymExprAttr, SymPoly> memo;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMNORMALFORM_H
