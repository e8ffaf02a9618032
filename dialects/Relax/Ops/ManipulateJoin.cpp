//===- ManipulateJoin.cpp - joining, cutting, repeating -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Manipulate.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"

using namespace mlir;
using namespace mlir::relax;

/// The maximum number of parts of a split.
static constexpr int64_t kMaxParts = 1 << 16;

/// `dim * factor`; factors zero and one also work for unknown dimensions.
static SymExprAttr scale(Deduction &deduction, SymExprAttr dim,
                         int64_t factor) {
  if (factor == 1)
    return dim;
  if (factor == 0)
    return deduction.constant(0);
  return deduction.math().mul(dim, deduction.constant(factor));
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Reads tensors that must have the same element type and rank.
static FailureOr<SmallVector<Deduction::Tensor>>
readTensors(Deduction &deduction, ValueRange values) {
  SmallVector<Deduction::Tensor> tensors;
  std::optional<size_t> firstRanked;
  for (auto [index, value] : llvm::enumerate(values)) {
    std::string name = ("tensors[" + Twine(index) + "]").str();
    FailureOr<Deduction::Tensor> tensor = deduction.tensor(value, name);
    if (failed(tensor))
      return failure();
    tensors.push_back(std::move(*tensor));
    if (failed(deduction.sameElementType(tensors[0].elementType, "tensors[0]",
                                         tensors.back().elementType, name)))
      return failure();
    if (!tensors.back().ranked)
      continue;
    if (!firstRanked)
      firstRanked = index;
    else if (tensors.back().rank() != tensors[*firstRanked].rank())
      return deduction.emitError()
             << "ranks differ: tensors[" << *firstRanked << "] has rank "
             << tensors[*firstRanked].rank() << ", " << name << " has rank "
             << tensors.back().rank();
  }
  if (tensors.empty())
    return deduction.emitError() << "needs at least one tensor";
  return tensors;
}

/// Merges the dimensions of all tensors; dimension `except` is left null.
static FailureOr<SymDims> mergeDims(Deduction &deduction,
                                    ArrayRef<Deduction::Tensor> tensors,
                                    size_t rank, std::optional<size_t> except) {
  SymDims dims(rank);
  SmallVector<size_t> source(rank); // the tensor that determined each dimension
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    if (!tensor.ranked)
      continue;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (axis == except || !tensor.dims[axis])
        continue;
      FailureOr<SymExprAttr> dim = deduction.equalDim(
          dims[axis],
          "dimension " + Twine(axis) + " of tensors[" + Twine(source[axis]) +
              "]",
          tensor.dims[axis], "of tensors[" + Twine(index) + "]");
      if (failed(dim))
        return failure();
      if (dims[axis] != *dim)
        source[axis] = index;
      dims[axis] = *dim;
    }
  }
  return dims;
}

/// The rank, if at least one of the tensors is ranked.
static std::optional<size_t> findRank(ArrayRef<Deduction::Tensor> tensors) {
  for (const Deduction::Tensor &tensor : tensors)
    if (tensor.ranked)
      return tensor.rank();
  return std::nullopt;
}

LogicalResult ConcatOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  auto tensors = readTensors(deduction, op.getTensors());
  if (failed(tensors))
    return failure();
  Type element = tensors->front().elementType;
  std::optional<size_t> rank = findRank(*tensors);
  if (!rank) {
    results.push_back(UnrankedTensorType::get(element));
    return success();
  }
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), *rank);
  if (failed(axis))
    return failure();
  FailureOr<SymDims> dims = mergeDims(deduction, *tensors, *rank, *axis);
  if (failed(dims))
    return failure();
  SymDims parts;
  for (const Deduction::Tensor &tensor : *tensors)
    parts.push_back(tensor.ranked ? tensor.dims[*axis] : SymExprAttr());
  (*dims)[*axis] = deduction.math().sum(parts);
  results.push_back(getTensorType(*dims, element));
  return success();
}

