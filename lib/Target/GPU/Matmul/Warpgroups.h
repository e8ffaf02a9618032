//===- Warpgroups.h - building blocks for sm_90 kernels ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread copies boxes of tensors to shared memory by their coordinates in a
// tensor map; barriers in shared memory count the arriving bytes. Warpgroups,
// which consist of four warps, multiply from there.
//
// Lines in shared memory are 128 bytes long. Their eight 16-byte chunks are
// permuted from line to line (swizzled), as written by the copies and expected
// by the products. A matrix with longer lines consists of several blocks of
// such lines.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_WARPGROUPS_H
#define RELAX_TARGET_GPU_MATMUL_WARPGROUPS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// Threads per warpgroup.
constexpr int64_t warpgroupThreads = 128;
/// 16-bit elements per line, and bytes per line.
constexpr int64_t warpgroupLine = 64, warpgroupLineBytes = 128;
/// The maximum number of dimensions of a tensor map.
constexpr int64_t maxTensorMapRank = 5;
/// Shared memory per block, in bytes.
constexpr int64_t maxBlockBytes = 227 << 10;
/// The period of the swizzle, in bytes.
constexpr int64_t warpgroupAlignment = 1024;

/// The number of stages of `stageBytes` bytes that fit in shared memory.
constexpr int64_t warpgroupStages(int64_t stageBytes) {
  // Space for barriers; more stages than this do not improve performance.
  constexpr int64_t barrierBytes = 256, maxStages = 8;
  int64_t room =
      (maxBlockBytes - warpgroupAlignment - barrierBytes) / stageBytes;
  return room < maxStages ? room : maxStages;
}

/// A matmul operand in shared memory.
struct WarpgroupMatrix {
  /// The start address in bytes, as i64.
  Value address;
  /// Whether lines run along the depth.
  bool alongDepth;
  /// Bytes per block of lines, if lines do not run along the depth.
  int64_t blockBytes;
};

class WarpgroupBuilder {
public:
  WarpgroupBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  /// Creates a tensor map of a buffer, to copy boxes of it; the host makes the
  /// map at the launch (LowerLaunches.cpp). Out-of-bounds elements are zero.
  Value makeTensorMap(Value buffer, ArrayRef<int64_t> box);

  Value createBarriers(int64_t count);
  /// Initializes barriers whose phases complete after `arrivals` arrivals; call
  /// from one thread.
  void initBarriers(Value barriers, int64_t first, int64_t count,
                    int64_t arrivals);
  /// Call after initializing all barriers, before other threads use them.
  void endInit();
  /// Waits until the phase of this parity is complete.
  void wait(Value barriers, Value at, Value parity);
  void arrive(Value barriers, Value at);
  void arriveExpecting(Value barriers, Value at, int64_t bytes);
  /// Starts to copy the box at `coordinates`, outermost first, to byte `offset`
  /// of dynamic shared memory.
  void copyBox(Value map, ArrayRef<Value> coordinates, Value barriers, Value at,
               Value offset);
  void prefetch(Value map);

  /// The start address of dynamic shared memory, in bytes.
  Value dynamicMemory();
  /// The index of the warp, in a form that the compiler knows to be uniform.
  Value warpOf(Value thread);
  /// Synchronizes `threads` threads of a block, which must be whole warps.
  void barrier(int32_t number, int64_t threads);

  /// Synchronizes all threads of a cluster's blocks that still run.
  void clusterBarrier();
  /// The address of an array of this block in the shared memory of another
  /// block of the cluster.
  Value addressInCluster(Value array, int64_t block);
  /// Loads an element or vector from there.
  Value loadInCluster(Value address, Value at, Type type);

  /// Zero-initialized sums of a warpgroup for 64 rows.
  Value zeroSums(int64_t columns);
  /// Starts to add the product of `a` (64 rows) and `b` at a step of 16 along
  /// the depth.
  Value multiply(Value sums, const WarpgroupMatrix &a, const WarpgroupMatrix &b,
                 int64_t step, Type element, int64_t columns);
  void beginProducts();
  void endProducts();
  /// Waits until at most `others` groups of products are in flight.
  void waitForProducts(int64_t others);
  /// Two adjacent sums of a row: columns `8 * pair + 2 * (lane % 4)` onward, in
  /// row `8 * half + lane / 4` of the warp's 16 rows.
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
