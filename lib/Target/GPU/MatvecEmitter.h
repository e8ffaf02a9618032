//===- MatvecEmitter.h - matrices times a vector on a GPU -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product with one row, or few of them: what counts is how fast the matrix is
// read, which each element of is needed once. A block takes some columns of the
// result, and its threads share their sums:
//
//   thread t:  for each unit u = t, t + threads, ...
//                x = vector[unit u]                          once for all
//                columns for each column c:  sum[c] += x * matrix[c, unit u]
//
// All blocks may have to know something of the whole row before that, as the
// sum of the squares that a norm divides by: each of them finds it.
//
// A unit is what is read together: one vector of the last axis; and all of the
// axes that something which the matrix is computed from does not have, so that
// a byte that holds two elements, or the scale of a group, is read once.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATVECEMITTER_H
#define RELAX_TARGET_GPU_MATVECEMITTER_H

#include "Target/GPU/LaunchEmitter.h"
#include "Target/GPU/Matmul.h"

namespace mlir::relax {

/// Emits the products of a nest for few rows, one or several of the same rows;
/// fails, and leaves nothing behind, where it cannot. What `prepared` computes
/// of a row is done by each block.
LogicalResult emitMatvec(const KernelGraph &graph, ArrayRef<Matmul> products,
                         const Nest &nest, const Nest *prepared,
                         OpBuilder &builder, Location loc,
                         const DenseMap<Value, Storage> &storage,
                         unsigned subgroupSize);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATVECEMITTER_H
