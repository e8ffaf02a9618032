//===- Slice.cpp - kernels of slices --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Slice.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"
#include "Transforms/Legalize/Counting.h"
#include "Transforms/Legalize/EmptyTensors.h"
#include "Transforms/Legalize/MergeSort.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

/// The start of a slice as an index. Not clamped if it is proved to be in
/// range.
static OpFoldResult getBegin(KernelBuilder &kernel, SymExprAttr begin,
                             SymExprAttr dim, SymExprAttr stride) {
  const Prover &prover = kernel.prover();
  SymExprAttr zero = kernel.constant(0);
  Scalars &s = kernel.builder();
  if (std::optional<int64_t> step = stride.getConstantValue()) {
    if (*step > 0 && prover.lessEqual(zero, begin) == Truth::Yes &&
        prover.lessEqual(begin, dim) == Truth::Yes)
      return getSize(kernel, begin);
    return clampPosition(s, kernel.size(begin), kernel.size(dim), *step < 0);
  }
  Value position = kernel.size(begin), size = kernel.size(dim);
  Value isBackwards =
      s.compare(CmpIPredicate::slt, kernel.size(stride), s.index(0));
  return s.select(isBackwards, clampPosition(s, position, size, true),
                  clampPosition(s, position, size, false));
}

static Value toValue(Scalars &s, OpFoldResult position) {
  return getValueOrCreateConstantIndexOp(s, s.getLoc(), position);
}

/// Checks a stride that is known only at run time.
static void requireStride(KernelBuilder &kernel, SymExprAttr stride) {
  SymExprAttr zero = kernel.constant(0);
  if (!stride.isConstant())
    kernel.requireAny({{CmpIPredicate::slt, stride, zero},
                       {CmpIPredicate::slt, zero, stride}},
                      "a stride must not be 0");
}

/// The size of `dim[begin:end:stride]` for positions and strides of any sign,
/// as an expression that tests the signs itself; useless for proofs. A stride
/// of zero counts as 1.
static SymExprAttr getExactSliceSize(SymBuilder &math, SymExprAttr dim,
                                     SymExprAttr begin, SymExprAttr end,
                                     SymExprAttr stride) {
  SymExprAttr zero = math.constant(0), one = math.constant(1),
              minusOne = math.constant(-1);
  // 1 for a negative value, 0 for others.
  auto sign = [&](SymExprAttr value) {
    return math.min({one, math.max({zero, math.neg(value)})});
  };
  auto moveInto = [&](SymExprAttr position, SymExprAttr first,
                      SymExprAttr last) {
    SymExprAttr moved = math.add(position, math.mul(dim, sign(position)));
    return math.max({first, math.min({moved, last})});
  };
  auto count = [&](SymExprAttr from, SymExprAttr to, SymExprAttr step) {
    return math.ceildiv(math.max({zero, math.sub(to, from)}), step);
  };
  SymExprAttr top = math.sub(dim, one);
  auto forwards = [&](SymExprAttr step) {
    return count(moveInto(begin, zero, dim), moveInto(end, zero, dim), step);
  };
  auto backwards = [&](SymExprAttr step) {
    return count(moveInto(end, minusOne, top), moveInto(begin, minusOne, top),
                 step);
  };
  if (stride.isConstant())
    return stride.getValue() > 0 ? forwards(stride)
                                 : backwards(math.neg(stride));
  SymExprAttr step = math.max({one, stride, math.neg(stride)}),
              isBackwards = sign(stride);
  return math.add(math.mul(math.sub(one, isBackwards), forwards(step)),
                  math.mul(isBackwards, backwards(step)));
}

SmallVector<SymDims> relax::getSlicedDims(Operation *op, SymBuilder &math) {
  SymExprAttr zero = math.constant(0), one = math.constant(1);
  if (!isa<StridedSliceOp, SplitOp>(op))
    return {};
  SymDims dims =
      getSymDims(cast<RankedTensorType>(op->getOperand(0).getType()));
  int64_t rank = dims.size();
  if (auto slice = dyn_cast<StridedSliceOp>(op)) {
    SmallVector<SymExprAttr> begins = getSymExprs(slice.getBegin()),
                             ends = getSymExprs(slice.getEnd()), strides;
    if (slice.getStrides())
      strides = getSymExprs(*slice.getStrides());
    strides.resize(begins.size(), one);
    for (auto [axis, begin, end, stride] :
         llvm::zip(slice.getAxes(), begins, ends, strides)) {
      SymExprAttr &dim = dims[getAxis(axis, rank)];
      dim = getExactSliceSize(math, dim, begin, end, stride);
    }
    return {dims};
  }
  auto split = cast<SplitOp>(op);
  if (!split.getIndices())
    return {};
  int64_t axis = getAxis(split.getAxis(), rank);
  SmallVector<SymExprAttr> ends = getSymExprs(*split.getIndices());
  ends.push_back(dims[axis]);
  SmallVector<SymDims> parts;
  for (auto [index, end] : llvm::enumerate(ends)) {
    SymExprAttr begin = index ? ends[index - 1] : zero;
    parts.push_back(dims);
    parts.back()[axis] = getExactSliceSize(math, dims[axis], begin, end, one);
  }
  return parts;
}

