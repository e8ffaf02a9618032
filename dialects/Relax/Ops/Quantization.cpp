//===- Quantization.cpp - quantized tensors -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Quantization.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Quantization.cpp.inc"

void RelaxDialect::registerQuantizationOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Quantization.cpp.inc"
      >();
}

/// Requires a quantized element type: an integer or a narrow float.
static LogicalResult checkQuantized(Deduction &deduction, StringRef name,
                                    Type type) {
  if (isa<IntegerType>(type) && !type.isInteger(1))
    return success();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8)
    return success();
  return deduction.emitError()
         << name << " must have integers or floats of at most 8 bits, got "
         << type;
}

/// Requires a parameter to be a scalar or to have one element per index of the
/// axis. Refines the size of the axis if that is unknown.
static LogicalResult checkParameter(Deduction &deduction, Value value,
                                    StringRef name, int64_t axis,
                                    SymExprAttr *extent) {
  FailureOr<Deduction::Tensor> parameter = deduction.tensor(value, name);
  if (failed(parameter))
    return failure();
  if (!parameter->ranked || parameter->rank() == 0)
    return success();
  if (parameter->rank() != 1)
    return deduction.emitError()
           << name << " must have rank 0 or 1, got rank " << parameter->rank();
  if (!extent)
    return success();
  FailureOr<SymExprAttr> known =
      deduction.equalDim(*extent, "dimension " + Twine(axis) + " of data",
                         parameter->dims[0], "size of " + name);
  if (failed(known))
    return failure();
  *extent = *known;
  return success();
}

/// The dimensions of `data`, refined by the parameters.
template <typename Adaptor>
static LogicalResult deduceDims(Deduction &deduction, Adaptor op,
                                Deduction::Tensor &data) {
  int64_t axis = op.getAxis();
  SymExprAttr *extent = nullptr;
  // A scalar has no axis and needs none.
  if (data.ranked && data.rank() > 0) {
    FailureOr<int64_t> normal = deduction.axis(axis, data.rank());
    if (failed(normal))
      return failure();
    axis = *normal;
    extent = &data.dims[axis];
  }
  std::pair<Value, StringRef> parameters[] = {
      {op.getScale(), "scale"}, {op.getZeroPoint(), "zero_point"}};
  for (auto [value, name] : parameters) {
    if (!value)
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.getRank() == 1 && data.ranked && data.rank() == 0)
      return deduction.emitError()
             << name << " must be a scalar like data, got " << type;
    if (failed(checkParameter(deduction, value, name, axis, extent)))
      return failure();
  }
  return success();
}

static Type withElementType(const Deduction::Tensor &data, Type elementType) {
  return data.ranked ? Type(getTensorType(data.dims, elementType))
                     : UnrankedTensorType::get(elementType);
}

LogicalResult QuantizeOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Type> elementType = elementTypeAttr(
      deduction,
      op.getOutDtype().value_or(IntegerType::get(deduction.getContext(), 8)),
      "out_dtype");
  if (failed(data) || failed(elementType) ||
      failed(checkQuantized(deduction, "the result", *elementType)) ||
      failed(deduceDims(deduction, op, *data)))
    return failure();
  results.push_back(withElementType(*data, *elementType));
  return success();
}

LogicalResult DequantizeOp::deduce(Deduction &deduction, Adaptor op,
                                   SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Type> elementType = elementTypeAttr(
      deduction,
      op.getOutDtype().value_or(Float32Type::get(deduction.getContext())),
      "out_dtype");
  if (failed(data) || failed(elementType) ||
      failed(checkQuantized(deduction, "data", data->elementType)))
    return failure();
  if (!isa<FloatType>(*elementType))
    return deduction.emitError()
           << "out_dtype must be a floating-point type, got " << *elementType;
  if (failed(deduceDims(deduction, op, *data)))
    return failure();
  results.push_back(withElementType(*data, *elementType));
  return success();
}
