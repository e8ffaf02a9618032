//===- Index.cpp - kernels that gather ------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An invalid index never reads outside of a tensor: the element at the nearest
// end is read instead. If it is an error, a check has been inserted before
// (CheckIndices.cpp). Gathering is a loop over the result.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/Indices.h"

#include "Relax/Ops/Index.h"
#include "Transforms/Legalize/Movement.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value relax::fromEnd(Scalars &s, Value index, Value size) {
  Value position = s.toIndex(index);
  Value isNegative = s.compare(CmpIPredicate::slt, position, s.index(0));
  return s.select(isNegative, s.add(position, size), position);
}

Value relax::isInside(Scalars &s, Value position, Value size) {
  // Compared as unsigned, a negative position is too large.
  return s.compare(CmpIPredicate::ult, position, size);
}

Value relax::clamp(Scalars &s, Value position, Value size) {
  return s.max(s.min(position, s.sub(size, s.index(1))), s.index(0));
}

void relax::requireElements(KernelBuilder &kernel, SymExprAttr dim,
                            Value indices) {
  SmallVector<Guard::Comparison> anyOf{
      {CmpIPredicate::sle, kernel.constant(1), dim}};
  for (SymExprAttr size : kernel.dims(indices))
    anyOf.push_back({CmpIPredicate::eq, size, kernel.constant(0)});
  kernel.requireAny(anyOf, "cannot index a dimension without elements");
}

void relax::requireInside(KernelBuilder &kernel, ArrayRef<SymExprAttr> indices,
                          ArrayRef<SymExprAttr> data, int64_t axis) {
  for (auto [index, size, whole] : llvm::enumerate(indices, data))
    if (static_cast<int64_t>(index) != axis)
      kernel.require(CmpIPredicate::sle, size, whole,
                     "indices must be at most as large as data in dimension " +
                         Twine(index));
}

std::optional<int64_t> relax::getTupleSize(KernelBuilder &kernel,
                                           Value indices) {
  return kernel.dims(indices).back().getConstantValue();
}

SymDims relax::broadcastIndices(KernelBuilder &kernel, OperandRange operands,
                                SmallVectorImpl<Value> &indices) {
  SymDims dims;
  for (Value operand : operands) {
    ArrayRef<SymExprAttr> own = kernel.dims(kernel.input(operand));
    while (dims.size() < own.size())
      dims.insert(dims.begin(), kernel.constant(1));
    for (auto [dim, size] : llvm::zip(llvm::reverse(dims), llvm::reverse(own)))
      dim = kernel.math().broadcast({dim, size});
  }
  for (Value operand : operands)
    indices.push_back(kernel.input(operand));
  return dims;
}

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

static LogicalResult take(TakeOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX()), indices = kernel.input(op.getIndices());
  int64_t axis = 0;
  if (op.getAxis())
    axis = getAxis(*op.getAxis(), kernel.dims(x).size());
  else
    x = flatten(kernel, x);
  SymDims dims(kernel.dims(x));
  int64_t indexRank = kernel.dims(indices).size();
  requireElements(kernel, dims[axis], indices);
  Value size = kernel.size(dims[axis]);
  SmallVector<int64_t> indexLoops =
      llvm::to_vector(llvm::seq(axis, axis + indexRank));

  auto toPosition = [&](Scalars &s, Value index) -> Value {
    if (op.getMode() == "clip") // as in NumPy, for negative indices, too
      return clamp(s, s.toIndex(index), size);
    if (op.getMode() == "raise" || op.getMode() == "fast")
      return clamp(s, fromEnd(s, index, size), size);
    Value position = s.toIndex(index);
    Value rest = arith::RemSIOp::create(s, position, size);
    Value isNegative = s.compare(CmpIPredicate::slt, rest, s.index(0));
    return s.select(isNegative, s.add(rest, size), rest);
  };
  Value result = kernel.nest(
      SymDims(kernel.dims(kernel.destination())),
      {{kernel.inputOrNumber(op.getIndices()), indexLoops}},
      Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (int64_t index = 0, rank = dims.size(); index < rank; ++index)
          from.push_back(
              index == axis
                  ? toPosition(s, elements[0])
                  : s.position(index < axis ? index : index + indexRank - 1));
        return SmallVector<Value>{tensor::ExtractOp::create(s, x, from)};
      },
      /*widens=*/false)[0];
  return kernel.yield(result);
}

