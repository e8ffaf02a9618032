//===- Normalization.cpp - kernels of normalization and softmax -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel has a few nests: small ones for statistics, then one pass that
// computes the result. Statistics stay accurate for large means, and for
// squares that would overflow (Moments.h).
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Normalization.h"
#include "Relax/Forwarding.h"
#include "Transforms/Legalize/Moments.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// `softmax`, `log_softmax`
template <typename OpT, bool isLog>
static LogicalResult softmax(OpT op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()), destination = kernel.destination();
  SymDims dims(kernel.dims(data));
  int64_t axis = op.getAxis(), rank = dims.size();
  SmallVector<int64_t> kept = allBut(rank, axis < 0 ? axis + rank : axis);
  Type type = getComputeType(getElementType(data));
  Scalars &builder = kernel.builder();

  Value greatest =
      kernel.reduce(dims, {data}, kept, builder.number(type, -INFINITY),
                    [](Scalars &s, ValueRange x) { return s.max(x[1], x[0]); });
  Access perRow(greatest, kept);
  if (isLog) {
    Value sums = kernel.reduce(
        dims, {data, perRow}, kept, builder.number(type, 0),
        [](Scalars &s, ValueRange x) {
          return s.add(x[2], math::ExpOp::create(s, s.sub(x[0], x[1])));
        });
    return kernel.yield(kernel.map({data, perRow, {sums, kept}}, destination,
                                   [](Scalars &s, ValueRange x) {
                                     return s.sub(s.sub(x[0], x[1]),
                                                  math::LogOp::create(s, x[2]));
                                   }));
  }
  Value powers = kernel.map({data, perRow}, kernel.accumulator(destination),
                            [](Scalars &s, ValueRange x) -> Value {
                              return math::ExpOp::create(s, s.sub(x[0], x[1]));
                            });
  Value sums =
      kernel.reduce(dims, {powers}, kept, builder.number(type, 0),
                    [](Scalars &s, ValueRange x) { return s.add(x[1], x[0]); });
  return kernel.yield(kernel.update(
      powers, {{sums, kept}}, destination,
      [](Scalars &s, ValueRange x) { return s.div(x[0], x[1]); }));
}

//===----------------------------------------------------------------------===//
// Mean and variance
//===----------------------------------------------------------------------===//

namespace {

/// An element is normalized by `(x - origin) * scale + offset`; each is a
/// tensor on some of the data's loops. A null `origin` or `offset` is not
/// needed.
struct Normalizer {
  Value origin, scale, offset;
  SmallVector<int64_t> loops;
};

} // namespace

static SymExprAttr countElements(KernelBuilder &kernel,
                                 ArrayRef<SymExprAttr> dims,
                                 ArrayRef<int64_t> axes) {
  SymExprAttr count = kernel.constant(1);
  for (int64_t axis : axes)
    count = kernel.math().mul(count, dims[axis]);
  return count;
}

/// Moments over `axes` for each position of the others.
static Moments getMoments(KernelBuilder &kernel, Value data,
                          ArrayRef<int64_t> axes) {
  SymDims dims(kernel.dims(data));
  Type type = getComputeType(getElementType(data));
  return Moments::of(kernel, data, allBut(dims.size(), axes),
                     toFloat(kernel, countElements(kernel, dims, axes), type));
}

/// The rounding error of a spread, relative to the square of the largest
/// element.
static double roundingOfSpread(Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  return std::ldexp(1.0, -3 * int(APFloat::semanticsPrecision(semantics)));
}

