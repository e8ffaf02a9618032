//===- ComputedWarpgroups.h - computed operands for warpgroups --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H
#define RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H

#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

/// A fast tile for a matmul of this size with a computed operand.
WarpgroupTile chooseComputedTile(int64_t batches, int64_t rows,
                                 int64_t columns);

/// The number of producer threads, which compute the operand.
int64_t producerThreads(const WarpgroupTile &tile);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H
