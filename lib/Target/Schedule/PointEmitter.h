//===- PointEmitter.h - code for elements of tensors ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits code that computes the element of a tensor at given indices, for one
// point or for a vector of points ("lanes"). Bodies of structured ops are
// written for one point; a value in them stays scalar while it is the same in
// all lanes. So an index that is the same in all lanes costs a scalar load and
// a broadcast, an index that grows by one per lane a vector load, and any other
// index a gather.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SCHEDULE_POINTEMITTER_H
#define RELAX_TARGET_SCHEDULE_POINTEMITTER_H

#include "Target/Schedule/KernelGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace mlir::relax {

/// The value of all lanes at a point.
struct Lanes {
  /// A scalar, the same in all lanes except for `stride`, or a vector.
  Value value;
  /// For index scalars, the increment from lane to lane.
  int64_t stride = 0;
  bool isVector = false;

  bool isUniform() const { return !isVector && stride == 0; }
};

/// Where the results of a stage are kept.
struct Storage {
  /// The buffer; null if results are SSA values, one per point.
  Value buffer;
  /// The dimensions of the tensor that the buffer has.
  SmallVector<unsigned> dims;
  /// Before `dims`, the buffer has a dimension for the points of a block.
  bool perPoint = false;
  /// Without a buffer: there is a value per column, too.
  bool perColumn = false;
};

class PointEmitter {
public:
  PointEmitter(OpBuilder &builder, Location loc, int64_t lanes)
      : builder(builder), loc(loc), lanes(lanes) {}

  /// The element of `tensor` at `index`.
  FailureOr<Lanes> element(Value tensor, ArrayRef<Lanes> index);

  /// Evaluates the body of `op` at the point `loops` and returns the yielded
  /// values. `operand` returns the values of the body's arguments. `contract`
  /// allows products and sums to be fused.
  FailureOr<SmallVector<Lanes>>
  body(linalg::GenericOp op, ArrayRef<Lanes> loops,
       function_ref<FailureOr<Lanes>(unsigned)> operand, bool contract);

  /// The operand `number` of `op` at the point `loops`.
  FailureOr<Lanes> operand(linalg::GenericOp op, unsigned number,
                           ArrayRef<Lanes> loops);

  LogicalResult store(Lanes value, Value buffer, ArrayRef<Lanes> index);

  /// Applies an indexing map at a point.
  FailureOr<SmallVector<Lanes>> apply(AffineMap map, ArrayRef<Lanes> dims);

  /// Converts a value to a vector.
  Value vector(Lanes value);

  Value constant(int64_t value);
  Value add(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  /// Whether `value` is a multiple of `factor` regardless of the values of its
  /// unknown terms.
  static bool isMultiple(Value value, int64_t factor);
  /// The size of a dimension of a tensor or buffer.
  Value size(Value shaped, unsigned dim);
  /// The sizes of the axes of a nest; static if any operand has a static size.
  FailureOr<DenseMap<Axis, Value>> sizes(const Nest &nest);

  /// Emits a loop; `body` returns the next loop-carried values. The body has
  /// its own scope.
  SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange inits,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);

  /// Where stages keep their results, and the results that are SSA values.
  DenseMap<Value, Storage> storage;
  std::map<std::pair<void *, unsigned>, Lanes> kept;
  /// The current point, and the mask of active lanes if some are inactive.
  unsigned point = 0, column = 0;
  Value mask;

  /// Distinguishes the values of a stage at different points.
  unsigned number(const Storage &place) const {
    return place.perColumn ? point | column << 16 : point;
  }

  /// Values are computed once per scope and reused in nested scopes.
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
  /// There are 16 vector registers rather than 32.
  bool fewRegisters = false;
  /// Whether buffers are aligned to vectors: accesses at a multiple of the
  /// lanes are then marked as aligned.
  bool alignedBuffers = false;
  /// Whether lanes can read from arbitrary positions; if not, only consecutive
  /// elements or a single element can be read.
  bool gathers = true;

private:
  using Key = std::vector<std::pair<void *, int64_t>>;

  FailureOr<Lanes> compute(Value tensor, ArrayRef<Lanes> index);
  /// The element of a tensor that a stage keeps.
  FailureOr<Lanes> stored(Value tensor, const Storage &place,
                          ArrayRef<Lanes> index);
  /// The elements of tensors that an op defines.
  FailureOr<Lanes> computed(linalg::GenericOp generic, unsigned number,
                            ArrayRef<Lanes> index);
  FailureOr<Lanes> sliced(tensor::ExtractSliceOp slice, ArrayRef<Lanes> index);
  FailureOr<Lanes> collapsed(tensor::CollapseShapeOp collapse,
                             ArrayRef<Lanes> index);
  /// Splits the index `rest` of a collapsed dimension into those of its group
  /// of dimensions of `source`. The innermost dimension that varies gets the
  /// rest of the division by the sizes outside.
  void distribute(Lanes rest, Value source, ArrayRef<int64_t> group,
                  MutableArrayRef<Lanes> at);
  FailureOr<Lanes> expanded(tensor::ExpandShapeOp expand,
                            ArrayRef<Lanes> index);
  FailureOr<Lanes> padded(tensor::PadOp pad, ArrayRef<Lanes> index);
  FailureOr<Lanes> inserted(tensor::InsertSliceOp insertion,
                            ArrayRef<Lanes> index);
  /// The element of the inputs from `first` on, which are joined.
  FailureOr<Lanes> joined(tensor::ConcatOp concat, unsigned first,
                          ArrayRef<Lanes> index);
  /// The element of a larger tensor that has `source` at `offsets`; elsewhere,
  /// the value of `outside`. `isWhole`: the dimensions along which the source
  /// has the size of the larger tensor.
  FailureOr<Lanes> within(Value source, ArrayRef<OpFoldResult> offsets,
                          const llvm::SmallBitVector &isWhole,
                          ArrayRef<Lanes> index,
                          function_ref<FailureOr<Lanes>()> outside);
  FailureOr<Lanes> load(Value buffer, ArrayRef<Lanes> index);
  FailureOr<Lanes> apply(AffineExpr expr, ArrayRef<Lanes> dims);
  FailureOr<Lanes> clone(Operation &op, IRMapping &uniform,
                         DenseMap<Value, Lanes> &values, bool contract);
  /// Evaluates `op` on indices that differ by a constant from lane to lane, if
  /// the result is also such an index, or a condition that is the same in all
  /// lanes.
  std::optional<Lanes> ofIndices(Operation &op, DenseMap<Value, Lanes> &values);
  Lanes lookup(Value value, DenseMap<Value, Lanes> &values);
  /// The mask of active lanes.
  Value lanesOn();
  /// The alignment in bytes of a vector at this index of a buffer; none if
  /// unknown.
  llvm::MaybeAlign alignment(MemRefType type, ArrayRef<Lanes> index) const;
  /// The offsets of the lanes from the first element of a buffer.
  Value offsets(Value buffer, ArrayRef<Lanes> index);
  /// Loads every second element along the last dimension, from index `first`.
  Value loadEverySecond(Value buffer, ArrayRef<Value> first,
                        VectorType vectors);
  VectorType vectorType(Type element) {
    return VectorType::get({lanes}, element);
  }

  std::vector<std::map<Key, Lanes>> scopes;
  /// Buffers reshaped to the shape of a tensor.
  DenseMap<Value, Value> views;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SCHEDULE_POINTEMITTER_H
