//===- Manipulate.cpp - kernels that rearrange elements -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contiguous parts are copied as slices; other orders are loops over the result
// that compute the source position of each element.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Manipulate.h"
#include "Relax/SymDirectives.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

/// Reads each element of the result from the position of `source` that `body`
/// computes from the result position.
static LogicalResult
yieldFrom(KernelBuilder &kernel, Value source,
          function_ref<void(Scalars &, SmallVector<Value> &)> body) {
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) -> Value {
        SmallVector<Value> from(position);
        body(s, from);
        return tensor::ExtractOp::create(s, source, from);
      }));
}

//===----------------------------------------------------------------------===//
// Broadcasting and its adjoint
//===----------------------------------------------------------------------===//

static LogicalResult broadcastTo(BroadcastToOp op, KernelBuilder &kernel) {
  return kernel.yield(
      kernel.move(kernel.inputOrNumber(op.getX()), kernel.destination()));
}

/// `collapse_sum_to`, `collapse_sum_like`
template <typename OpT>
static LogicalResult collapseSum(OpT op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()), destination = kernel.destination();
  SymDims dims(kernel.dims(data)), target(kernel.dims(destination));
  int64_t leading = dims.size() - target.size();
  SmallVector<int64_t> kept, inResult;
  for (auto [index, dim] : llvm::enumerate(target)) {
    SymExprAttr own = dims[leading + index];
    if (kernel.provedEqual(dim, own)) {
      kept.push_back(leading + index);
      inResult.push_back(index);
    } else if (!kernel.provedEqual(dim, kernel.constant(1))) {
      return kernel.reject(
          "whether dimension " + Twine(index) + " of the target, " + dim.str() +
          ", is 1 or the dimension of data, " + own.str() + ", must be known");
    }
  }
  Type type = getComputeType(getElementType(data));
  Value sums =
      kernel.reduce(dims, {data}, kept, kernel.builder().number(type, 0),
                    [](Scalars &s, ValueRange x) { return s.add(x[1], x[0]); });
  return kernel.yield(kernel.map({{sums, inResult}}, destination,
                                 [](Scalars &, ValueRange x) { return x[0]; }));
}

//===----------------------------------------------------------------------===//
// Order of dimensions and elements
//===----------------------------------------------------------------------===//

static LogicalResult permuteDims(PermuteDimsOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX());
  int64_t rank = kernel.dims(x).size();
  SmallVector<int64_t> loops(rank);
  for (int64_t index = 0; index < rank; ++index) {
    int64_t axis =
        op.getAxes() ? getAxis((*op.getAxes())[index], rank) : rank - 1 - index;
    loops[axis] = index;
  }
  return kernel.yield(kernel.move({x, loops}, kernel.destination()));
}

static LogicalResult flip(FlipOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t axis = getAxis(op.getAxis(), kernel.dims(data).size());
  Value size = kernel.size(kernel.dims(data)[axis]);
  return yieldFrom(kernel, data, [&](Scalars &s, SmallVector<Value> &from) {
    from[axis] = s.sub(s.sub(size, s.index(1)), from[axis]);
  });
}

static LogicalResult reverseSequence(ReverseSequenceOp op,
                                     KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()),
        lengths = kernel.input(op.getSeqLengths());
  SymDims dims(kernel.dims(data));
  int64_t axis = getAxis(op.getSeqAxis(), dims.size()),
          batch = getAxis(op.getBatchAxis(), dims.size());
  kernel.requireEqual(kernel.dims(lengths)[0], dims[batch],
                      "seq_lengths must have an element for each of the batch");
  Value size = kernel.size(dims[axis]);
  return yieldFrom(kernel, data, [&](Scalars &s, SmallVector<Value> &from) {
    Value length =
        s.toIndex(tensor::ExtractOp::create(s, lengths, from[batch]));
    length = s.min(length, size); // stay in bounds for any length
    Value reversed = s.sub(s.sub(length, s.index(1)), from[axis]);
    Value isReversed = s.compare(CmpIPredicate::slt, from[axis], length);
    from[axis] = s.select(isReversed, reversed, from[axis]);
  });
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

static LogicalResult repeat(RepeatOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t axis = 0;
  if (op.getAxis())
    axis = getAxis(*op.getAxis(), kernel.dims(data).size());
  else
    data = flatten(kernel, data);
  int64_t repeats = op.getRepeats();
  return yieldFrom(kernel, data, [&](Scalars &s, SmallVector<Value> &from) {
    // With zero repeats there are no elements to compute.
    from[axis] = arith::DivUIOp::create(s, from[axis],
                                        s.index(std::max<int64_t>(repeats, 1)));
  });
}