static LogicalResult gatherElements(GatherElementsOp op,
                                    KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  requireInside(kernel, own, dims, axis);
  requireElements(kernel, dims[axis], indices);
  Value size = kernel.size(dims[axis]);
  return kernel.yield(kernel.nest(
      own, {indices}, Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (int64_t index = 0, rank = dims.size(); index < rank; ++index)
          from.push_back(s.position(index));
        from[axis] = clamp(s, fromEnd(s, elements[0], size), size);
        return SmallVector<Value>{tensor::ExtractOp::create(s, data, from)};
      },
      /*widens=*/false));
}

static LogicalResult gatherND(GatherNDOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices));
  std::optional<int64_t> tuple = getTupleSize(kernel, indices);
  if (!tuple)
    return kernel.reject("the last dimension of indices must be known");
  int64_t outer = own.size() - 1, batches = op.getBatchDims(),
          rank = dims.size();
  SmallVector<Value> sizes;
  for (int64_t index = 0; index < batches; ++index)
    kernel.requireEqual(own[index], dims[index],
                        "data and indices must agree in batch dimension " +
                            Twine(index));
  for (int64_t index = 0; index < *tuple; ++index) {
    requireElements(kernel, dims[batches + index], indices);
    sizes.push_back(kernel.size(dims[batches + index]));
  }
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) -> Value {
        SmallVector<Value> from(position.take_front(batches));
        SmallVector<Value> at(position.take_front(outer));
        at.push_back({});
        for (auto [index, size] : llvm::enumerate(sizes)) {
          at.back() = s.index(index);
          Value element = tensor::ExtractOp::create(s, indices, at);
          from.push_back(clamp(s, fromEnd(s, element, size), size));
        }
        llvm::append_range(from, position.drop_front(outer));
        from.resize(rank);
        return tensor::ExtractOp::create(s, data, from);
      }));
}

static LogicalResult indexTensor(IndexTensorOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<Value> indices, sizes;
  SymDims shape = broadcastIndices(kernel, op.getIndices(), indices);
  int64_t indexRank = shape.size(), count = indices.size();
  SmallVector<Access> reads;
  for (auto [index, tensor] : llvm::enumerate(indices)) {
    requireElements(kernel, dims[index], tensor);
    sizes.push_back(kernel.size(dims[index]));
    int64_t rank = kernel.dims(tensor).size();
    reads.push_back({tensor,
                     llvm::to_vector(llvm::seq(indexRank - rank, indexRank)),
                     Access::kAll});
  }
  return kernel.yield(kernel.nest(
      SymDims(kernel.dims(kernel.destination())), reads,
      Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (auto [element, size] : llvm::zip(elements, sizes))
          from.push_back(clamp(s, fromEnd(s, element, size), size));
        for (int64_t index = count, rank = dims.size(); index < rank; ++index)
          from.push_back(s.position(indexRank + index - count));
        return SmallVector<Value>{tensor::ExtractOp::create(s, data, from)};
      },
      /*widens=*/false));
}

static LogicalResult oneHot(OneHotOp op, KernelBuilder &kernel) {
  Value indices = kernel.input(op.getIndices()),
        destination = kernel.destination();
  int64_t rank = kernel.dims(destination).size(),
          axis = getAxis(op.getAxis(), rank);
  Value depth = kernel.size(op.getDepth());
  Value on = kernel.builder().number(op.getOnValue()),
        off = kernel.builder().number(op.getOffValue());
  return kernel.yield(kernel.map({{indices, allBut(rank, axis)}}, destination,
                                 [&](Scalars &s, ValueRange x) {
                                   Value isHere =
                                       s.compare(CmpIPredicate::eq,
                                                 fromEnd(s, x[0], depth),
                                                 s.position(axis));
                                   return s.select(isHere, on, off);
                                 }));
}

void relax::populateIndexKernels(KernelRegistry &registry) {
  registry.add<TakeOp>(take);
  registry.add<GatherElementsOp>(gatherElements);
  registry.add<GatherNDOp>(gatherND);
  registry.add<IndexTensorOp>(indexTensor);
  registry.add<OneHotOp>(oneHot);
  populateScatterKernels(registry, /*manyThreads=*/false);
}
