//===- Lifetimes.h - sizes, aliases and last uses ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes over memory ask of a graph function. The rules of ownership
// are those that `relax-insert-kills` documents.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_LIFETIMES_H
#define RELAX_TRANSFORMS_MEMORY_LIFETIMES_H

#include "Relax/Aliasing.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Memory.h"
#include "Relax/ShapeUtils.h"

namespace mlir::relax {

/// What cache lines, vectors and DMA engines are content with.
constexpr int64_t kStorageAlignment = 64;

/// The bytes that one element takes in memory: a Boolean one, others their bits
/// rounded up.
int64_t getElementBytes(Type elementType);
/// The bytes of a tensor whose dimensions are all known.
SymExprAttr getByteSize(RankedTensorType type, SymBuilder &math);

/// The tensor that `tensor` is a view of, or in place of; null where it is
/// neither.
Value getAliasedTensor(Value tensor);
/// Whether `use` takes a reference of its own: of what is returned, yielded,
/// carried by a loop or captured.
bool takesReference(OpOperand &use);
/// Whether what `use` passes on may be used after the last use of its aliases:
/// through a reference, through the result of a call that returns it, or by a
/// callback or a library that keeps it.
bool mayOutlive(OpOperand &use);
/// The values of `block` that it owns, in order.
SmallVector<Value> getOwnedValues(Block &block);

/// Calls `fn` on each use of `value` and of its aliases.
void walkUses(Value value, function_ref<void(OpOperand &)> fn);
/// The op of the block that defines `value` in which it, or an alias of it, is
/// used last; null where there is none.
Operation *getLastUser(Value value);

/// Reports an error where a dataflow block is left in `function`.
LogicalResult verifyNoDataflow(FuncOp function, StringRef pass);
/// Places the kills of a function, instead of those that are there.
void insertKills(FuncOp function);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_LIFETIMES_H
