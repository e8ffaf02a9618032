//===- RelaxAttrs.h - attributes of the relax dialect -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `SymExprAttr` is one node of a symbolic expression. The kinds are:
//
//   Constant                value
//   Symbol                  name
//   Sum                     value + Σ coefficients[i] * operands[i]
//                           operands: Symbol, Product or opaque, sorted,
//                           distinct
//   Product                 Π operands[i]; Symbol or opaque, sorted,
//                           at least two
//   FloorDiv, CeilDiv, Mod  opaque, two operands
//   Min, Max, Broadcast     opaque, at least two operands, sorted, distinct
//
// `SymBuilder` (Relax/Symbolic) makes them canonical.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXATTRS_H
#define RELAX_RELAXATTRS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include <optional>

namespace mlir::relax {

enum class SymKind : unsigned {
  Constant,
  Symbol,
  Product,
  FloorDiv,
  CeilDiv,
  Mod,
  Min,
  Max,
  Broadcast,
  Sum,
};

/// The maximum nesting of expressions; it makes recursion over them safe on any
/// stack.
constexpr unsigned kMaxSymDepth = 256;
/// The maximum number of operands of sums and products.
constexpr unsigned kMaxSymTerms = 1u << 14;

class SymExprAttr;

} // namespace mlir::relax

#define GET_ATTRDEF_CLASSES
#include "Relax/RelaxAttrs.h.inc"

namespace mlir::relax {

/// Parses and canonicalizes `n + 1`. Emits errors itself.
FailureOr<SymExprAttr> parseSymExpr(AsmParser &parser);
/// Parses `[n, 4, ?]`; `?` becomes null.
ParseResult parseSymDims(AsmParser &parser, SmallVectorImpl<SymExprAttr> &dims);
void printSymDims(raw_ostream &os, ArrayRef<SymExprAttr> dims);

/// Parses a whole string as an expression or a shape. Returns null after an
/// error.
SymExprAttr parseSymExpr(StringRef text, MLIRContext *context,
                         function_ref<InFlightDiagnostic()> emitError);

/// Whether `name` can be written as a symbol.
bool isValidSymbolName(StringRef name);

} // namespace mlir::relax

#endif // RELAX_RELAXATTRS_H
