//===- Products.h - products of matrices of one operand ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products that share their rows are done together: those that do not depend on
// each other in one launch, those that meet element by element in one pass over
// the operand where that has a single row. What makes that operand of each row,
// as a norm, is then done by the blocks that multiply it.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_PRODUCTS_H
#define RELAX_TARGET_GPU_MATMUL_PRODUCTS_H

#include "Target/GPU/Chip.h"
#include "Target/GPU/Launch/LaunchEmitter.h"
#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

/// A way to compute a product, for up to so many rows.
struct Way {
  static constexpr int64_t any = std::numeric_limits<int64_t>::max();

  int64_t maxRows;
  std::function<LogicalResult()> emit;
};

/// A nest that multiplies matrices. What does well depends on the number of
/// rows: where that is not known, the host chooses when it knows.
struct Product {
  /// Null where the nest is anything else. What the ways need before them is
  /// emitted.
  static std::unique_ptr<Product> find(const KernelGraph &graph,
                                       const Nest &nest, OpBuilder &builder,
                                       Location loc,
                                       DenseMap<Value, Storage> &storage,
                                       const Chip &chip, bool asVectors);

  const Way &wayFor(int64_t number) const {
    return *llvm::find_if(
        ways, [&](const Way &way) { return number <= way.maxRows; });
  }

  Matmul matmul;
  /// How many there are.
  Value rows;
  /// For ever more rows; the last does for any number.
  SmallVector<Way> ways;
};

/// Emits the products that `nests` begins with, and what prepares their rows if
/// that comes first. Returns how many nests that were; none, with nothing left
/// behind, where the first is something else.
size_t emitProducts(const KernelGraph &graph, ArrayRef<Nest> nests,
                    OpBuilder &builder, Location loc,
                    DenseMap<Value, Storage> &storage, const Chip &chip,
                    bool asVectors);

/// Emits a nest as LaunchEmitter does, as vectors if it can. Nothing is left
/// behind where that fails.
LogicalResult emitNest(const KernelGraph &graph, const Nest &nest,
                       OpBuilder &builder, Location loc,
                       DenseMap<Value, Storage> &storage, unsigned subgroupSize,
                       bool asVectors);

/// The same where all that others read of it has its storage already.
LogicalResult emitAlone(const KernelGraph &graph, const Nest &nest,
                        OpBuilder &builder, Location loc,
                        const DenseMap<Value, Storage> &storage,
                        unsigned subgroupSize, bool asVectors);

/// A buffer with all dimensions of a result of a stage.
Storage allocateWhole(const Stage &stage, OpResult result,
                      const DenseMap<Axis, Value> &sizes, OpBuilder &builder,
                      Location loc);

/// Makes one launch of those between two ops of a block, which must not depend
/// on each other, as far as their blocks have as many threads.
void mergeLaunches(Operation *after, Operation *before);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_PRODUCTS_H
