//===- Lifetimes.h - sizes, aliases and last uses ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries about graph functions for memory passes. `relax-insert-kills`
// documents the ownership rules.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_LIFETIMES_H
#define RELAX_TRANSFORMS_MEMORY_LIFETIMES_H

#include "Relax/Aliasing.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Memory.h"
#include "Relax/ShapeUtils.h"

namespace mlir::relax {

/// Sufficient for cache lines, vectors and DMA engines.
constexpr int64_t kStorageAlignment = 64;

/// The size of an element in memory: one byte for Booleans, else its bits
/// rounded up to bytes.
int64_t getElementBytes(Type elementType);
/// The size of a tensor whose dimensions are all known.
SymExprAttr getByteSize(RankedTensorType type, SymBuilder &math);

/// The tensor that `tensor` is a view of or overwrites; null if neither.
Value getAliasedTensor(Value tensor);
/// Whether `use` takes its own reference: returned, yielded, carried and
/// captured values do.
bool takesReference(OpOperand &use);
/// Whether memory passed on by `use` may be used after the last use of its
/// aliases: through a reference, through the result of a call that returns it,
/// or by a callback or library that retains it.
bool mayOutlive(OpOperand &use);
/// The values that `block` owns, in order.
SmallVector<Value> getOwnedValues(Block &block);

/// Calls `fn` on each use of `value` and its aliases.
void walkUses(Value value, function_ref<void(OpOperand &)> fn);
/// The last op, in the block that defines `value`, that uses it or an alias;
/// null if there is none.
Operation *getLastUser(Value value);

/// Reports an error if `function` still contains a dataflow block.
LogicalResult verifyNoDataflow(FuncOp function, StringRef pass);
/// Inserts the kills of a function and removes existing ones.
void insertKills(FuncOp function);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_LIFETIMES_H
