//===- SymDirectives.h - custom assembly of symbolic ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the op families: `relax.sym n + 1`, `relax.shape [n, 4]`,
// `relax.reshape %x to [n, -1]`.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMDIRECTIVES_H
#define RELAX_SYMDIRECTIVES_H

#include "Relax/RelaxAttrs.h"

namespace mlir::relax {

inline ParseResult parseSymExpr(OpAsmParser &parser, SymExprAttr &expr) {
  FailureOr<SymExprAttr> parsed =
      parseSymExpr(static_cast<AsmParser &>(parser));
  if (failed(parsed))
    return failure();
  expr = *parsed;
  return success();
}

inline void printSymExpr(OpAsmPrinter &printer, Operation *, SymExprAttr expr) {
  expr.printExpr(printer.getStream());
}

/// The elements of an array as expressions; null for other elements.
inline SmallVector<SymExprAttr> getSymExprs(ArrayAttr exprs) {
  return llvm::map_to_vector(exprs, [](Attribute attribute) {
    return llvm::dyn_cast<SymExprAttr>(attribute);
  });
}

ParseResult parseShapeDims(OpAsmParser &parser, ShapeAttr &shape);

inline void printShapeDims(OpAsmPrinter &printer, Operation *,
                           ShapeAttr shape) {
  printSymDims(printer.getStream(), shape.getDims());
}

/// `[n, 2*m, -1]`, an array of expressions.
ParseResult parseSymExprs(OpAsmParser &parser, ArrayAttr &exprs);

inline void printSymExprs(OpAsmPrinter &printer, Operation *, ArrayAttr exprs) {
  printSymDims(printer.getStream(), getSymExprs(exprs));
}

} // namespace mlir::relax

#endif // RELAX_SYMDIRECTIVES_H