static LogicalResult stridedSlice(StridedSliceOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX()), destination = kernel.destination();
  SymDims dims(kernel.dims(x)), sizes(kernel.dims(destination));
  int64_t rank = dims.size();
  Scalars &s = kernel.builder();
  SmallVector<SymExprAttr> begins = getSymExprs(op.getBegin()),
                           ends = getSymExprs(op.getEnd()), strides;
  if (op.getStrides())
    strides = getSymExprs(*op.getStrides());
  strides.resize(begins.size(), kernel.constant(1));

  SmallVector<OpFoldResult> offsets(rank, s.getIndexAttr(0)),
      steps(rank, s.getIndexAttr(1));
  bool isForwards = true;
  for (auto [axisAttr, begin, end, stride] :
       llvm::zip(op.getAxes(), begins, ends, strides)) {
    int64_t axis = getAxis(axisAttr, rank);
    if (op.getAssumeInbound()) {
      kernel.require(CmpIPredicate::sle, kernel.constant(0), begin,
                     "a slice must begin in its dimension");
      kernel.require(CmpIPredicate::sle, begin, end,
                     "a slice must not begin after its end");
      if (!isSliceEnd(end))
        kernel.require(CmpIPredicate::sle, end, dims[axis],
                       "a slice must end in its dimension");
    }
    requireStride(kernel, stride);
    offsets[axis] = getBegin(kernel, begin, dims[axis], stride);
    steps[axis] = getSize(kernel, stride);
    std::optional<int64_t> step = stride.getConstantValue();
    isForwards &= step && *step > 0;
  }
  // A slice of an empty tensor is empty, even if its type has an unknown size.
  if (hasNoElement(x.getType()))
    return kernel.yield(destination);
  if (isForwards) {
    Value slice = extractSlice(kernel, x, offsets, sizes, steps);
    return kernel.yield(kernel.move(slice, destination));
  }
  SmallVector<Value> from, by;
  for (int64_t axis = 0; axis < rank; ++axis) {
    from.push_back(toValue(s, offsets[axis]));
    by.push_back(toValue(s, steps[axis]));
  }
  return kernel.yield(kernel.generate(
      destination, [&](Scalars &s, ValueRange position) -> Value {
        SmallVector<Value> at;
        for (int64_t axis = 0; axis < rank; ++axis)
          at.push_back(s.add(from[axis], s.mul(position[axis], by[axis])));
        return tensor::ExtractOp::create(s, x, at);
      }));
}

namespace {
/// The run-time range of one dimension of a dynamic slice.
struct DynamicRange {
  Value begin, end, stride, isBackwards;
};
} // namespace

/// Reads the positions of a dimension and clamps them.
static DynamicRange getRange(DynamicStridedSliceOp op, KernelBuilder &kernel,
                             int64_t axis, SymExprAttr dim) {
  Scalars &s = kernel.builder();
  auto read = [&](Value positions) {
    return s.toIndex(readElement(s, kernel.input(positions), s.index(axis)));
  };
  Value size = kernel.size(dim), stride = read(op.getStrides());
  Value isBackwards = s.compare(CmpIPredicate::slt, stride, s.index(0));
  auto clamp = [&](Value position) {
    return s.select(isBackwards, clampPosition(s, position, size, true),
                    clampPosition(s, position, size, false));
  };
  return {clamp(read(op.getBegin())), clamp(read(op.getEnd())), stride,
          isBackwards};
}