LogicalResult StackOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  auto tensors = readTensors(deduction, op.getTensors());
  if (failed(tensors))
    return failure();
  Type element = tensors->front().elementType;
  std::optional<size_t> rank = findRank(*tensors);
  if (!rank) {
    results.push_back(UnrankedTensorType::get(element));
    return success();
  }
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), *rank + 1);
  if (failed(axis))
    return failure();
  FailureOr<SymDims> dims =
      mergeDims(deduction, *tensors, *rank, /*except=*/std::nullopt);
  if (failed(dims))
    return failure();
  dims->insert(dims->begin() + *axis, deduction.constant(tensors->size()));
  results.push_back(getTensorType(*dims, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// The sizes of `sections` parts of up to `dim ceildiv sections` each.
static SymDims getSectionSizes(Deduction &deduction, SymExprAttr dim,
                               int64_t sections) {
  SymBuilder &math = deduction.math();
  if (!dim)
    return SymDims(sections);
  if (dim.isConstant()) {
    SymDims sizes;
    int64_t size = dim.getValue(), part = llvm::divideCeil(size, sections);
    for (int64_t i = 0; i < sections; ++i) {
      sizes.push_back(deduction.constant(std::min(part, size)));
      size -= std::min(part, size);
    }
    return sizes;
  }
  SymExprAttr count = deduction.constant(sections);
  if (deduction.prover().divisible(dim, count) == Truth::Yes ||
      math.exactDiv(dim, count))
    return SymDims(sections, math.floordiv(dim, count));
  SymExprAttr part = math.ceildiv(dim, count), zero = deduction.constant(0);
  if (sections == 2)
    return {part, math.floordiv(dim, count)};
  SymDims sizes = {part};
  for (int64_t i = 1; i < sections; ++i) {
    SymExprAttr left = math.sub(dim, scale(deduction, part, i));
    sizes.push_back(math.max({zero, math.min({part, left})}));
  }
  return sizes;
}

LogicalResult SplitOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  if (!op.getSections() == !op.getIndices())
    return deduction.emitError() << "needs either sections or indices, got "
                                 << (op.getSections() ? "both" : "neither");
  SmallVector<SymExprAttr> indices;
  int64_t parts;
  if (op.getSections()) {
    parts = *op.getSections();
    if (parts < 1)
      return deduction.emitError()
             << "sections must be positive, got " << parts;
  } else {
    indices = getSymExprs(*op.getIndices());
    parts = indices.size() + 1;
  }
  if (parts > kMaxParts)
    return deduction.emitError()
           << "cannot split into " << parts << " parts; at most " << kMaxParts;
  if (!x->ranked) {
    results.append(parts, UnrankedTensorType::get(x->elementType));
    return success();
  }
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), x->rank());
  if (failed(axis))
    return failure();
  SymDims sizes;
  if (op.getSections()) {
    sizes = getSectionSizes(deduction, x->dims[*axis], parts);
  } else {
    SymExprAttr begin = deduction.constant(0);
    indices.push_back(deduction.constant(std::numeric_limits<int64_t>::max()));
    for (SymExprAttr end : indices) {
      FailureOr<SymExprAttr> size = deduceSliceSize(
          deduction, x->dims[*axis], begin, end, deduction.constant(1));
      if (failed(size))
        return failure();
      sizes.push_back(*size);
      begin = end;
    }
  }
  SymDims dims = x->dims;
  for (SymExprAttr size : sizes) {
    dims[*axis] = size;
    results.push_back(getTensorType(dims, x->elementType));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Repeating and reversing
//===----------------------------------------------------------------------===//

LogicalResult RepeatOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  int64_t repeats = op.getRepeats();
  if (repeats < 0)
    return deduction.emitError()
           << "repeats must not be negative, got " << repeats;
  if (!op.getAxis()) {
    SymExprAttr count = data->ranked
                            ? countElements(deduction.math(), data->dims)
                            : SymExprAttr();
    results.push_back(
        getTensorType(scale(deduction, count, repeats), data->elementType));
    return success();
  }
  if (!data->ranked) {
    results.push_back(UnrankedTensorType::get(data->elementType));
    return success();
  }
  FailureOr<int64_t> axis = deduction.axis(*op.getAxis(), data->rank());
  if (failed(axis))
    return failure();
  SymDims dims = data->dims;
  dims[*axis] = scale(deduction, dims[*axis], repeats);
  results.push_back(getTensorType(dims, data->elementType));
  return success();
}

LogicalResult TileOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  ArrayRef<int64_t> repeats = op.getRepeats();
  for (auto [index, factor] : llvm::enumerate(repeats))
    if (factor < 0)
      return deduction.emitError()
             << "repeats[" << index << "] must not be negative, got " << factor;
  if (!data->ranked) {
    results.push_back(UnrankedTensorType::get(data->elementType));
    return success();
  }
  SymDims dims = data->dims;
  if (repeats.size() > dims.size())
    dims.insert(dims.begin(), repeats.size() - dims.size(),
                deduction.constant(1));
  for (auto [dim, factor] :
       llvm::zip(llvm::reverse(dims), llvm::reverse(repeats)))
    dim = scale(deduction, dim, factor);
  results.push_back(getTensorType(dims, data->elementType));
  return success();
}

LogicalResult FlipOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data) ||
      (data->ranked && failed(deduction.axis(op.getAxis(), data->rank()))))
    return failure();
  results.push_back(op.getData().getType());
  return success();
}

LogicalResult ReverseSequenceOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Deduction::Tensor> lengths =
      deduction.tensor(op.getSeqLengths(), "seq_lengths");
  if (failed(data) || failed(lengths))
    return failure();
  if (lengths->ranked && lengths->rank() != 1)
    return deduction.emitError()
           << "seq_lengths must have rank 1, got rank " << lengths->rank();
  if (data->ranked) {
    FailureOr<int64_t> seq =
        deduction.axis(op.getSeqAxis(), data->rank(), "seq_axis");
    FailureOr<int64_t> batch =
        deduction.axis(op.getBatchAxis(), data->rank(), "batch_axis");
    if (failed(seq) || failed(batch))
      return failure();
    if (*seq == *batch)
      return deduction.emitError()
             << "seq_axis and batch_axis are both dimension " << *seq;
    if (lengths->ranked &&
        failed(deduction.equalDim(
            lengths->dims[0], "dimension 0 of seq_lengths", data->dims[*batch],
            "dimension " + Twine(*batch) + " of data")))
      return failure();
  }
  results.push_back(op.getData().getType());
  return success();
}
