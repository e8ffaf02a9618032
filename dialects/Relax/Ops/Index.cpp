//===- Index.cpp - gathering and scattering by indices --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Index.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Index.cpp.inc"

void RelaxDialect::registerIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Index.cpp.inc"
      >();
}

using Tensor = Deduction::Tensor;

/// Reads an i32 or i64 tensor.
static FailureOr<Tensor> readIndices(Deduction &deduction, Value value,
                                     StringRef name) {
  FailureOr<Tensor> tensor = deduction.tensor(value, name);
  if (succeeded(tensor) && !tensor->elementType.isSignlessInteger(32) &&
      !tensor->elementType.isSignlessInteger(64))
    return deduction.emitError()
           << name << " must be a tensor of i32 or i64, got "
           << tensor->elementType;
  return tensor;
}

static LogicalResult checkRank(Deduction &deduction, const Tensor &tensor,
                               StringRef name, size_t rank, StringRef why) {
  if (!tensor.ranked || tensor.rank() == static_cast<int64_t>(rank))
    return success();
  return deduction.emitError() << name << " must have rank " << rank << " "
                               << why << ", got rank " << tensor.rank();
}

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

LogicalResult TakeOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> x = deduction.tensor(op.getX(), "x");
  FailureOr<Tensor> indices =
      readIndices(deduction, op.getIndices(), "indices");
  if (failed(x) || failed(indices))
    return failure();
  std::optional<SymDims> dims;
  if (indices->ranked)
    dims = indices->dims;
  if (op.getAxis() && x->ranked) {
    FailureOr<int64_t> axis = deduction.axis(*op.getAxis(), x->rank());
    if (failed(axis))
      return failure();
    ArrayRef<SymExprAttr> rest = x->dims;
    if (dims) {
      dims->insert(dims->begin(), rest.begin(), rest.begin() + *axis);
      dims->append(rest.begin() + *axis + 1, rest.end());
    }
  } else if (op.getAxis()) {
    dims.reset();
  }
  results.push_back(Deduction::tensorType(dims, x->elementType));
  return success();
}

/// Requires `indices` to have the rank of `data`, and to be no larger except
/// along `axis`.
static LogicalResult checkElementIndices(Deduction &deduction,
                                         const Tensor &data,
                                         const Tensor &indices, int64_t axis) {
  const Tensor &ranked = data.ranked ? data : indices;
  if (!ranked.ranked)
    return success();
  FailureOr<int64_t> normal = deduction.axis(axis, ranked.rank());
  if (failed(normal))
    return failure();
  if (!data.ranked || !indices.ranked)
    return success();
  if (failed(
          checkRank(deduction, indices, "indices", data.rank(), "as data has")))
    return failure();
  for (int64_t i = 0; i < data.rank(); ++i) {
    SymExprAttr d = data.dims[i], index = indices.dims[i];
    if (i != *normal && deduction.prover().less(d, index) == Truth::Yes)
      return deduction.emitError()
             << "dimension " << i << " of indices is " << describe(index)
             << ", more than the dimension of data, " << describe(d);
  }
  return success();
}

LogicalResult GatherElementsOp::deduce(Deduction &deduction, Adaptor op,
                                       SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Tensor> indices =
      readIndices(deduction, op.getIndices(), "indices");
  if (failed(data) || failed(indices) ||
      failed(checkElementIndices(deduction, *data, *indices, op.getAxis())))
    return failure();
  if (indices->ranked)
    results.push_back(getTensorType(indices->dims, data->elementType));
  else if (data->ranked)
    results.push_back(Deduction::rankedType(data->rank(), data->elementType));
  else
    results.push_back(UnrankedTensorType::get(data->elementType));
  return success();
}

