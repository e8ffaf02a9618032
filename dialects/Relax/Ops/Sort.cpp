//===- Sort.cpp - sorting and data-dependent shapes -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Sort.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Sort.cpp.inc"

void RelaxDialect::registerSortOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Sort.cpp.inc"
      >();
}

/// The type of `tensor` with another element type.
static Type withElements(const Deduction::Tensor &tensor, Type elementType) {
  return tensor.ranked ? Type(getTensorType(tensor.dims, elementType))
                       : UnrankedTensorType::get(elementType);
}

/// The element type of indices.
static Type getIndexType(Deduction &deduction, std::optional<Type> dtype) {
  return dtype.value_or(IntegerType::get(deduction.getContext(), 32));
}

LogicalResult SortOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x) ||
      (x->ranked && failed(deduction.axis(op.getAxis(), x->rank()))))
    return failure();
  results.push_back(op.getX().getType());
  return success();
}

LogicalResult ArgsortOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data) ||
      (data->ranked && failed(deduction.axis(op.getAxis(), data->rank()))))
    return failure();
  results.push_back(
      withElements(*data, getIndexType(deduction, op.getDtype())));
  return success();
}

LogicalResult TopkOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  SymExprAttr k = op.getK();
  if ((k.isConstant() && k.getValue() < 0) ||
      deduction.prover().less(k, deduction.constant(0)) == Truth::Yes)
    return deduction.emitError()
           << "k must not be negative, got " << describe(k);
  Deduction::Tensor kept = *data;
  if (data->ranked) {
    FailureOr<int64_t> axis = deduction.axis(op.getAxis(), data->rank());
    if (failed(axis))
      return failure();
    SymExprAttr &dim = kept.dims[*axis];
    if (deduction.prover().less(dim, k) == Truth::Yes)
      return deduction.emitError()
             << "k is " << describe(k) << ", dimension " << *axis
             << " of data only " << describe(dim);
    dim = k;
  }
  if (op.getRetType() != "indices")
    results.push_back(withElements(kept, data->elementType));
  if (op.getRetType() != "values")
    results.push_back(
        withElements(kept, getIndexType(deduction, op.getDtype())));
  return success();
}

LogicalResult UniqueOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  Type i64 = IntegerType::get(deduction.getContext(), 64);
  SymExprAttr inverse; // the number of elements or slices that are compared
  if (!op.getAxis()) {
    results.push_back(Deduction::rankedType(1, x->elementType));
    if (x->ranked && op.getReturnInverse())
      inverse = countElements(deduction.math(), x->dims);
  } else if (x->ranked) {
    FailureOr<int64_t> axis = deduction.axis(*op.getAxis(), x->rank());
    if (failed(axis))
      return failure();
    SymDims dims = x->dims;
    inverse = dims[*axis];
    dims[*axis] = {};
    results.push_back(getTensorType(dims, x->elementType));
  } else {
    results.push_back(UnrankedTensorType::get(x->elementType));
  }
  Type perDistinct = Deduction::rankedType(1, i64);
  if (op.getReturnIndex())
    results.push_back(perDistinct);
  if (op.getReturnInverse())
    results.push_back(getTensorType(inverse, i64));
  if (op.getReturnCounts())
    results.push_back(perDistinct);
  return success();
}

LogicalResult NonzeroOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  if (x->ranked && x->dims.empty())
    return deduction.emitError()
           << "x must have rank 1 or more, got a scalar; flatten it first";
  SymDims dims(2);
  if (x->ranked)
    dims[0] = deduction.constant(x->rank());
  results.push_back(
      getTensorType(dims, IntegerType::get(deduction.getContext(), 64)));
  return success();
}

LogicalResult BucketizeOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> input =
      deduction.tensor(op.getInputTensor(), "input_tensor");
  FailureOr<Deduction::Tensor> boundaries =
      deduction.tensor(op.getBoundaries(), "boundaries");
  if (failed(input) || failed(boundaries) ||
      failed(deduction.sameElementType(input->elementType, "input_tensor",
                                       boundaries->elementType, "boundaries")))
    return failure();
  if (boundaries->ranked && boundaries->rank() != 1)
    return deduction.emitError()
           << "boundaries must have rank 1, got rank " << boundaries->rank();
  results.push_back(
      withElements(*input, IntegerType::get(deduction.getContext(),
                                            op.getOutInt32() ? 32 : 64)));
  return success();
}
