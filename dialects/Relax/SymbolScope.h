//===- SymbolScope.h - definitions and uses of symbols ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLSCOPE_H
#define RELAX_SYMBOLSCOPE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::relax {

/// The symbols in scope during a walk in program order: symbols defined in a
/// branch or a loop body are forgotten at its end (`leave`), symbols defined in
/// a dataflow block stay, since it always runs.
class VisibleSymbols {
public:
  /// Defines `name`; returns whether it is new here.
  bool define(StringAttr name) {
    if (!defined.insert(name).second)
      return false;
    order.push_back(name);
    return true;
  }
  bool contains(StringAttr name) const { return defined.contains(name); }
  size_t enter() const { return order.size(); }
  void leave(size_t mark) {
    while (order.size() > mark)
      defined.erase(order.pop_back_val());
  }

private:
  llvm::DenseSet<StringAttr> defined;
  SmallVector<StringAttr> order;
};

/// Calls `fn` on each symbol that the parameters of a graph function or of a
/// kernel define.
void walkParameterSymbols(FunctionOpInterface function,
                          function_ref<void(StringAttr)> fn);

/// Calls `fn` on each symbol that `op` itself, without its regions, mentions in
/// its result types or attributes.
void walkMentionedSymbols(Operation *op, function_ref<void(StringAttr)> fn);

/// Verifies that each symbol is defined before it is used, that results mention
/// only symbols of parameters, and that declared ranges are of known symbols.
LogicalResult verifySymbolScope(FunctionOpInterface function);

} // namespace mlir::relax

#endif // RELAX_SYMBOLSCOPE_H