/// The shape that tuples of indices read or write: the shape of `indices`
/// without its last dimension k, then the dimensions of `data` after the first
/// `batchDims + k`. Nullopt if its rank is unknown.
static FailureOr<std::optional<SymDims>> deduceTupleShape(Deduction &deduction,
                                                          const Tensor &data,
                                                          const Tensor &indices,
                                                          int64_t batchDims) {
  if (batchDims < 0)
    return deduction.emitError()
           << "batch_dims must not be negative, got " << batchDims;
  if (indices.ranked && indices.rank() <= batchDims)
    return deduction.emitError() << "indices must have rank " << batchDims + 1
                                 << " or more, got rank " << indices.rank();
  if (data.ranked && data.rank() < batchDims)
    return deduction.emitError() << "data must have rank " << batchDims
                                 << " or more, got rank " << data.rank();
  if (!indices.ranked || !data.ranked)
    return std::optional<SymDims>();
  SymDims dims(ArrayRef<SymExprAttr>(indices.dims).drop_back());
  for (int64_t i = 0; i < batchDims; ++i) {
    FailureOr<SymExprAttr> dim =
        deduction.equalDim(dims[i], "dimension " + Twine(i) + " of indices",
                           data.dims[i], "dimension " + Twine(i) + " of data");
    if (failed(dim))
      return failure();
    dims[i] = *dim;
  }
  SymExprAttr depth = indices.dims.back();
  SymExprAttr most = deduction.constant(data.rank() - batchDims);
  if (deduction.prover().less(most, depth) == Truth::Yes)
    return deduction.emitError() << "the last dimension of indices is "
                                 << describe(depth) << ", but data has only "
                                 << describe(most) << " dimensions to index";
  if (!depth || !depth.isConstant() || depth.getValue() > most.getValue())
    return std::optional<SymDims>();
  ArrayRef<SymExprAttr> rest = data.dims;
  llvm::append_range(dims, rest.drop_front(batchDims + depth.getValue()));
  return std::optional<SymDims>(std::move(dims));
}

LogicalResult GatherNDOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Tensor> indices =
      readIndices(deduction, op.getIndices(), "indices");
  if (failed(data) || failed(indices))
    return failure();
  FailureOr<std::optional<SymDims>> dims =
      deduceTupleShape(deduction, *data, *indices, op.getBatchDims());
  if (failed(dims))
    return failure();
  results.push_back(Deduction::tensorType(*dims, data->elementType));
  return success();
}

/// The shape that index tensors read or write; nullopt if its rank is unknown.
static FailureOr<std::optional<SymDims>>
deduceIndexedShape(Deduction &deduction, const Tensor &data,
                   ValueRange indices) {
  if (indices.empty())
    return deduction.emitError() << "needs at least one index tensor";
  if (data.ranked && data.rank() < static_cast<int64_t>(indices.size()))
    return deduction.emitError()
           << "has " << indices.size() << " index tensors for data of rank "
           << data.rank();
  std::optional<SymDims> dims = SymDims();
  for (auto [position, value] : llvm::enumerate(indices)) {
    std::string name = ("indices[" + Twine(position) + "]").str();
    FailureOr<Tensor> index = readIndices(deduction, value, name);
    if (failed(index))
      return failure();
    if (!index->ranked || !dims) {
      dims.reset();
      continue;
    }
    FailureOr<SymDims> merged =
        deduction.broadcast(*dims, "the indices before", index->dims, name);
    if (failed(merged))
      return failure();
    dims = std::move(*merged);
  }
  if (!data.ranked)
    return std::optional<SymDims>();
  if (dims)
    llvm::append_range(
        *dims, ArrayRef<SymExprAttr>(data.dims).drop_front(indices.size()));
  return dims;
}