static LogicalResult tile(TileOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data)), result(kernel.dims(kernel.destination()));
  SmallVector<Value> sizes;
  for (SymExprAttr dim : dims)
    sizes.push_back(kernel.size(dim));
  return yieldFrom(kernel, data, [&](Scalars &s, SmallVector<Value> &from) {
    int64_t added = result.size() - dims.size();
    from.erase(from.begin(), from.begin() + added);
    for (auto [index, size] : llvm::enumerate(sizes))
      if (!kernel.provedEqual(dims[index], result[added + index]))
        from[index] = arith::RemUIOp::create(s, from[index], size);
  });
}

//===----------------------------------------------------------------------===//
// Joining and splitting
//===----------------------------------------------------------------------===//

static LogicalResult concat(ConcatOp op, KernelBuilder &kernel) {
  Value result = kernel.destination();
  SymDims dims(kernel.dims(result));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  SymExprAttr offset = kernel.constant(0);
  for (Value tensor : op.getTensors()) {
    Value part = kernel.input(tensor);
    SymDims own(kernel.dims(part));
    for (auto [index, size, whole] : llvm::enumerate(own, dims))
      if (static_cast<int64_t>(index) != axis)
        kernel.requireEqual(size, whole,
                            "joined tensors must agree in dimension " +
                                Twine(index));
    result = insertAt(kernel, part, result, axis, getSize(kernel, offset));
    offset = kernel.math().add(offset, own[axis]);
  }
  return kernel.yield(result);
}

static LogicalResult stack(StackOp op, KernelBuilder &kernel) {
  Value result = kernel.destination();
  SymDims dims(kernel.dims(result));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  dims.erase(dims.begin() + axis);
  for (auto [position, tensor] : llvm::enumerate(op.getTensors())) {
    Value part = kernel.input(tensor);
    for (auto [size, whole] : llvm::zip(kernel.dims(part), dims))
      kernel.requireEqual(size, whole, "joined tensors must have equal shapes");
    result = insertAt(kernel, part, result, axis,
                      kernel.builder().getIndexAttr(position));
  }
  return kernel.yield(result);
}

static LogicalResult split(SplitOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX());
  SymDims dims(kernel.dims(x));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  Scalars &s = kernel.builder();
  Value size = kernel.size(dims[axis]);
  SmallVector<OpFoldResult> offsets{s.getIndexAttr(0)};
  SymBuilder &math = kernel.math();
  auto add = [&](SymExprAttr position) {
    if (kernel.prover().lessEqual(kernel.constant(0), position) == Truth::Yes &&
        kernel.prover().lessEqual(position, dims[axis]) == Truth::Yes)
      offsets.push_back(getSize(kernel, position));
    else
      offsets.push_back(clampPosition(s, kernel.size(position), size));
  };
  if (op.getSections()) {
    SymExprAttr part =
        math.ceildiv(dims[axis], kernel.constant(*op.getSections()));
    for (int64_t index = 1; index < int64_t(*op.getSections()); ++index)
      add(math.mul(part, kernel.constant(index)));
  } else {
    for (SymExprAttr position : getSymExprs(*op.getIndices()))
      add(position);
  }
  SmallVector<Value> results;
  for (auto [index, offset] : llvm::enumerate(offsets)) {
    Value destination = kernel.destination(index);
    Value part =
        extractAt(kernel, x, axis, offset, SymDims(kernel.dims(destination)));
    results.push_back(kernel.move(part, destination));
  }
  return kernel.yield(results);
}

void relax::populateManipulateKernels(KernelRegistry &registry) {
  registry.add<BroadcastToOp>(broadcastTo);
  registry.add<CollapseSumToOp>(collapseSum<CollapseSumToOp>);
  registry.add<CollapseSumLikeOp>(collapseSum<CollapseSumLikeOp>);
  registry.add<PermuteDimsOp>(permuteDims);
  registry.add<FlipOp>(flip);
  registry.add<ReverseSequenceOp>(reverseSequence);
  registry.add<RepeatOp>(repeat);
  registry.add<TileOp>(tile);
  registry.add<ConcatOp>(concat);
  registry.add<StackOp>(stack);
  registry.add<SplitOp>(split);
}
