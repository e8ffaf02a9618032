//===- SymbolScope.h - where symbols are defined and used ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLSCOPE_H
#define RELAX_SYMBOLSCOPE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::relax {

/// Calls `fn` on each symbol that the parameters of a graph function or of a
/// kernel define.
void walkParameterSymbols(FunctionOpInterface function,
                          function_ref<void(StringAttr)> fn);

/// Calls `fn` on each symbol that `op` itself (not its regions) mentions in its
/// result types or attributes.
void walkMentionedSymbols(Operation *op, function_ref<void(StringAttr)> fn);

/// Verifies that each symbol is defined before it is used, that results name
/// only symbols of parameters, and that declared ranges name known symbols.
LogicalResult verifySymbolScope(FunctionOpInterface function);

} // namespace mlir::relax

#endif // RELAX_SYMBOLSCOPE_H