LogicalResult IndexTensorOp::deduce(Deduction &deduction, Adaptor op,
                                    SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  FailureOr<std::optional<SymDims>> dims =
      deduceIndexedShape(deduction, *data, op.getIndices());
  if (failed(dims))
    return failure();
  results.push_back(Deduction::tensorType(*dims, data->elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

/// Reads the operands of a scatter; updates must have the element type of data.
template <typename Adaptor>
static LogicalResult readScatter(Deduction &deduction, Adaptor op, Tensor &data,
                                 Tensor &indices, Tensor &updates) {
  FailureOr<Tensor> x = deduction.tensor(op.getData(), "data");
  FailureOr<Tensor> at = readIndices(deduction, op.getIndices(), "indices");
  FailureOr<Tensor> with = deduction.tensor(op.getUpdates(), "updates");
  if (failed(x) || failed(at) || failed(with))
    return failure();
  data = *x, indices = *at, updates = *with;
  return deduction.sameElementType(data.elementType, "data",
                                   updates.elementType, "updates");
}

LogicalResult ScatterElementsOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  Tensor data, indices, updates;
  if (failed(readScatter(deduction, op, data, indices, updates)) ||
      failed(checkElementIndices(deduction, data, indices, op.getAxis())))
    return failure();
  if (data.ranked && failed(checkRank(deduction, updates, "updates",
                                      data.rank(), "as data has")))
    return failure();
  if (indices.ranked && updates.ranked) {
    if (failed(checkRank(deduction, updates, "updates", indices.rank(),
                         "as indices has")))
      return failure();
    for (auto [i, index, update] : llvm::enumerate(indices.dims, updates.dims))
      if (failed(deduction.equalDim(
              index, "dimension " + Twine(i) + " of indices", update,
              "dimension " + Twine(i) + " of updates")))
        return failure();
  }
  results.push_back(op.getData().getType());
  return success();
}

LogicalResult ScatterNDOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  Tensor data, indices, updates;
  if (failed(readScatter(deduction, op, data, indices, updates)))
    return failure();
  FailureOr<std::optional<SymDims>> dims =
      deduceTupleShape(deduction, data, indices, /*batchDims=*/0);
  if (failed(dims))
    return failure();
  if (*dims && updates.ranked) {
    if (failed(checkRank(deduction, updates, "updates", (*dims)->size(),
                         "as follows from data and indices")))
      return failure();
    for (auto [i, expected, update] : llvm::enumerate(**dims, updates.dims))
      if (failed(deduction.equalDim(
              expected,
              "dimension " + Twine(i) + " of the indexed part of data", update,
              "dimension " + Twine(i) + " of updates")))
        return failure();
  }
  results.push_back(op.getData().getType());
  return success();
}

LogicalResult IndexPutOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Tensor> values = deduction.tensor(op.getValues(), "values");
  if (failed(data) || failed(values) ||
      failed(deduction.sameElementType(data->elementType, "data",
                                       values->elementType, "values")))
    return failure();
  FailureOr<std::optional<SymDims>> dims =
      deduceIndexedShape(deduction, *data, op.getIndices());
  if (failed(dims) ||
      (*dims && values->ranked &&
       failed(checkBroadcastTo(deduction, values->dims, "values", **dims,
                               "the indexed part of data"))))
    return failure();
  results.push_back(op.getData().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// OneHotOp
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Tensor> indices =
      readIndices(deduction, op.getIndices(), "indices");
  if (failed(indices))
    return failure();
  Type element = op.getOnValue().getType();
  if (!isa<FloatAttr, IntegerAttr>(op.getOnValue()) || isa<IndexType>(element))
    return deduction.emitError()
           << "on_value must be a number, got " << op.getOnValue();
  if (element != op.getOffValue().getType() ||
      !isa<FloatAttr, IntegerAttr>(op.getOffValue()))
    return deduction.emitError()
           << "on_value and off_value differ in type: " << op.getOnValue()
           << " and " << op.getOffValue();
  SymExprAttr depth = op.getDepth();
  if ((depth.isConstant() && depth.getValue() < 0) ||
      deduction.prover().less(depth, deduction.constant(0)) == Truth::Yes)
    return deduction.emitError()
           << "depth must not be negative, got " << describe(depth);
  if (!indices->ranked) {
    results.push_back(UnrankedTensorType::get(element));
    return success();
  }
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), indices->rank() + 1);
  if (failed(axis))
    return failure();
  SymDims dims = indices->dims;
  dims.insert(dims.begin() + *axis, depth);
  results.push_back(getTensorType(dims, element));
  return success();
}

//===----------------------------------------------------------------------===//
// CheckIndicesOp
//===----------------------------------------------------------------------===//

LogicalResult CheckIndicesOp::verify() {
  size_t count = getBounds().size();
  if (count == 0)
    return emitOpError() << "needs at least one bound";
  if (getTargets().size() != count)
    return emitOpError() << "has " << count << " bounds and "
                         << getTargets().size()
                         << " targets; expected one for each bound";
  auto type = dyn_cast<RankedTensorType>(getIndices().getType());
  if (!type)
    return emitOpError() << "needs indices of known rank, got "
                         << getIndices().getType();
  if (count == 1)
    return success();
  if (type.getRank() == 0)
    return emitOpError() << "has " << count
                         << " bounds for indices of rank 0; expected one";
  int64_t size = type.getShape().back();
  if (ShapedType::isDynamic(size))
    return emitOpError() << "has " << count
                         << " bounds, and the last dimension of indices is not "
                            "known; expected one bound for each position in it";
  if (size != static_cast<int64_t>(count))
    return emitOpError() << "has " << count
                         << " bounds, and the last dimension of indices is "
                         << size << "; expected one bound for each";
  return success();
}
