//===- Normalization.cpp - normalization and softmax ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Normalization.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

static LogicalResult deduceSoftmax(Deduction &deduction, Value value,
                                   int64_t axis,
                                   SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data =
      tensorOf(deduction, value, "data", Elements::Float);
  if (failed(data) ||
      (data->ranked && failed(deduction.axis(axis, data->rank()))))
    return failure();
  results.push_back(value.getType());
  return success();
}

#define GET_OP_CLASSES
#include "Relax/Ops/Normalization.cpp.inc"

void RelaxDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Normalization.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

using Parameter = std::pair<Value, StringRef>;

static LogicalResult checkEpsilon(Deduction &deduction,
                                  const APFloat &epsilon) {
  if (!epsilon.isNaN() && !epsilon.isInfinity() &&
      (epsilon.isZero() || !epsilon.isNegative()))
    return success();
  return deduction.emitError()
         << "epsilon must be finite and not negative, got "
         << FloatAttr::get(Float64Type::get(deduction.getContext()), epsilon);
}

/// Reads a parameter, which must have the element type of `data` and the
/// dimensions of `data` at `axes`; all axes are in range if `data` is ranked.
static FailureOr<Deduction::Tensor> readParameter(Deduction &deduction,
                                                  const Deduction::Tensor &data,
                                                  Parameter parameter,
                                                  ArrayRef<int64_t> axes) {
  auto [value, name] = parameter;
  FailureOr<Deduction::Tensor> tensor =
      tensorOf(deduction, value, name, Elements::Float);
  if (failed(tensor) ||
      failed(deduction.sameElementType(data.elementType, "data",
                                       tensor->elementType, name)) ||
      failed(requireRank(deduction, *tensor, name, axes.size())))
    return failure();
  if (!data.ranked || !tensor->ranked)
    return tensor;
  for (auto [index, axis] : llvm::enumerate(axes)) {
    FailureOr<SymExprAttr> both = deduction.equalDim(
        data.dims[axis], "dimension " + Twine(axis) + " of data",
        tensor->dims[index], "dimension " + Twine(index) + " of " + name);
    if (failed(both))
      return failure();
    tensor->dims[index] = *both;
  }
  return tensor;
}

static LogicalResult checkParameters(Deduction &deduction,
                                     const Deduction::Tensor &data,
                                     ArrayRef<Parameter> parameters,
                                     ArrayRef<int64_t> axes) {
  for (const Parameter &parameter : parameters)
    if (parameter.first &&
        failed(readParameter(deduction, data, parameter, axes)))
      return failure();
  return success();
}

/// Normalizes axes if the rank is known; otherwise returns them unchanged.
static FailureOr<SmallVector<int64_t>> readAxes(Deduction &deduction,
                                                const Deduction::Tensor &data,
                                                ArrayRef<int64_t> axes) {
  if (data.ranked)
    return deduction.axes(axes, data.rank(), "axes");
  return llvm::to_vector(axes);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Ops whose parameters have the shape of `data` at the reduced axes.
static LogicalResult deduceOverAxes(Deduction &deduction, Value value,
                                    ArrayRef<Parameter> parameters,
                                    ArrayRef<int64_t> axes,
                                    const APFloat &epsilon,
                                    SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data =
      tensorOf(deduction, value, "data", Elements::Float);
  if (failed(data) || failed(checkEpsilon(deduction, epsilon)))
    return failure();
  FailureOr<SmallVector<int64_t>> normal = readAxes(deduction, *data, axes);
  if (failed(normal) ||
      failed(checkParameters(deduction, *data, parameters, *normal)))
    return failure();
  results.push_back(value.getType());
  return success();
}

/// Ops whose parameters have one element per channel. Sets `channels` to the
/// number of channels, or null if unknown.
static LogicalResult
deduceByChannel(Deduction &deduction, Value value,
                ArrayRef<Parameter> parameters, int64_t channelAxis,
                ArrayRef<int64_t> axes, const APFloat &epsilon,
                SymExprAttr &channels, SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data =
      tensorOf(deduction, value, "data", Elements::Float);
  if (failed(data) || failed(checkEpsilon(deduction, epsilon)))
    return failure();
  FailureOr<SmallVector<int64_t>> normal = readAxes(deduction, *data, axes);
  FailureOr<int64_t> channel = channelAxis;
  if (data->ranked)
    channel = deduction.axis(channelAxis, data->rank(), "channel_axis");
  if (failed(normal) || failed(channel))
    return failure();
  if (llvm::is_contained(*normal, *channel))
    return deduction.emitError()
           << "axes must not name channel_axis " << channelAxis;
  if (failed(checkParameters(deduction, *data, parameters, *channel)))
    return failure();
  if (data->ranked)
    channels = data->dims[*channel];
  results.push_back(value.getType());
  return success();
}

LogicalResult LayerNormOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  return deduceOverAxes(deduction, op.getData(),
                        {{op.getGamma(), "gamma"}, {op.getBeta(), "beta"}},
                        op.getAxes(), op.getEpsilon(), results);
}

LogicalResult RMSNormOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  return deduceOverAxes(deduction, op.getData(), {{op.getWeight(), "weight"}},
                        op.getAxes(), op.getEpsilon(), results);
}

LogicalResult GroupNormOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  int64_t groups = op.getNumGroups();
  if (groups < 1)
    return deduction.emitError()
           << "num_groups must be positive, got " << groups;
  SymExprAttr channels;
  if (failed(deduceByChannel(deduction, op.getData(),
                             {{op.getGamma(), "gamma"}, {op.getBeta(), "beta"}},
                             op.getChannelAxis(), op.getAxes(), op.getEpsilon(),
                             channels, results)))
    return failure();
  if (channels && deduction.prover().divisible(
                      channels, deduction.constant(groups)) == Truth::No)
    return deduction.emitError()
           << "num_groups must divide the number of channels: " << groups
           << " and " << channels.str();
  return success();
}

LogicalResult InstanceNormOp::deduce(Deduction &deduction, Adaptor op,
                                     SmallVectorImpl<Type> &results) {
  SymExprAttr channels;
  return deduceByChannel(deduction, op.getData(),
                         {{op.getGamma(), "gamma"}, {op.getBeta(), "beta"}},
                         op.getChannelAxis(), op.getAxes(), op.getEpsilon(),
                         channels, results);
}

LogicalResult BatchNormOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data =
      tensorOf(deduction, op.getData(), "data", Elements::Float);
  if (failed(data) || failed(checkEpsilon(deduction, op.getEpsilon())))
    return failure();
  FailureOr<int64_t> axis = op.getAxis();
  if (data->ranked)
    axis = deduction.axis(op.getAxis(), data->rank());
  if (failed(axis))
    return failure();
  // The number of channels, from whichever operand gives it.
  SymExprAttr channels;
  for (auto &[value, name] :
       {Parameter(op.getGamma(), "gamma"), Parameter(op.getBeta(), "beta"),
        Parameter(op.getMovingMean(), "moving_mean"),
        Parameter(op.getMovingVar(), "moving_var")}) {
    FailureOr<Deduction::Tensor> parameter =
        readParameter(deduction, *data, {value, name}, *axis);
    if (failed(parameter))
      return failure();
    if (!parameter->ranked)
      continue;
    FailureOr<SymExprAttr> both =
        deduction.equalDim(channels, "the number of channels",
                           parameter->dims[0], "dimension 0 of " + Twine(name));
    if (failed(both))
      return failure();
    channels = *both;
  }
  Type moving = getTensorType(channels, data->elementType);
  results.append({op.getData().getType(), moving, moving});
  return success();
}
