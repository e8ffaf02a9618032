//===- RewriteSymbols.h - change symbols throughout a function --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A symbol is a name, not a value: to replace one is to rewrite the types and
// attributes of every op that it occurs in. Function types are left alone,
// since their symbols are bound in them.
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
  /// Null results are failures that `fn` has reported.
  using Fn = std::function<SymExprAttr(SymExprAttr)>;

  /// `emitError` reports a dimension that becomes negative.
  ExprRewriter(Fn fn, std::function<InFlightDiagnostic()> emitError);
  ExprRewriter(const ExprRewriter &) = delete;

  Type rewrite(Type type) { return replacer->replace(type); }
  /// The attributes and result types of `op` and the arguments of its regions.
  void rewrite(Operation *op);
  /// To be called when `fn` has changed.
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

/// Replaces -1 among the dimensions of a reshape by what `resultType` has
/// there, if that is known. A -1 has a value for each assignment of the
/// symbols, but once another dimension is the constant 0, it no longer follows
/// from the number of elements.
void pinInferredDim(ReshapeOp op, Type resultType);

/// Whether something holds `value` to the very type that it has: an op of
/// another dialect, whose rules are not known here, or a closure, which repeats
/// it.
bool isTypePinned(Value value);

/// Removes declared ranges of symbols that `function` does not define any more.
void dropUnusedRanges(FuncOp function);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SHAPES_REWRITESYMBOLS_H
