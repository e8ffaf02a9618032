//===- Products.h - matmuls that share an operand ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls that share their rows are emitted together: independent ones in one
// launch, and ones that are combined element by element in one pass over the
// operand if it has a single row. If the operand is computed row by row, as by
// a norm, the blocks that multiply the row also compute it.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_PRODUCTS_H
#define RELAX_TARGET_GPU_MATMUL_PRODUCTS_H

#include "Target/GPU/Chip.h"
#include "Target/GPU/Launch/LaunchEmitter.h"
#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

/// A strategy to compute a matmul with up to `maxRows` rows.
struct MatmulStrategy {
  static constexpr int64_t any = std::numeric_limits<int64_t>::max();

  int64_t maxRows;
  std::function<LogicalResult()> emit;
};

/// A matmul nest. The best strategy depends on the number of rows; if that is
/// dynamic, the host chooses at run time.
struct Product {
  /// Null if the nest is not a matmul. Also emits code that the strategies
  /// share.
  static std::unique_ptr<Product> find(const KernelGraph &graph,
                                       const Nest &nest, OpBuilder &builder,
                                       Location loc,
                                       DenseMap<Value, Storage> &storage,
                                       const Chip &chip, bool asVectors);

  const MatmulStrategy &strategyFor(int64_t number) const {
    return *llvm::find_if(strategies, [&](const MatmulStrategy &strategy) {
      return number <= strategy.maxRows;
    });
  }

  Matmul matmul;
  /// The number of rows.
  Value rows;
  /// Strategies for increasing numbers of rows; the last one supports any
  /// number.
  SmallVector<MatmulStrategy> strategies;
};

/// Emits the matmuls at the start of `nests`, including a nest before them that
/// computes their rows. Returns the number of emitted nests: zero, without
/// emitted code, if the first nest is neither.
size_t emitProducts(const KernelGraph &graph, ArrayRef<Nest> nests,
                    OpBuilder &builder, Location loc,
                    DenseMap<Value, Storage> &storage, const Chip &chip,
                    bool asVectors);

/// Emits a nest with LaunchEmitter, vectorized if possible. Emits no code on
/// failure.
LogicalResult emitNest(const KernelGraph &graph, const Nest &nest,
                       OpBuilder &builder, Location loc,
                       DenseMap<Value, Storage> &storage, unsigned subgroupSize,
                       bool asVectors);

/// The same if all results that other nests read already have storage.
LogicalResult emitAlone(const KernelGraph &graph, const Nest &nest,
                        OpBuilder &builder, Location loc,
                        const DenseMap<Value, Storage> &storage,
                        unsigned subgroupSize, bool asVectors);

/// Allocates a buffer for all dimensions of a result of a stage.
Storage allocateWhole(const Stage &stage, OpResult result,
                      const DenseMap<Axis, Value> &sizes, OpBuilder &builder,
                      Location loc);

/// Merges the launches between two ops of a block, which must be independent of
/// each other, if their blocks have the same number of threads.
void mergeLaunches(Operation *after, Operation *before);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_PRODUCTS_H
