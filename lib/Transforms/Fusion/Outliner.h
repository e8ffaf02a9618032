//===- Outliner.h - primitive functions of groups of calls -----*- C++ -*-===//
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

/// Replaces groups of calls by calls of functions marked `relax.primitive`;
/// equal groups share one.
class Outliner {
public:
  explicit Outliner(SymbolTable &table) : table(table) {}

  /// The group's calls are in program order, and become one call at `place`.
  void outline(ArrayRef<CallTIROp> group, Operation *place);

private:
  void collectBoundary(ArrayRef<CallTIROp> group);
  FuncOp makeFunction(ArrayRef<CallTIROp> group);
  FuncOp share(FuncOp function);

  SymbolTable &table;
  llvm::StringMap<FuncOp> known;
  // Of the group at hand.
  SmallVector<Value> outputs; // what is used outside
  llvm::SetVector<Value> inputs;
  llvm::SetVector<StringAttr> symbols; // all that are used
  llvm::SetVector<StringAttr> passed;  // those that come as integers
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_OUTLINER_H
