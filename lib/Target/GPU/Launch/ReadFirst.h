//===- ReadFirst.h - reads before what uses them ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of a GPU is far away: how fast it is read depends on how many reads
// are under way. For code without writes or barriers.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_READFIRST_H
#define RELAX_TARGET_GPU_LAUNCH_READFIRST_H

#include "mlir/IR/Block.h"

namespace mlir::relax {

/// Puts what is read, and what that needs, before all else from `from` to
/// `behind`: the reads are then under way at the same time.
void readFirst(Block *block, Operation *from = nullptr,
               Operation *behind = nullptr);

/// The same of memory that all blocks see, up to where it is written; what a
/// block does among its threads may lie between.
void readGlobalFirst(Block *block);

/// Puts ops without effects right before what first uses them, so that what
/// they compute takes registers no longer than it must. In the order of the
/// block.
void computeLate(ArrayRef<Operation *> ops);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_READFIRST_H
