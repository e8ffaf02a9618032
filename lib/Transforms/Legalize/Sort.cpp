//===- Sort.cpp - kernels of sorting and searching ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each line along the sorted dimension is copied to a scratch tensor, sorted
// there (MergeSort.h), and copied to the results as far as they reach.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Sort.h"
#include "Transforms/Legalize/MergeSort.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

namespace {

/// Sorts lines sequentially.
class Sorter {
public:
  Sorter(KernelBuilder &kernel, const LineSort &lines)
      : kernel(kernel), lines(lines) {}

  Values run();

private:
  Values fill(Scalars &s, ValueRange position, ValueRange scratch);
  Sorted sortLine(Scalars &s, ValueRange scratch);

  KernelBuilder &kernel;
  const LineSort &lines;
  Value zero, one, count;
};

} // namespace

/// Copies a line to the first halves of the scratch tensors.
Values Sorter::fill(Scalars &s, ValueRange position, ValueRange scratch) {
  return forLoop(
      s, zero, count, one, scratch,
      [&](Scalars &s, Value index, ValueRange state) {
        Values source(position);
        source.insert(source.begin() + lines.axis, index);
        Values next = {writeElement(s, readElement(s, lines.data, source),
                                    state[0], {zero, index})};
        if (state.size() > 1) {
          Value number =
              arith::IndexCastOp::create(s, getElementType(state[1]), index);
          next.push_back(writeElement(s, number, state[1], {zero, index}));
        }
        return next;
      });
}

Sorted Sorter::sortLine(Scalars &s, ValueRange scratch) {
  return mergeSort(
      s, count, scratch,
      [&](Scalars &s, ValueRange scratch, ValueRange right, ValueRange left) {
        return lines.isBefore(s, scratch, right, left);
      });
}

Values Sorter::run() {
  Scalars &s = kernel.builder();
  int64_t axis = lines.axis;
  SymDims dims(kernel.dims(lines.data));
  count = kernel.size(dims[axis]);
  Values results = lines.results();
  Value kept = kernel.size(kernel.dims(results[0])[axis]);
  // Loops over the lines, by their positions in the other dimensions.
  Values sizes;
  for (auto [index, dim] : llvm::enumerate(dims))
    if (int64_t(index) != axis)
      sizes.push_back(kernel.size(dim));

  zero = s.index(0);
  one = s.index(1);
  SymDims scratchDims = {kernel.constant(2), dims[axis]};
  Values state(results);
  state.push_back(kernel.empty(scratchDims, getElementType(lines.data)));
  if (lines.indices)
    state.push_back(kernel.empty(scratchDims, getElementType(lines.indices)));

  Values zeros(sizes.size(), zero), ones(sizes.size(), one);
  auto nest = scf::buildLoopNest(
      s, s.getLoc(), zeros, sizes, ones, state,
      [&](OpBuilder &builder, Location loc, ValueRange position,
          ValueRange state) -> scf::ValueVector {
        Scalars s(loc, builder);
        size_t firstScratch = results.size();
        Sorted line =
            sortLine(s, fill(s, position, state.drop_front(firstScratch)));
        Values sorted =
            forLoop(s, zero, kept, one, state.take_front(firstScratch),
                    [&](Scalars &s, Value index, ValueRange state) {
                      Values target(position);
                      target.insert(target.begin() + axis, index);
                      Values next;
                      for (auto [number, result] : llvm::enumerate(state)) {
                        Value from = line.scratch[lines.values ? number : 1];
                        next.push_back(writeElement(
                            s, readElement(s, from, {line.half, index}), result,
                            target));
                      }
                      return next;
                    });
        llvm::append_range(sorted, line.scratch);
        return scf::ValueVector(sorted.begin(), sorted.end());
      });
  return Values(ArrayRef<Value>(nest.results).take_front(results.size()));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value LineSort::isBefore(Scalars &s, ValueRange scratch, ValueRange right,
                         ValueRange left) const {
  Value onRight = readElement(s, scratch[0], right);
  Value onLeft = readElement(s, scratch[0], left);
  return descending ? isLess(s, onLeft, onRight, element)
                    : isLess(s, onRight, onLeft, element);
}

Values LineSort::results() const {
  Values results;
  for (Value result : {values, indices})
    if (result)
      results.push_back(result);
  return results;
}

/// The destinations of a `relax.topk` for values and indices, or null; also
/// checks its parameters.
static std::pair<Value, Value> getTopkResults(TopkOp op,
                                              KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t axis = op.getAxis(), rank = kernel.dims(data).size();
  SymExprAttr dim = kernel.dims(data)[axis < 0 ? axis + rank : axis];
  kernel.require(CmpIPredicate::sle, op.getK(), dim,
                 "topk: k is more than the dimension of size " + dim.str());
  kernel.require(CmpIPredicate::sle, kernel.constant(0), op.getK(),
                 "topk: k must not be negative");
  Value values, indices;
  if (op.getRetType() != "indices")
    values = kernel.destination(0);
  if (op.getRetType() != "values")
    indices = kernel.destination(values ? 1 : 0);
  return {values, indices};
}

void relax::addSortKernels(KernelRegistry &registry,
                           Values (*sortLines)(KernelBuilder &,
                                               const LineSort &)) {
  auto sort = [=](KernelBuilder &kernel, Value graphData, int64_t axis,
                  bool descending, Value values, Value indices) {
    Value data = kernel.input(graphData);
    if (axis < 0)
      axis += kernel.dims(data).size();
    return kernel.yield(sortLines(kernel, {data, getElementType(graphData),
                                           axis, descending, values, indices}));
  };
  registry.add<SortOp>([=](SortOp op, KernelBuilder &kernel) {
    return sort(kernel, op.getX(), op.getAxis(), op.getDescending(),
                kernel.destination(), {});
  });
  registry.add<ArgsortOp>([=](ArgsortOp op, KernelBuilder &kernel) {
    return sort(kernel, op.getData(), op.getAxis(), op.getDescending(), {},
                kernel.destination());
  });
  registry.add<TopkOp>([=](TopkOp op, KernelBuilder &kernel) {
    auto [values, indices] = getTopkResults(op, kernel);
    return sort(kernel, op.getData(), op.getAxis(), op.getLargest(), values,
                indices);
  });
}

/// Bisects the boundaries for each element.
static LogicalResult bucketize(BucketizeOp op, KernelBuilder &kernel) {
  Value boundaries = kernel.input(op.getBoundaries());
  Value count = kernel.size(kernel.dims(boundaries)[0]);
  Type element = getElementType(op.getInputTensor());
  // As in sorting, NaN counts as larger than every number.
  auto isReached = [&](Scalars &s, Value boundary, Value x) {
    if (isa<FloatType>(x.getType())) {
      boundary = s.convertFloat(boundary, x.getType());
      Value isLast = s.compare(CmpFPredicate::UNO, boundary, boundary);
      if (!op.getRight())
        return s.either(isLast, s.compare(CmpFPredicate::OGE, boundary, x));
      Value isNumber = s.compare(CmpFPredicate::ORD, x, x);
      return s.either(s.both(isLast, isNumber),
                      s.compare(CmpFPredicate::OGT, boundary, x));
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
              isReached(s, readElement(s, boundaries, middle), elements[0]);
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
  addSortKernels(registry, [](KernelBuilder &kernel, const LineSort &lines) {
    return Sorter(kernel, lines).run();
  });
  registry.add<BucketizeOp>(bucketize);
}
