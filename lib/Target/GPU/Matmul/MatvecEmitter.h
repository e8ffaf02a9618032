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
  /// The most elements of a unit.
  static constexpr int64_t maxUnit = 64;

  /// What a thread takes at once: the vectors of the rows, and those of the
  /// matrices for each sum.
  struct Unit {
    SmallVector<Point> parts;
    SmallVector<SmallVector<Value>> elements;
    /// Whether the thread has it (null: it has).
    Value isOn;
  };

  bool chooseBlocks();
  /// A constant, the same each time, so that reads are known to be the same.
  Value number(int64_t value) {
    Value &known = numbers[value];
    return known ? known : known = emitter.constant(value);
  }
  Point columnAt(Value number, const Point &base);
  /// The axes of another product where `point` has those of the first.
  Point pointOf(size_t product, Point point) const;
  Unit readUnit(Value unit, const Point &base);
  SmallVector<Value> addUnit(const Unit &unit, ValueRange before);
  SmallVector<Value> addSteps(Value from, int64_t count, Value isLastOn,
                              const Point &base, ValueRange before,
                              bool isFirst);
  SmallVector<Value> addAll(const Point &base);
  /// What all threads must know of a row before it is multiplied.
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
  /// Columns of a block; the first of them. Steps whose reads are under way
  /// together.
  int64_t width = 1, together = 1;
  Value first;
  DenseMap<int64_t, Value> numbers;
};

/// Emits the products of a nest for few rows, one or several of the same rows;
/// fails, and leaves nothing behind, where it cannot. What `prepared` computes
/// of a row is done by each block.
LogicalResult emitMatvec(const KernelGraph &graph, ArrayRef<Matmul> products,
                         const Nest &nest, const Nest *prepared,
                         OpBuilder &builder, Location loc,
                         const DenseMap<Value, Storage> &storage,
                         unsigned subgroupSize);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_MATVECEMITTER_H