/// Computes the sizes of the result and counts zero strides.
void relax::countDynamicSlice(Operation *operation, KernelBuilder &kernel) {
  auto op = cast<DynamicStridedSliceOp>(operation);
  SymDims dims(kernel.dims(kernel.input(op.getX())));
  int64_t rank = dims.size();
  for (auto [positions, name] :
       {std::pair(op.getBegin(), "begin"), std::pair(op.getEnd(), "end"),
        std::pair(op.getStrides(), "strides")})
    kernel.requireEqual(kernel.dims(kernel.input(positions))[0],
                        kernel.constant(rank),
                        Twine(name) + " must have an entry for each of the " +
                            Twine(rank) + " dimensions");
  Scalars &s = kernel.builder();
  Value zero = s.index(0), one = s.index(1);
  Value counts = kernel.destination(), zeros = zero;
  auto write = [&](Value number, int64_t position) {
    Value element = arith::IndexCastOp::create(s, s.getI64Type(), number);
    counts = writeElement(s, element, counts, s.index(position));
  };
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    DynamicRange range = getRange(op, kernel, axis, dim);
    Value isZero = s.compare(CmpIPredicate::eq, range.stride, zero);
    zeros = s.add(zeros, s.select(isZero, one, zero));
    Value forwards = s.sub(range.end, range.begin);
    Value distance =
        s.select(range.isBackwards, s.sub(zero, forwards), forwards);
    // Unsigned, so that the smallest integer has a negation.
    Value step = s.select(range.isBackwards, s.sub(zero, range.stride),
                          s.select(isZero, one, range.stride));
    Value more = arith::DivUIOp::create(s, s.sub(distance, one), step);
    Value isEmpty = s.compare(CmpIPredicate::sle, distance, zero);
    write(s.select(isEmpty, zero, s.add(more, one)), axis);
  }
  write(zeros, rank);
  (void)kernel.yield(counts);
}

static LogicalResult dynamicStridedSlice(DynamicStridedSliceOp op,
                                         KernelBuilder &kernel) {
  Value x = kernel.input(op.getX());
  SymDims dims(kernel.dims(x));
  SmallVector<DynamicRange> ranges;
  for (auto [axis, dim] : llvm::enumerate(dims))
    ranges.push_back(getRange(op, kernel, axis, dim));
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) -> Value {
        SmallVector<Value> at;
        for (auto [index, range] : llvm::zip(position, ranges))
          at.push_back(s.add(range.begin, s.mul(index, range.stride)));
        return readElement(s, x, at);
      }));
}

static LogicalResult sliceScatter(SliceScatterOp op, KernelBuilder &kernel) {
  Value input = kernel.input(op.getInput()), src = kernel.input(op.getSrc());
  SymDims dims(kernel.dims(input)), srcDims(kernel.dims(src));
  int64_t rank = dims.size(), axis = getAxis(op.getAxis(), rank);
  SymExprAttr stride = op.getStep().value_or(kernel.constant(1));
  Scalars &s = kernel.builder();

  Deduction deduction(op.getContext(), op.getLoc(),
                      op->getName().getStringRef(), op->getOperands());
  FailureOr<SymExprAttr> size = deduceSliceSize(
      deduction, dims[axis], op.getStart(), op.getEnd(), stride);
  if (failed(size))
    return kernel.reject("the slice is not valid");
  if (!*size)
    size = getExactSliceSize(kernel.math(), dims[axis], op.getStart(),
                             op.getEnd(), stride);
  if (!*size)
    return kernel.reject("the size of the slice does not fit 64 bits");
  requireStride(kernel, stride);
  for (int64_t index = 0; index < rank; ++index)
    kernel.requireEqual(srcDims[index], index == axis ? *size : dims[index],
                        "src must have the shape of the slice, in dimension " +
                            Twine(index));

  OpFoldResult begin = getBegin(kernel, op.getStart(), dims[axis], stride);
  Value copy = kernel.move(input, kernel.destination());
  std::optional<int64_t> step = stride.getConstantValue();
  if (step && *step > 0) {
    SmallVector<OpFoldResult> offsets(rank, s.getIndexAttr(0)),
        steps(rank, s.getIndexAttr(1));
    offsets[axis] = begin;
    steps[axis] = s.getIndexAttr(*step);
    return kernel.yield(insertSlice(kernel, src, copy, offsets,
                                    getSizes(kernel, srcDims), steps));
  }
  SmallVector<Value> sizes;
  for (SymExprAttr dim : srcDims)
    sizes.push_back(kernel.size(dim));
  Value from = toValue(s, begin), by = kernel.size(stride);
  return kernel.yield(kernel.iterate(
      s, sizes, copy, [&](Scalars &s, ValueRange position, ValueRange state) {
        SmallVector<Value> at(position);
        at[axis] = s.add(from, s.mul(position[axis], by));
        Value element = tensor::ExtractOp::create(s, src, position);
        return SmallVector<Value>{
            tensor::InsertOp::create(s, element, state[0], at)};
      }));
}

void relax::populateSliceKernels(KernelRegistry &registry) {
  registry.add<StridedSliceOp>(stridedSlice);
  registry.add<DynamicStridedSliceOp>(dynamicStridedSlice);
  registry.add<SliceScatterOp>(sliceScatter);
}
