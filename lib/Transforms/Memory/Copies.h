//===- Copies.h - copies of tensors -----------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_COPIES_H
#define RELAX_TRANSFORMS_MEMORY_COPIES_H

#include "Relax/Ops/Call.h"
#include "Transforms/Memory/Writes.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {

/// Creates calls of kernels that copy a tensor; one kernel for each rank and
/// element type.
class Copies {
public:
  explicit Copies(SymbolTable &table) : table(table) {}

  /// Whether the shape is known, so that memory can be allocated.
  static bool canCopy(Value tensor);
  /// Copies `tensor` before `place`.
  Value copy(Value tensor, Operation *place);

private:
  func::FuncOp getKernel(RankedTensorType type, Location loc);

  SymbolTable &table;
  DenseMap<Type, func::FuncOp> kernels;
};

/// Copies tensors that are overwritten but may be a constant or a weight: these
/// must have the same value in each call.
void copyWrittenConstants(ModuleOp module, const Writes &writes,
                          Copies &copies);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_COPIES_H
