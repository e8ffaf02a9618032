//===- Sort.cpp - kernels that sort and search ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line of elements, along the sorted dimension, is sorted by merging runs
// that double their length, from one half of a scratch tensor to the other:
//
//   scratch[0]  3 | 1 | 2 | 0      width 1
//   scratch[1]  1   3 | 0   2      width 2
//   scratch[0]  0   1   2   3
//
// Where indices are asked for, a second scratch tensor moves with the first.
// Merging takes the left one of equal elements, so that it is stable.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Sort.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

static Type elementOf(Value tensor) {
  return cast<TensorType>(tensor.getType()).getElementType();
}

static Value read(Scalars &s, Value tensor, ValueRange position) {
  return tensor::ExtractOp::create(s, tensor, position);
}
static Value write(Scalars &s, Value element, Value tensor,
                   ValueRange position) {
  return tensor::InsertOp::create(s, element, tensor, position);
}

/// `for (i = from; i < to; i += step)`, with `state` from one to the next.
static Values loop(Scalars &s, Value from, Value to, Value step,
                   ValueRange state,
                   function_ref<Values(Scalars &, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      s, from, to, step, state,
      [&](OpBuilder &builder, Location loc, Value index, ValueRange now) {
        Scalars inner(loc, builder);
        scf::YieldOp::create(inner, body(inner, index, now));
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether `lhs` is less than `rhs`; NaN is larger than every number.
static Value isLess(Scalars &s, Value lhs, Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  if (!isa<FloatType>(type))
    return s.compare(isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt, lhs,
                     rhs);
  lhs = s.convertFloat(lhs, getComputeType(type));
  rhs = s.convertFloat(rhs, getComputeType(type));
  Value onlyRightIsNaN = s.both(s.compare(CmpFPredicate::ORD, lhs, lhs),
                                s.compare(CmpFPredicate::UNO, rhs, rhs));
  return s.either(s.compare(CmpFPredicate::OLT, lhs, rhs), onlyRightIsNaN);
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {

/// Sorts the lines of a tensor along a dimension.
class Sorter {
public:
  Sorter(KernelBuilder &kernel, Value data, Type graphElement, int64_t axis,
         bool descending)
      : kernel(kernel), data(data), isUnsigned(isUnsignedElement(graphElement)),
        descending(descending) {
    int64_t rank = kernel.dims(data).size();
    this->axis = axis < 0 ? axis + rank : axis;
  }

  /// The first elements of each sorted line in `values`, and where they came
  /// from in `indices`; either may be null.
  Values run(Value values, Value indices);

private:
  Values fill(Scalars &s, ValueRange position, ValueRange scratch);
  Values merge(Scalars &s, Value from, Value to, Value low, Value width,
               ValueRange scratch);

  KernelBuilder &kernel;
  Value data;
  int64_t axis;
  bool isUnsigned, descending;
  Value zero, one, count;
};

} // namespace

/// Copies a line to the first half of the scratch tensors.
Values Sorter::fill(Scalars &s, ValueRange position, ValueRange scratch) {
  return loop(s, zero, count, one, scratch,
              [&](Scalars &s, Value index, ValueRange state) {
                Values source(position);
                source.insert(source.begin() + axis, index);
                Values next = {
                    write(s, read(s, data, source), state[0], {zero, index})};
                if (state.size() > 1) {
                  Value number =
                      arith::IndexCastOp::create(s, elementOf(state[1]), index);
                  next.push_back(write(s, number, state[1], {zero, index}));
                }
                return next;
              });
}

/// Merges the runs from `low` and from `low + width` on.
Values Sorter::merge(Scalars &s, Value from, Value to, Value low, Value width,
                     ValueRange scratch) {
  Value middle = s.min(s.add(low, width), count);
  Value high = s.min(s.add(middle, width), count);
  Value lastLeft = s.sub(middle, one), lastRight = s.sub(high, one);
  Values state = {low, middle};
  llvm::append_range(state, scratch);
  Values merged = loop(
      s, low, high, one, state,
      [&](Scalars &s, Value index, ValueRange state) -> Values {
        Value left = state[0], right = state[1];
        // A run that is used up shows its last element, which does not count.
        Value atLeft = s.min(left, lastLeft), atRight = s.min(right, lastRight);
        Value onLeft = read(s, state[2], {from, atLeft});
        Value onRight = read(s, state[2], {from, atRight});
        Value isBefore = descending ? isLess(s, onLeft, onRight, isUnsigned)
                                    : isLess(s, onRight, onLeft, isUnsigned);
        Value noLeft = s.compare(CmpIPredicate::sge, left, middle);
        Value hasRight = s.compare(CmpIPredicate::slt, right, high);
        Value takeRight = s.both(hasRight, s.either(noLeft, isBefore));
        Values next = {s.select(takeRight, left, s.add(left, one)),
                       s.select(takeRight, s.add(right, one), right),
                       write(s, s.select(takeRight, onRight, onLeft), state[2],
                             {to, index})};
        if (state.size() > 3) {
          Value origin =
              read(s, state[3], {from, s.select(takeRight, atRight, atLeft)});
          next.push_back(write(s, origin, state[3], {to, index}));
        }
        return next;
      });
  return Values(ArrayRef(merged).drop_front(2));
}

Values Sorter::run(Value values, Value indices) {
  Scalars &s = kernel.builder();
  SymDims dims(kernel.dims(data));
  count = kernel.size(dims[axis]);
  Values results;
  if (values)
    results.push_back(values);
  if (indices)
    results.push_back(indices);
  Value kept = kernel.size(kernel.dims(results[0])[axis]);
  // The lines, by their positions in the other dimensions.
  Values sizes;
  for (auto [index, dim] : llvm::enumerate(dims))
    if (int64_t(index) != axis)
      sizes.push_back(kernel.size(dim));

  zero = s.index(0);
  one = s.index(1);
  // Runs of length one become one run in as many passes as there are bits in
  // `count - 1`.
  Type i64 = s.getI64Type();
  Value last = s.sub(s.max(count, one), one);
  Value leadingZeros = math::CountLeadingZerosOp::create(
      s, arith::IndexCastOp::create(s, i64, last));
  Value passes = s.toIndex(s.sub(s.number(i64, 64), leadingZeros));
  Value lastHalf = arith::AndIOp::create(s, passes, one);

  SymDims scratchDims = {kernel.constant(2), dims[axis]};
  Values state(results);
  state.push_back(kernel.empty(scratchDims, elementOf(data)));
  if (indices)
    state.push_back(kernel.empty(scratchDims, elementOf(indices)));

  Values zeros(sizes.size(), zero), ones(sizes.size(), one);
  auto nest = scf::buildLoopNest(
      s, s.getLoc(), zeros, sizes, ones, state,
      [&](OpBuilder &builder, Location loc, ValueRange position,
          ValueRange state) -> scf::ValueVector {
        Scalars s(loc, builder);
        size_t firstScratch = results.size();
        Values scratch = fill(s, position, state.drop_front(firstScratch));
        scratch =
            loop(s, zero, passes, one, scratch,
                 [&](Scalars &s, Value pass, ValueRange scratch) {
                   Value from = arith::AndIOp::create(s, pass, one);
                   Value to = s.sub(one, from);
                   Value width = arith::ShLIOp::create(s, one, pass);
                   return loop(s, zero, count, s.add(width, width), scratch,
                               [&](Scalars &s, Value low, ValueRange scratch) {
                                 return merge(s, from, to, low, width, scratch);
                               });
                 });
        Values sorted =
            loop(s, zero, kept, one, state.take_front(firstScratch),
                 [&](Scalars &s, Value index, ValueRange state) {
                   Values target(position);
                   target.insert(target.begin() + axis, index);
                   Values next;
                   for (auto [number, result] : llvm::enumerate(state)) {
                     Value from = values ? scratch[number] : scratch[1];
                     next.push_back(write(s, read(s, from, {lastHalf, index}),
                                          result, target));
                   }
                   return next;
                 });
        llvm::append_range(sorted, scratch);
        return scf::ValueVector(sorted.begin(), sorted.end());
      });
  // Of a vector nothing is looped over.
  return Values(ArrayRef(nest.results).take_front(results.size()));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult sort(SortOp op, KernelBuilder &kernel) {
  Sorter sorter(kernel, kernel.input(op.getX()), elementOf(op.getX()),
                op.getAxis(), op.getDescending());
  return kernel.yield(sorter.run(kernel.destination(), {}));
}

static LogicalResult argsort(ArgsortOp op, KernelBuilder &kernel) {
  Sorter sorter(kernel, kernel.input(op.getData()), elementOf(op.getData()),
                op.getAxis(), op.getDescending());
  return kernel.yield(sorter.run({}, kernel.destination()));
}

static LogicalResult topk(TopkOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t axis = op.getAxis(), rank = kernel.dims(data).size();
  SymExprAttr dim = kernel.dims(data)[axis < 0 ? axis + rank : axis];
  kernel.require(CmpIPredicate::sle, op.getK(), dim,
                 "topk: k is more than the dimension of size " + dim.str());
  kernel.require(CmpIPredicate::sle, kernel.constant(0), op.getK(),
                 "topk: k must not be negative");
  Sorter sorter(kernel, data, elementOf(op.getData()), axis, op.getLargest());
  Value values, indices;
  if (op.getRetType() != "indices")
    values = kernel.destination(0);
  if (op.getRetType() != "values")
    indices = kernel.destination(values ? 1 : 0);
  return kernel.yield(sorter.run(values, indices));
}

/// By bisection of the boundaries, for each element.
static LogicalResult bucketize(BucketizeOp op, KernelBuilder &kernel) {
  Value boundaries = kernel.input(op.getBoundaries());
  Value count = kernel.size(kernel.dims(boundaries)[0]);
  Type element = elementOf(op.getInputTensor());
  auto isReached = [&](Scalars &s, Value boundary, Value x) {
    if (isa<FloatType>(x.getType())) {
      boundary = s.convertFloat(boundary, x.getType());
      return s.compare(op.getRight() ? CmpFPredicate::OGT : CmpFPredicate::OGE,
                       boundary, x);
    }
    if (isUnsignedElement(element))
      return s.compare(op.getRight() ? CmpIPredicate::ugt : CmpIPredicate::uge,
                       boundary, x);
    return s.compare(op.getRight() ? CmpIPredicate::sgt : CmpIPredicate::sge,
                     boundary, x);
  };
  auto find = [&](Scalars &s, ValueRange elements) -> Value {
    Type index = s.getIndexType();
    auto bisection = scf::WhileOp::create(
        s, TypeRange{index, index}, ValueRange{s.index(0), count},
        [&](OpBuilder &builder, Location loc, ValueRange range) {
          Scalars s(loc, builder);
          Value isOpen = s.compare(CmpIPredicate::slt, range[0], range[1]);
          scf::ConditionOp::create(s, isOpen, range);
        },
        [&](OpBuilder &builder, Location loc, ValueRange range) {
          Scalars s(loc, builder);
          Value middle =
              arith::ShRUIOp::create(s, s.add(range[0], range[1]), s.index(1));
          Value reached =
              isReached(s, read(s, boundaries, middle), elements[0]);
          Value low = s.select(reached, range[0], s.add(middle, s.index(1)));
          Value high = s.select(reached, middle, range[1]);
          scf::YieldOp::create(s, ValueRange{low, high});
        });
    return arith::IndexCastOp::create(s, elements[1].getType(),
                                      bisection.getResult(0));
  };
  return kernel.yield(
      kernel.map(Access(kernel.inputOrNumber(op.getInputTensor())),
                 kernel.destination(), find));
}

void relax::populateSortKernels(KernelRegistry &registry) {
  registry.add<SortOp>(sort);
  registry.add<ArgsortOp>(argsort);
  registry.add<TopkOp>(topk);
  registry.add<BucketizeOp>(bucketize);
}
