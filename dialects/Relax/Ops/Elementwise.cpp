//===- Elementwise.cpp - element-wise ops ---------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Elementwise.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Elementwise.cpp.inc"

void RelaxDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Elementwise.cpp.inc"
      >();
}

LogicalResult SoftplusOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  if (op.getBeta().isZero())
    return deduction.emitError() << "beta must not be 0";
  return deduceUnary(deduction, op.getX(), Elements::Float, results);
}

LogicalResult AstypeOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x =
      tensorOf(deduction, op.getX(), "x", Elements::Any);
  FailureOr<Type> dtype = elementTypeAttr(deduction, op.getDtype());
  if (failed(x) || failed(dtype))
    return failure();
  results.push_back(cast<TensorType>(op.getX().getType()).clone(*dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// ClipOp
//===----------------------------------------------------------------------===//

/// Requires a bound to be a value of the element type.
static LogicalResult checkBound(Deduction &deduction, Attribute bound,
                                StringRef name, Type elementType) {
  if (!bound)
    return success();
  if (isa<FloatType>(elementType)) {
    auto number = dyn_cast<FloatAttr>(bound);
    if (!number)
      return deduction.emitError() << name << " must be a float, as x has "
                                   << elementType << " elements, got " << bound;
    if (number.getValue().isNaN())
      return deduction.emitError() << name << " must not be NaN";
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(bound);
  if (!number)
    return deduction.emitError() << name << " must be an integer, as x has "
                                 << elementType << " elements, got " << bound;
  unsigned width = elementType.getIntOrFloatBitWidth();
  const APInt &value = number.getValue();
  bool fits = elementType.isUnsignedInteger()
                  ? !value.isNegative() && value.isIntN(width)
                  : value.isSignedIntN(width);
  if (!fits)
    return deduction.emitError() << name << " " << number.getInt()
                                 << " is not a value of " << elementType;
  return success();
}

LogicalResult ClipOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x =
      tensorOf(deduction, op.getX(), "x", Elements::Number);
  if (failed(x) ||
      failed(checkBound(deduction, op.getMinAttr(), "min", x->elementType)) ||
      failed(checkBound(deduction, op.getMaxAttr(), "max", x->elementType)))
    return failure();
  results.push_back(op.getX().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

LogicalResult PReluOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data =
      tensorOf(deduction, op.getData(), "data", Elements::Float);
  if (failed(data))
    return failure();
  FailureOr<Deduction::Tensor> alpha =
      tensorOf(deduction, op.getAlpha(), "alpha", Elements::Float);
  if (failed(alpha) ||
      failed(deduction.sameElementType(data->elementType, "data",
                                       alpha->elementType, "alpha")) ||
      failed(requireRank(deduction, *alpha, "alpha", 1)))
    return failure();
  results.push_back(op.getData().getType());
  if (!data->ranked)
    return success();
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), data->rank());
  if (failed(axis))
    return failure();
  if (!alpha->ranked || !alpha->dims[0])
    return success();
  // A single slope, or one for each channel.
  const Prover &prover = deduction.prover();
  if (prover.equal(alpha->dims[0], deduction.constant(1)) != Truth::No ||
      prover.equal(alpha->dims[0], data->dims[*axis]) != Truth::No)
    return success();
  return deduction.emitError()
         << "alpha must have 1 element or as many as dimension " << *axis
         << " of data: " << describe(alpha->dims[0]) << " and "
         << describe(data->dims[*axis]);
}

LogicalResult WhereOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> condition =
      tensorOf(deduction, op.getCondition(), "condition", Elements::Bool);
  FailureOr<Deduction::Tensor> x1 =
      tensorOf(deduction, op.getX1(), "x1", Elements::Any);
  FailureOr<Deduction::Tensor> x2 =
      tensorOf(deduction, op.getX2(), "x2", Elements::Any);
  if (failed(condition) || failed(x1) || failed(x2) ||
      failed(deduction.sameElementType(x1->elementType, "x1", x2->elementType,
                                       "x2")))
    return failure();
  return deduceBroadcast(deduction, {*condition, *x1, *x2},
                         {"condition", "x1", "x2"}, x1->elementType, results);
}

LogicalResult EwiseFMAOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  SmallVector<Deduction::Tensor, 3> operands;
  Value values[] = {op.getX1(), op.getX2(), op.getX3()};
  StringRef names[] = {"x1", "x2", "x3"};
  for (auto [value, name] : llvm::zip(values, names)) {
    FailureOr<Deduction::Tensor> operand =
        tensorOf(deduction, value, name, Elements::Number);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
    if (failed(deduction.sameElementType(operands[0].elementType, "x1",
                                         operand->elementType, name)))
      return failure();
  }
  return deduceBroadcast(deduction, operands, names, operands[0].elementType,
                         results);
}
