//===- Reduction.cpp - reductions and scans -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Reduction.h"
#include "Relax/Forwarding.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static LogicalResult deduceReduction(Deduction &deduction, Value value,
                                     Elements kind,
                                     std::optional<ArrayRef<int64_t>> axis,
                                     bool keepdims, bool needsElements,
                                     SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = tensorOf(deduction, value, "x", kind);
  if (failed(x))
    return failure();
  ReduceOptions options;
  options.axis = axis;
  options.keepdims = keepdims;
  options.needsElements = needsElements;
  return deduceReduce(deduction, *x, options, x->elementType, results);
}

static LogicalResult deduceArgReduction(Deduction &deduction, Value value,
                                        std::optional<int64_t> axis,
                                        bool keepdims,
                                        SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x =
      tensorOf(deduction, value, "x", Elements::Number);
  if (failed(x))
    return failure();
  ReduceOptions options;
  if (axis)
    options.axis = ArrayRef<int64_t>(*axis);
  options.keepdims = keepdims;
  options.needsElements = true;
  return deduceReduce(deduction, *x, options,
                      IntegerType::get(deduction.getContext(), 64), results);
}

static LogicalResult deduceScan(Deduction &deduction, Value value,
                                std::optional<int64_t> axis,
                                std::optional<Type> dtype,
                                SmallVectorImpl<Type> &results) {
  // `cumsum` of Booleans with a dtype counts the true elements.
  FailureOr<Deduction::Tensor> data = tensorOf(
      deduction, value, "data", dtype ? Elements::Any : Elements::Number);
  if (failed(data))
    return failure();
  FailureOr<Type> element = elementTypeAttr(
      deduction, dtype.value_or(data->elementType), "dtype", Elements::Number);
  if (failed(element))
    return failure();
  if (!axis) {
    SymExprAttr size =
        data->ranked ? deduction.math().product(data->dims) : SymExprAttr();
    results.push_back(getTensorType(size, *element));
    return success();
  }
  if (data->ranked && failed(deduction.axis(*axis, data->rank())))
    return failure();
  results.push_back(cast<TensorType>(value.getType()).clone(*element));
  return success();
}

#define GET_OP_CLASSES
#include "Relax/Ops/Reduction.cpp.inc"

void RelaxDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Reduction.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Folds a reduction over no axes, if a single element reduces to itself.
template <typename Op>
static OpFoldResult foldNoAxes(Op op) {
  Type type = op.getX().getType();
  if (type != op.getType())
    return {};
  std::optional<ArrayRef<int64_t>> axis = op.getAxis();
  auto ranked = dyn_cast<RankedTensorType>(type);
  bool none = axis ? axis->empty() : ranked && ranked.getRank() == 0;
  return none ? forward(op.getX(), op) : OpFoldResult();
}

OpFoldResult SumOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult ProdOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult MeanOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult MaxOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult MinOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult AnyOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
OpFoldResult AllOp::fold(FoldAdaptor) { return foldNoAxes(*this); }
