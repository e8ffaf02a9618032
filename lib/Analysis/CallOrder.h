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

/// The graph functions of `module` that have a body, callees before callers. In
/// a cycle of calls, the function that comes first in the module is ordered
/// last. `table` is the symbol table of the module.
SmallVector<FuncOp> getCalleesFirst(ModuleOp module, SymbolTable &table);

/// The graph functions whose calls may nest without bound: functions that can
/// reach a cycle in the call graph, and functions that call closures, since
/// closures can form chains of any length.
DenseSet<FuncOp> findRecursive(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_CALLORDER_H
