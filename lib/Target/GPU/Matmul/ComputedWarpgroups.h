//===- ComputedWarpgroups.h - computed matrices for warpgroups --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H
#define RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H

#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

/// What is fast for a product of this size with a matrix that is computed.
WarpgroupTile chooseComputedTile(int64_t batches, int64_t rows,
                                 int64_t columns);

/// Threads that compute the matrix, for those that multiply it.
int64_t producerThreads(const WarpgroupTile &tile);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_COMPUTEDWARPGROUPS_H
