//===- MatvecEmitter.h - matrix-vector products -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product with one or a few rows. Performance depends on how fast the matrix,
// each element of which is needed once, can be read. A block computes some
// columns of the result, and its threads divide each sum:
//
//   thread t:  for each unit u = t, t + threads, ...
//                x = vector[unit u]    (shared by all columns)
//                for each column c:  sum[c] += x * matrix[c, unit u]
//
// Some nests need a property of the whole row first, such as the sum of squares
// for a norm. Each block computes it redundantly.
//
// A unit is what a thread reads together: one vector of the last axis, extended
// along all axes that some input of the matrix does not depend on, so that a
// byte that holds two elements, or the scale of a group, is read only once.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_MATVECEMITTER_H
#define RELAX_TARGET_GPU_MATMUL_MATVECEMITTER_H

#include "Target/GPU/Launch/LaunchEmitter.h"
#include "Target/GPU/Matmul/Decoded.h"
#include "Target/GPU/Matmul/Matmul.h"

namespace mlir::relax {

class MatvecEmitter : public LaunchEmitter {
public:
  MatvecEmitter(const KernelGraph &graph, ArrayRef<Matmul> products,
                const Nest &nest, const Nest *prepared, const DepthUnits &units,
                OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, unsigned subgroupSize)
      : LaunchEmitter(graph, nest, builder, loc, storage, subgroupSize,
                      units.lanes),
        products(products), matmul(products.front()), prepared(prepared),
        units(units) {
    for (const Matmul &product : products)
      wide.push_back(product.depth.back());
  }

  LogicalResult emitProduct();

private:
  /// The maximum number of elements in a unit.
  static constexpr int64_t maxUnit = 64;

  /// A unit of a thread: its points, and the vectors of the rows and matrices
  /// at them.
  struct Unit {
    SmallVector<Point> parts;
    SmallVector<SmallVector<Value>> elements;
    /// Whether the thread takes part (null: always).
    Value isOn;
  };

  bool chooseBlocks();
  /// A cached constant, so that equal loads can be recognized.
  Value number(int64_t value) {
    Value &known = numbers[value];
    return known ? known : known = emitter.constant(value);
  }
  Point columnAt(Value number, const Point &base);
  /// Translates a point of the first product to the axes of another product.
  Point pointOf(size_t product, Point point) const;
  Unit readUnit(Value unit, const Point &base);
  SmallVector<Value> addUnit(const Unit &unit, ValueRange before);
  SmallVector<Value> addSteps(Value from, int64_t count, Value isLastOn,
                              const Point &base, ValueRange before,
                              bool isFirst);
  SmallVector<Value> addAll(const Point &base);
  /// Computes the properties of a row that all threads need before the product.
  LogicalResult setUpRows();
  void prepare(const Point &base);
  FailureOr<Value> operandAt(size_t product, unsigned number,
                             const Point &point);
  Scaled takeApart(Value value);
  Value sumOfProducts(Value x, Value core, Value before);
  Value sumOfLanes(Value x);
  Value multiplyAdd(Value a, Value b, Value c);
  void finish(ValueRange sums, const Point &base);

  ArrayRef<Matmul> products;
  const Matmul &matmul;
  const Nest *prepared;
  const DepthUnits &units;
  /// Columns per block; the first of them; steps whose loads are in flight
  /// together.
  int64_t width = 1, together = 1;
  Value first;
  DenseMap<int64_t, Value> numbers;
};

/// Emits one or several products of the same rows, for a nest with few rows.
/// Fails without emitting code if that is not possible. Each block computes the
/// stages of `prepared` for its row.
LogicalResult emitMatvec(const KernelGraph &graph, ArrayRef<Matmul> products,
                         const Nest &nest, const Nest *prepared,
                         OpBuilder &builder, Location loc,
                         const DenseMap<Value, Storage> &storage,
                         unsigned subgroupSize);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_MATVECEMITTER_H
