//===- TileEmitter.h - kernels of blocks that take tiles --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products of matrices and attention are made of: arithmetic on places,
// memory of the block, and tensor cores.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H
#define RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H

#include "Target/GPU/Launch/LaunchEmitter.h"

namespace mlir::relax {

/// Finds how many elements can be taken at once along an axis, of all that is
/// shown to it.
class WidthFinder {
public:
  WidthFinder(const KernelGraph &graph, Axis axis) : graph(graph), axis(axis) {}

  void see(linalg::GenericOp op, OpOperand &operand);
  /// All of an op and of what is computed with it.
  void see(linalg::GenericOp stage);
  int64_t width() const;

private:
  const KernelGraph &graph;
  Axis axis;
  int64_t narrowest = 4, size = 0;
  bool isRegular = true;
};

class TileEmitter : public LaunchEmitter {
public:
  using LaunchEmitter::LaunchEmitter;

  /// Rows and columns of a matrix that a subgroup has together.
  static constexpr int64_t matrixSize = 16;
  /// How much longer lines are in memory that a block shares, of 16-bit
  /// elements and of sums: those that follow each other start in other banks.
  static constexpr int64_t linePadding = 8;

protected:
  /// A launch whose blocks have so much memory, and the thread in it.
  void launchTiles(Value blocks, int64_t threads, int64_t sharedBytes);
  /// The memory of the block that the launch asks for, as an array.
  Value viewShared(int64_t count, Type element, int64_t byte = 0);
  /// A buffer as an array.
  Value flatten(Value buffer);

  Value number(int64_t value) { return emitter.constant(value); }
  Value subtract(Value lhs, Value rhs);
  Value divideBy(Value lhs, int64_t rhs);
  Value remainder(Value lhs, int64_t rhs);
  Value exclusiveOr(Value lhs, Value rhs);
  Value isLess(Value lhs, Value rhs);
  /// Null where both are, as an operand of `both`.
  Value both(Value lhs, Value rhs);
  /// Emits `body` where `condition` holds; always if it is null.
  void onlyIf(Value condition, function_ref<void()> body);
  /// Null where a multiple of `step` up to `size` cannot go beyond it.
  Value isInside(Value at, Value size, int64_t step);

  // With tensor cores.
  /// Elements that change places together.
  static constexpr int64_t chunk = 8;
  /// Where a chunk of a line of so many chunks lies.
  Value turn(Value line, Value at, int64_t chunks);
  /// Four matrices of 8 x 8, as a lane has them.
  SmallVector<Value> loadMatrices(Value shared, Value at, bool transpose);
  /// `sums` and the product of 16 x 16 and 16 x 8 elements.
  SmallVector<Value> multiplyMatrices(ValueRange a, ValueRange b,
                                      ValueRange sums, Type element);

  // With matrices that a subgroup has together (Matrices.cpp).
  enum class MatrixUse { A, B, Sums };
  /// Lines of `pitch` elements are the rows, or with `byColumns` the columns.
  Value loadMatrix(Value shared, Value at, int64_t pitch, MatrixUse use,
                   bool byColumns);
  void storeMatrix(Value matrix, Value shared, Value at, int64_t pitch);
  Value zeroMatrix();
  /// `sum` and the product of `a` and `b`.
  Value addProduct(Value a, Value b, Value sum);
  /// The products of their elements.
  Value scaleMatrix(Value matrix, Value by);
  /// Elements as they are, in words.
  Value loadWords(Value array, Value at, int64_t width);
  void storeWords(Value words, Value array, Value at);
  Value matrixPlace(Value shared, Value at);
  Value word(int64_t value);
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H
