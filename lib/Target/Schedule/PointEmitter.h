//===- PointEmitter.h - code for elements of tensors ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits what computes the element of a tensor at given indices, for one point
// or for a vector of them ("lanes"). Bodies of structured ops are written for
// one point; a value in them is kept a scalar as long as it is the same in all
// lanes, so an index that lanes do not change costs a scalar load and a
// broadcast, one that grows by one from lane to lane a vector load, and any
// other a gather.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_POINTEMITTER_H
#define RELAX_TARGET_SCHEDULE_POINTEMITTER_H

#include "Target/Schedule/KernelGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace mlir::relax {

/// A value at a point, in all lanes.
struct Lanes {
  /// A scalar, the same in all lanes but for `stride`; or a vector.
  Value value;
  /// Of a scalar of type index: what it grows by from lane to lane.
  int64_t stride = 0;
  bool isVector = false;

  bool isUniform() const { return !isVector && stride == 0; }
};

/// Where the results of a stage are kept.
struct Storage {
  /// The buffer; null where results are SSA values, one for each point.
  Value buffer;
  /// The dimensions of the tensor that the buffer has.
  SmallVector<unsigned> dims;
  /// The buffer has a row for each point of a block before `dims`.
  bool perPoint = false;
  /// Without a buffer: values differ by the column as well.
  bool perColumn = false;
};

class PointEmitter {
public:
  PointEmitter(OpBuilder &builder, Location loc, int64_t lanes)
      : builder(builder), loc(loc), lanes(lanes) {}

  /// The element of `tensor` at `index`.
  FailureOr<Lanes> element(Value tensor, ArrayRef<Lanes> index);

  /// The values that the body of `op` yields at the point `loops`. `operand`
  /// gives the values of the body's arguments. `contract` permits products and
  /// sums to be fused.
  FailureOr<SmallVector<Lanes>>
  body(linalg::GenericOp op, ArrayRef<Lanes> loops,
       function_ref<FailureOr<Lanes>(unsigned)> operand, bool contract);

  /// The operand `number` of `op` at the point `loops`.
  FailureOr<Lanes> operand(linalg::GenericOp op, unsigned number,
                           ArrayRef<Lanes> loops);

  LogicalResult store(Lanes value, Value buffer, ArrayRef<Lanes> index);

  /// What an indexing map gives at a point.
  FailureOr<SmallVector<Lanes>> apply(AffineMap map, ArrayRef<Lanes> dims);

  /// A value in each lane of its own.
  Value vector(Lanes value);

  Value constant(int64_t value);
  Value add(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  /// Whether `value` is a multiple of `factor`, whatever its terms are.
  static bool isMultiple(Value value, int64_t factor);
  /// The size of a dimension of a tensor or buffer.
  Value size(Value shaped, unsigned dim);
  /// The sizes of the axes of a nest, static where any operand has a static
  /// one.
  FailureOr<DenseMap<Axis, Value>> sizes(const Nest &nest);

  /// A loop; `body` gives what it carries on. Values are had once within it.
  SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange inits,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);

  /// Where stages keep their results, and those that are SSA values.
  DenseMap<Value, Storage> storage;
  std::map<std::pair<void *, unsigned>, Lanes> kept;
  /// The point that is computed; lanes that are off, where some are.
  unsigned point = 0, column = 0;
  Value mask;

  /// What tells the values of a stage apart.
  unsigned number(const Storage &place) const {
    return place.perColumn ? point | column << 16 : point;
  }

  /// Values that are had already are not computed again within a scope.
  struct Scope {
    explicit Scope(PointEmitter &emitter) : emitter(emitter) {
      emitter.scopes.emplace_back();
    }
    ~Scope() { emitter.scopes.pop_back(); }
    PointEmitter &emitter;
  };

  OpBuilder &builder;
  Location loc;
  const int64_t lanes;
  /// Registers for vectors: 16 rather than 32.
  bool fewRegisters = false;
  /// Whether buffers begin at the border of a vector: accesses whose index is a
  /// multiple of the lanes are then said to be aligned.
  bool alignedBuffers = false;
  /// Whether lanes may read from anywhere; if not, no more than from neighbours
  /// or from one place.
  bool gathers = true;

private:
  using Key = std::vector<std::pair<void *, int64_t>>;

  FailureOr<Lanes> compute(Value tensor, ArrayRef<Lanes> index);
  FailureOr<Lanes> padded(tensor::PadOp pad, ArrayRef<Lanes> index);
  FailureOr<Lanes> load(Value buffer, ArrayRef<Lanes> index);
  FailureOr<Lanes> apply(AffineExpr expr, ArrayRef<Lanes> dims);
  FailureOr<Lanes> clone(Operation &op, IRMapping &uniform,
                         DenseMap<Value, Lanes> &values, bool contract);
  /// What `op` makes of indices that differ by a constant from lane to lane, if
  /// that is one such number, or one decision, again.
  std::optional<Lanes> ofIndices(Operation &op, DenseMap<Value, Lanes> &values);
  Lanes lookup(Value value, DenseMap<Value, Lanes> &values);
  /// Which lanes are on: the mask, or all of them.
  Value lanesOn();
  /// What a vector at this place of a buffer is aligned to, in bytes; none
  /// where that is not known.
  llvm::MaybeAlign alignment(MemRefType type, ArrayRef<Lanes> index) const;
  /// The offsets of lanes from the first element of a buffer.
  Value offsets(Value buffer, ArrayRef<Lanes> index);
  VectorType vectorType(Type element) {
    return VectorType::get({lanes}, element);
  }

  std::vector<std::map<Key, Lanes>> scopes;
  /// Buffers in the shape of a reshaped tensor.
  DenseMap<Value, Value> views;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_POINTEMITTER_H