/// From moments: `(x - origin) * unit - shift`, divided by the root of `spread`
/// plus epsilon, both in that unit.
static Normalizer toNormalizer(KernelBuilder &kernel, const Moments &moments,
                               double epsilon) {
  SymDims dims(kernel.dims(moments.origin));
  Type type = getElementType(moments.origin);
  Value root =
      kernel.map({moments.unit, moments.spread}, kernel.empty(dims, type),
                 [&](Scalars &s, ValueRange x) {
                   Value square = s.mul(x[0], x[0]);
                   Value sum =
                       s.add(x[1], s.mul(square, s.number(type, epsilon)));
                   // In the unit of large elements epsilon may underflow. A
                   // spread of zero (equal elements) must not give an infinite
                   // scale: below this limit a spread is indistinguishable from
                   // rounding errors.
                   if (epsilon > 0)
                     sum = s.max(sum, s.number(type, roundingOfSpread(type)));
                   return math::RsqrtOp::create(s, sum);
                 });
  Value scale =
      kernel.map({root, moments.unit}, kernel.empty(dims, type),
                 [](Scalars &s, ValueRange x) { return s.mul(x[0], x[1]); });
  Value offset =
      kernel.map({root, moments.shift}, kernel.empty(dims, type),
                 [&](Scalars &s, ValueRange x) {
                   return s.sub(s.number(type, 0), s.mul(x[0], x[1]));
                 });
  return {moments.origin, scale, offset, moments.kept};
}

