//===- Workspace.h - what kernels allocate for themselves -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bytes ^ +-----------------+
//         | | symbolic slot   |    What is never alive together lies in the
//         same | +----+--+---------+    bytes. A slot is as large as the
//         largest of | | a  |  | b       |    its members, which lie in it one
//         at a time; | +----+--+---------+    constant sizes share an arena
//         (Arena.h). | | constant sizes  |
//         +-+-----------------+--> time
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_WORKSPACE_H
#define RELAX_TRANSFORMS_MEMORY_WORKSPACE_H

#include "Analysis/KernelSizes.h"
#include "Transforms/Memory/Arena.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::relax {

/// What a kernel allocates for itself.
struct Temporary {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  Lifetime lifetime; // in ops of the kernel's block
  SymExprAttr bytes;
  SymExprAttr offset; // in the workspace
};

/// The temporaries of a kernel that its callers could bring, in the order in
/// which they are first used; without offsets.
SmallVector<Temporary> findTemporaries(func::FuncOp kernel, KernelSizes &sizes);

/// Gives each temporary its place. Returns the bytes of all; null where they
/// are too many to say.
SymExprAttr layOutWorkspace(MutableArrayRef<Temporary> temporaries,
                            KernelSizes &sizes);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_WORKSPACE_H
