//===- RewriteSymbols.h - change symbols throughout a function --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A symbol is a name, not a value: replacing it means rewriting the types and
// attributes of every op that mentions it. Function types are left alone, since
// they bind their own symbols.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SHAPES_REWRITESYMBOLS_H
#define RELAX_TRANSFORMS_SHAPES_REWRITESYMBOLS_H

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::relax {

class ReshapeOp;

/// Applies a function to the symbolic expressions of types and attributes.
class ExprRewriter {
public:
  /// Returns null on failure, which `fn` has reported.
  using Fn = std::function<SymExprAttr(SymExprAttr)>;

  /// `emitError` reports dimensions that become negative.
  ExprRewriter(Fn fn, std::function<InFlightDiagnostic()> emitError);
  ExprRewriter(const ExprRewriter &) = delete;

  Type rewrite(Type type) { return replacer->replace(type); }
  /// Rewrites the attributes and result types of `op`, and its region
  /// arguments.
  void rewrite(Operation *op);
  /// Must be called when `fn` has changed.
  void reset();
  bool failed() const { return hasFailed; }

private:
  void pinInferredDim(ReshapeOp op);
  SymExprAttr rewriteExpr(SymExprAttr expr);
  SymExprAttr rewriteDim(SymExprAttr dim);

  Fn fn;
  std::function<InFlightDiagnostic()> emitError;
  std::optional<AttrTypeReplacer> replacer;
  bool hasFailed = false;
};

/// Replaces a -1 among the dimensions of a reshape by the dimension of
/// `resultType`, if known. The -1 is well-defined for each assignment of the
/// symbols, but once another dimension is the constant 0, it no longer follows
/// from the number of elements.
void pinInferredDim(ReshapeOp op, Type resultType);

/// Whether `value` must keep its exact type: because of an op of another
/// dialect, whose rules are unknown here, or a closure, which repeats it.
bool isTypePinned(Value value);

/// Removes declared ranges of symbols that `function` no longer defines.
void dropUnusedRanges(FuncOp function);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SHAPES_REWRITESYMBOLS_H
