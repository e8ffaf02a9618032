//===- Outliner.h - outline groups of calls ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_OUTLINER_H
#define RELAX_TRANSFORMS_FUSION_OUTLINER_H

#include "Relax/Ops/Call.h"
#include "Relax/Ops/Function.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::relax {

/// Replaces groups of calls by calls to functions marked `relax.primitive`;
/// equal groups share a function.
class Outliner {
public:
  explicit Outliner(SymbolTable &table) : table(table) {}

  /// Outlines a group, given in program order, into one call at `place`.
  void outline(ArrayRef<CallTIROp> group, Operation *place);

private:
  void collectBoundary(ArrayRef<CallTIROp> group);
  FuncOp makeFunction(ArrayRef<CallTIROp> group);
  FuncOp share(FuncOp function);

  SymbolTable &table;
  llvm::StringMap<FuncOp> known;
  // State of the current group.
  SmallVector<Value> outputs; // values used outside
  llvm::SetVector<Value> inputs;
  llvm::SetVector<StringAttr> symbols; // all symbols in use
  llvm::SetVector<StringAttr> passed;  // symbols passed as integers
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_OUTLINER_H
