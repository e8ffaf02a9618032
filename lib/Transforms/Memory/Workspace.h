//===- Workspace.h - temporaries of kernels ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bytes ^ +-----------------+
//         | | symbolic slot   |       Temporaries that are never live at the
//         | +----+--+---------+       same time share memory. A slot is as
//         | | a  |  | b       |       large as its largest member; members use
//         | +----+--+---------+       it one at a time. Constant sizes share
//         | | constant sizes  |       an arena (Arena.h).
//         +-+-----------------+--> time
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_WORKSPACE_H
#define RELAX_TRANSFORMS_MEMORY_WORKSPACE_H

#include "Analysis/KernelSizes.h"
#include "Transforms/Memory/Arena.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::relax {

/// A buffer that a kernel allocates for itself.
struct Temporary {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  Lifetime lifetime; // counted in ops of the kernel's block
  SymExprAttr bytes;
  SymExprAttr offset; // in the workspace
};

/// The temporaries that callers could allocate instead, ordered by first use;
/// without offsets.
SmallVector<Temporary> findTemporaries(func::FuncOp kernel, KernelSizes &sizes);

/// Assigns an offset to each temporary. Returns the total size; null if it
/// exceeds 64 bits.
SymExprAttr layOutWorkspace(MutableArrayRef<Temporary> temporaries,
                            KernelSizes &sizes);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_WORKSPACE_H
