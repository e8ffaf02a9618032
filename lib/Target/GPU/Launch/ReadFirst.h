//===- ReadFirst.h - hoists loads ahead of computations ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPU memory has a high latency, so throughput depends on the number of loads
// in flight. Only for code without writes or barriers.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_READFIRST_H
#define RELAX_TARGET_GPU_LAUNCH_READFIRST_H

#include "mlir/IR/Block.h"

namespace mlir::relax {

/// Moves loads and their operands to the start of the range from `from` to
/// `behind`, so that the loads are in flight together.
void readFirst(Block *block, Operation *from = nullptr,
               Operation *behind = nullptr);

/// The same for loads of global memory, up to the first write to global memory;
/// shared memory accesses and barriers may lie in between.
void readGlobalFirst(Block *block);

/// Moves ops without side effects directly before their first use to shorten
/// live ranges. `ops` must be in the order of the block.
void computeLate(ArrayRef<Operation *> ops);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_READFIRST_H
