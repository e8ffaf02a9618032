//===- Warpgroups.h - what kernels of sm_90 are made of ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes of tensors are copied to the memory of a block by one thread, which
// names their place in a map of the tensor; barriers in that memory count the
// bytes that have come. Warpgroups, of four warps, multiply from there.
//
// Lines in that memory are 128 bytes long, and the eight chunks of 16 bytes in
// one change places from line to line (swizzled), as copies put them and
// products expect them. A matrix whose lines are longer is a row of blocks of
// such lines.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_WARPGROUPS_H
#define RELAX_TARGET_GPU_MATMUL_WARPGROUPS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// Threads of a warpgroup.
constexpr int64_t warpgroupThreads = 128;
/// Elements of 16 bits in a line, and its bytes.
constexpr int64_t warpgroupLine = 64, warpgroupLineBytes = 128;
/// The dimensions that a map can have.
constexpr int64_t maxTensorMapRank = 5;
/// What a block may have of memory, in bytes.
constexpr int64_t maxBlockBytes = 227 << 10;
/// The swizzle repeats itself after so many bytes.
constexpr int64_t warpgroupAlignment = 1024;

/// How many stages of so many bytes a block has in its memory.
constexpr int64_t warpgroupStages(int64_t stageBytes) {
  // What barriers take; beyond so many, stages do not make anything faster.
  constexpr int64_t barrierBytes = 256, maxStages = 8;
  int64_t room =
      (maxBlockBytes - warpgroupAlignment - barrierBytes) / stageBytes;
  return room < maxStages ? room : maxStages;
}

/// An operand of a product in the memory of a block.
struct WarpgroupMatrix {
  /// Where it begins, as a number of bytes; i64.
  Value address;
  /// Whether lines run along the depth.
  bool alongDepth;
  /// Bytes of a block of lines, where they do not run along the depth.
  int64_t blockBytes;
};

class WarpgroupBuilder {
public:
  WarpgroupBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  /// The map of a tensor in memory, to copy boxes of it; made by the host where
  /// it launches (LowerLaunches.cpp). What lies beyond the tensor is zero.
  Value makeTensorMap(Value buffer, ArrayRef<int64_t> box);

  Value createBarriers(int64_t count);
  /// Lets barriers complete a phase when `arrivals` have come; for one thread.
  void initBarriers(Value barriers, int64_t first, int64_t count,
                    int64_t arrivals);
  /// After all of them, before other threads may use them.
  void endInit();
  /// Waits for the end of the phase of this parity.
  void wait(Value barriers, Value at, Value parity);
  void arrive(Value barriers, Value at);
  void arriveExpecting(Value barriers, Value at, int64_t bytes);
  /// Begins to copy the box at `coordinates`, the outermost first, to
  /// `offset` bytes into the memory that the launch asks for.
  void copyBox(Value map, ArrayRef<Value> coordinates, Value barriers, Value at,
               Value offset);
  void prefetch(Value map);

  /// Where the memory that the launch asks for begins, in bytes.
  Value dynamicMemory();
  /// The number of a warp, which the compiler then knows to be that of a warp.
  Value warpOf(Value thread);
  /// Waits for some threads of a block, whole warps.
  void barrier(int32_t number, int64_t threads);

  /// Waits for all blocks of a cluster, or those of its threads that still run.
  void clusterBarrier();
  /// Where an array in memory of this block lies in that of another block of
  /// the cluster.
  Value addressInCluster(Value array, int64_t block);
  /// An element or vector there.
  Value loadInCluster(Value address, Value at, Type type);

  /// Sums of a warpgroup for 64 rows: zeros.
  Value zeroSums(int64_t columns);
  /// Begins to add the product of `a` (64 rows) and `b` at a step of 16 of the
  /// depth, within the lines or beyond.
  Value multiply(Value sums, const WarpgroupMatrix &a, const WarpgroupMatrix &b,
                 int64_t step, Type element, int64_t columns);
  void beginProducts();
  void endProducts();
  /// Waits until at most so many groups of products are under way.
  void waitForProducts(int64_t others);
  /// Two sums that are neighbours in a row: of columns `8 * pair + 2 * (lane %
  /// 4)`, in the warp's row `8 * half + lane / 4` of 16.
  Value sumsOf(Value sums, int64_t pair, int64_t half);

private:
  Value number(int64_t value);
  Value describe(const WarpgroupMatrix &matrix, int64_t step);
  Value memory();

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_WARPGROUPS_H