/// Normalized elements times gamma plus beta, if present; both follow the loops
/// `affine`.
static Value normalize(KernelBuilder &kernel, Value data,
                       const Normalizer &normalizer, Value gamma, Value beta,
                       ArrayRef<int64_t> affine) {
  SmallVector<Access> reads{data,
                            {normalizer.origin, normalizer.loops},
                            {normalizer.scale, normalizer.loops}};
  if (normalizer.offset)
    reads.push_back({normalizer.offset, normalizer.loops});
  for (Value operand : {gamma, beta})
    if (operand)
      reads.push_back({kernel.inputOrNumber(operand), affine});
  Type type = getComputeType(getElementType(data));
  return kernel.map(reads, kernel.destination(), [&](Scalars &s, ValueRange x) {
    Value result = s.mul(s.sub(x[0], x[1]), x[2]);
    unsigned next = 3;
    if (normalizer.offset)
      result = s.add(result, x[next++]);
    if (gamma)
      result = s.mul(result, s.convertFloat(x[next++], type));
    if (beta)
      result = s.add(result, s.convertFloat(x[next], type));
    return result;
  });
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

static LogicalResult layerNorm(LayerNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SmallVector<int64_t> axes = getAxes(op.getAxes(), kernel.dims(data).size());
  Normalizer normalizer = toNormalizer(kernel, getMoments(kernel, data, axes),
                                       op.getEpsilon().convertToDouble());
  return kernel.yield(
      normalize(kernel, data, normalizer, op.getGamma(), op.getBeta(), axes));
}

static LogicalResult rmsNorm(RMSNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<int64_t> axes = getAxes(op.getAxes(), dims.size()),
                       kept = allBut(dims.size(), axes);
  Type type = getComputeType(getElementType(data));
  Value count = toFloat(kernel, countElements(kernel, dims, axes), type);
  MeanSquare squares = MeanSquare::of(kernel, data, kept);
  SmallVector<Access> sums = squares.reads();
  Value scale =
      kernel.map(sums, kernel.empty(SymDims(kernel.dims(squares.sum)), type),
                 [&](Scalars &s, ValueRange x) {
                   return MeanSquare::rsqrt(s, x.drop_back(), count,
                                            op.getEpsilon().convertToDouble());
                 });
  SmallVector<Access> reads{data, {scale, kept}};
  if (op.getWeight())
    reads.push_back({kernel.inputOrNumber(op.getWeight()), axes});
  return kernel.yield(
      kernel.map(reads, kernel.destination(), [&](Scalars &s, ValueRange x) {
        Value result = s.mul(x[0], x[1]);
        return op.getWeight() ? s.mul(result, s.convertFloat(x[2], type))
                              : result;
      }));
}

static LogicalResult instanceNorm(InstanceNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t rank = kernel.dims(data).size(), channel = op.getChannelAxis();
  Normalizer normalizer = toNormalizer(
      kernel, getMoments(kernel, data, getAxes(op.getAxes(), rank)),
      op.getEpsilon().convertToDouble());
  return kernel.yield(normalize(kernel, data, normalizer, op.getGamma(),
                                op.getBeta(),
                                channel < 0 ? channel + rank : channel));
}

static LogicalResult groupNorm(GroupNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<int64_t> axes = getAxes(op.getAxes(), dims.size()),
                       kept = allBut(dims.size(), axes);
  int64_t channel =
      getAxes(ArrayRef<int64_t>(op.getChannelAxis()), dims.size())[0];
  Type type = getComputeType(getElementType(data));
  SymBuilder &math = kernel.math();
  SymExprAttr groups = kernel.constant(op.getNumGroups());
  if (kernel.prover().divisible(dims[channel], groups) != Truth::Yes)
    kernel.requireEqual(math.mod(dims[channel], groups), kernel.constant(0),
                        "num_groups must divide the channels");
  SymExprAttr perGroup = math.floordiv(dims[channel], groups);
  SmallVector<int64_t> counted(axes);
  counted.push_back(channel);
  SymDims countedDims(dims);
  countedDims[channel] = perGroup;
  Value count =
      toFloat(kernel, countElements(kernel, countedDims, counted), type);

  Moments moments =
      Moments::ofGroups(kernel, data, kept, channel, groups, perGroup, count);
  return kernel.yield(normalize(
      kernel, data,
      toNormalizer(kernel, moments, op.getEpsilon().convertToDouble()),
      op.getGamma(), op.getBeta(), channel));
}

static LogicalResult batchNorm(BatchNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  int64_t channel = getAxes(ArrayRef<int64_t>(op.getAxis()), dims.size())[0];
  Type type = getComputeType(getElementType(data));
  double epsilon = op.getEpsilon().convertToDouble(),
         momentum = op.getMomentum().convertToDouble();
  auto toScale = [&](Value variance) {
    return kernel.map(
        {variance}, kernel.empty(SymDims(kernel.dims(variance)), type),
        [&](Scalars &s, ValueRange x) {
          return math::RsqrtOp::create(s, s.add(x[0], s.number(type, epsilon)));
        });
  };
  auto normalizeWith = [&](const Normalizer &normalizer) {
    return normalize(kernel, data, normalizer, op.getGamma(), op.getBeta(),
                     channel);
  };
  if (!op.getTraining()) {
    SmallVector<Value> results;
    Value variance = kernel.input(op.getMovingVar());
    results.push_back(normalizeWith(
        {kernel.input(op.getMovingMean()), toScale(variance), {}, {channel}}));
    Value kept[] = {op.getMovingMean(), op.getMovingVar()};
    for (auto [index, operand] : llvm::enumerate(kept)) {
      if (operand.getType() == op->getResult(index + 1).getType() &&
          canForward(operand, op))
        kernel.forward(index + 1, operand);
      else
        results.push_back(
            kernel.move(kernel.input(operand), kernel.destination(index + 1)));
    }
    return kernel.yield(results);
  }
  Moments moments = getMoments(kernel, data, allBut(dims.size(), channel));
  auto moved = [&](Value moving, KernelBuilder::Body body, Value destination) {
    SmallVector<Access> reads{kernel.input(moving), moments.origin,
                              moments.unit, moments.shift, moments.spread};
    return kernel.map(reads, destination, [&](Scalars &s, ValueRange x) {
      Value old = s.mul(x[0], s.number(type, 1.0 - momentum));
      return s.add(old,
                   s.mul(body(s, x.slice(1, 4)), s.number(type, momentum)));
    });
  };
  return kernel.yield(
      {normalizeWith(toNormalizer(kernel, moments, epsilon)),
       moved(op.getMovingMean(), Moments::mean, kernel.destination(1)),
       moved(op.getMovingVar(), Moments::variance, kernel.destination(2))});
}

void relax::populateNormalizationKernels(KernelRegistry &registry) {
  registry.add<SoftmaxOp>(softmax<SoftmaxOp, false>);
  registry.add<LogSoftmaxOp>(softmax<LogSoftmaxOp, true>);
  registry.add<LayerNormOp>(layerNorm);
  registry.add<RMSNormOp>(rmsNorm);
  registry.add<GroupNormOp>(groupNorm);
  registry.add<InstanceNormOp>(instanceNorm);
  registry.add<BatchNormOp>(batchNorm);
}
