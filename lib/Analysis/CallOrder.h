//===- CallOrder.h - callees before their callers ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_CALLORDER_H
#define RELAX_ANALYSIS_CALLORDER_H

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::relax {

/// The graph functions of `module` that have a body, each after those that it
/// calls. Of functions that call each other, the first in the module comes
/// last. `table` is that of the module.
SmallVector<FuncOp> getCalleesFirst(ModuleOp module, SymbolTable &table);

/// The graph functions whose calls may nest without an end: those from which a
/// cycle of calls can be reached, and those that call callables, of which
/// chains of any length can be made.
DenseSet<FuncOp> findRecursive(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_CALLORDER_H
