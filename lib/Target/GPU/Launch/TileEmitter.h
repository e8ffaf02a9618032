//===- TileEmitter.h - building blocks of tiled kernels ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by matmuls and attention: index arithmetic, shared memory, and tensor
// cores.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H
#define RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H

#include "Target/GPU/Launch/LaunchEmitter.h"

namespace mlir::relax {

/// Computes how many elements can be processed at a time along an axis, given
/// all ops that it is shown.
class WidthFinder {
public:
  WidthFinder(const KernelGraph &graph, Axis axis) : graph(graph), axis(axis) {}

  void see(linalg::GenericOp op, OpOperand &operand);
  /// Takes an op, and all ops that are computed with it, into account.
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

  /// Rows and columns of a cooperative matrix.
  static constexpr int64_t matrixSize = 16;
  /// Padding of lines in shared memory, for 16-bit elements and for sums:
  /// consecutive lines start in different banks.
  static constexpr int64_t linePadding = 8;

protected:
  /// Creates a launch whose blocks have this much shared memory, and sets the
  /// thread index.
  void launchTiles(Value blocks, int64_t threads, int64_t sharedBytes);
  /// Views a part of the dynamic shared memory as an array.
  Value viewShared(int64_t count, Type element, int64_t byte = 0);
  /// Views a buffer as an array.
  Value flatten(Value buffer);

  Value number(int64_t value) { return emitter.constant(value); }
  Value subtract(Value lhs, Value rhs);
  Value divideBy(Value lhs, int64_t rhs);
  Value remainder(Value lhs, int64_t rhs);
  Value exclusiveOr(Value lhs, Value rhs);
  Value isLess(Value lhs, Value rhs);
  /// The conjunction of two conditions; a null condition is true.
  Value both(Value lhs, Value rhs);
  /// Emits `body` where `condition` holds; always if it is null.
  void onlyIf(Value condition, function_ref<void()> body);
  /// Whether `at` is inside `size`; null if a multiple of `step` below `size`
  /// is always inside.
  Value isInside(Value at, Value size, int64_t step);

  // With tensor cores.
  /// Elements in the unit that is swizzled.
  static constexpr int64_t chunk = 8;
  /// The swizzled index of chunk `at` in a line of `chunks` chunks.
  Value turn(Value line, Value at, int64_t chunks);
  /// Loads four matrices of 8 x 8 in the register layout of the tensor cores.
  SmallVector<Value> loadMatrices(Value shared, Value at, bool transpose);
  /// Adds the product of 16 x 16 and 16 x 8 elements to `sums`.
  SmallVector<Value> multiplyMatrices(ValueRange a, ValueRange b,
                                      ValueRange sums, Type element);

  // With cooperative matrices (Matrices.cpp).
  enum class MatrixUse { A, B, Sums };
  /// Lines of `pitch` elements are the rows or, with `byColumns`, the columns.
  Value loadMatrix(Value shared, Value at, int64_t pitch, MatrixUse use,
                   bool byColumns);
  void storeMatrix(Value matrix, Value shared, Value at, int64_t pitch);
  Value zeroMatrix();
  /// Adds the product of `a` and `b` to `sum`.
  Value addProduct(Value a, Value b, Value sum);
  /// The element-wise product.
  Value scaleMatrix(Value matrix, Value by);
  /// Loads `width` elements as words, without conversion.
  Value loadWords(Value array, Value at, int64_t width);
  void storeWords(Value words, Value array, Value at);
  Value matrixPlace(Value shared, Value at);
  Value word(int64_t value);
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_TILEEMITTER_H
