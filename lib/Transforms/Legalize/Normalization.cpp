//===- Normalization.cpp - kernels of normalisation and softmax -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a kernel of a few nests: statistics, which are small, then one pass
// that computes the result. Variance is the mean of squared distances, in two
// passes, which loses nothing where the mean is large.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Normalization.h"
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

/// Mean, and one by the root of the variance and epsilon, each a tensor on some
/// of the loops of the data.
struct Statistics {
  Value mean, scale, variance;
  SmallVector<int64_t> loops;
};

} // namespace

/// A number of elements as a float.
static Value toFloat(KernelBuilder &kernel, SymExprAttr count, Type type) {
  Scalars &s = kernel.builder();
  Value integer =
      arith::IndexCastOp::create(s, s.getI64Type(), kernel.size(count));
  return arith::SIToFPOp::create(s, type, integer);
}

static SymExprAttr countElements(KernelBuilder &kernel,
                                 ArrayRef<SymExprAttr> dims,
                                 ArrayRef<int64_t> axes) {
  SymExprAttr count = kernel.constant(1);
  for (int64_t axis : axes)
    count = kernel.math().mul(count, dims[axis]);
  return count;
}

static Value rootScale(Scalars &s, Value variance, double epsilon) {
  Value moved = s.add(variance, s.number(variance.getType(), epsilon));
  return math::RsqrtOp::create(s, moved);
}

static Value sumSquaredDistances(KernelBuilder &kernel, Value data, Value mean,
                                 ArrayRef<int64_t> kept) {
  Type type = getElementType(mean);
  return kernel.reduce(SymDims(kernel.dims(data)), {data, {mean, kept}}, kept,
                       kernel.builder().number(type, 0),
                       [](Scalars &s, ValueRange x) {
                         Value distance = s.sub(x[0], x[1]);
                         return s.add(x[2], s.mul(distance, distance));
                       });
}

static Value sum(KernelBuilder &kernel, Value data, ArrayRef<int64_t> kept) {
  Type type = getComputeType(getElementType(data));
  return kernel.reduce(
      SymDims(kernel.dims(data)), {data}, kept,
      kernel.builder().number(type, 0),
      [](Scalars &s, ValueRange x) { return s.add(x[1], x[0]); });
}

/// Over `axes`, for each element of the others.
static Statistics getStatistics(KernelBuilder &kernel, Value data,
                                ArrayRef<int64_t> axes, double epsilon) {
  SymDims dims(kernel.dims(data));
  SmallVector<int64_t> kept = allBut(dims.size(), axes);
  Type type = getComputeType(getElementType(data));
  Value count = toFloat(kernel, countElements(kernel, dims, axes), type);
  auto overCount = [&](Value sums) {
    return kernel.map({count}, sums, [](Scalars &s, ValueRange x) {
      return s.div(x[1], x[0]);
    });
  };
  Value mean = overCount(sum(kernel, data, kept));
  Value variance = overCount(sumSquaredDistances(kernel, data, mean, kept));
  Value scale = kernel.map(
      {variance}, kernel.empty(SymDims(kernel.dims(variance)), type),
      [&](Scalars &s, ValueRange x) { return rootScale(s, x[0], epsilon); });
  return {mean, scale, variance, kept};
}

/// `(data - mean) * scale * gamma + beta`, where gamma and beta, if there are
/// any, follow the loops `affine`.
static Value normalize(KernelBuilder &kernel, Value data,
                       const Statistics &statistics, Value gamma, Value beta,
                       ArrayRef<int64_t> affine) {
  SmallVector<Access> reads{data,
                            {statistics.mean, statistics.loops},
                            {statistics.scale, statistics.loops}};
  for (Value operand : {gamma, beta})
    if (operand)
      reads.push_back({kernel.inputOrNumber(operand), affine});
  Type type = getComputeType(getElementType(data));
  return kernel.map(reads, kernel.destination(), [&](Scalars &s, ValueRange x) {
    Value result = s.mul(s.sub(x[0], x[1]), x[2]);
    unsigned next = 3;
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
  Statistics statistics =
      getStatistics(kernel, data, axes, op.getEpsilon().convertToDouble());
  return kernel.yield(
      normalize(kernel, data, statistics, op.getGamma(), op.getBeta(), axes));
}

static LogicalResult rmsNorm(RMSNormOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<int64_t> axes = getAxes(op.getAxes(), dims.size()),
                       kept = allBut(dims.size(), axes);
  Type type = getComputeType(getElementType(data));
  Value count = toFloat(kernel, countElements(kernel, dims, axes), type);
  Value squares = kernel.reduce(
      dims, {data}, kept, kernel.builder().number(type, 0),
      [](Scalars &s, ValueRange x) { return s.add(x[1], s.mul(x[0], x[0])); });
  Value scale = kernel.map({count}, squares, [&](Scalars &s, ValueRange x) {
    return rootScale(s, s.div(x[1], x[0]), op.getEpsilon().convertToDouble());
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
  Statistics statistics =
      getStatistics(kernel, data, getAxes(op.getAxes(), rank),
                    op.getEpsilon().convertToDouble());
  return kernel.yield(normalize(kernel, data, statistics, op.getGamma(),
                                op.getBeta(),
                                channel < 0 ? channel + rank : channel));
}

/// Sums of channels are added up to those of groups, and what is found of a
/// group is given to its channels again: the data is read by channels alone.
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
  Value groupSize = kernel.size(perGroup);
  SmallVector<int64_t> counted(axes);
  counted.push_back(channel);
  SymDims countedDims(dims);
  countedDims[channel] = perGroup;
  Value count =
      toFloat(kernel, countElements(kernel, countedDims, counted), type);

  // The place of the channel among the kept dimensions; one more loop for the
  // channels of a group.
  int64_t place = llvm::find(kept, channel) - kept.begin();
  SymDims groupDims, channelDims;
  for (int64_t loop : kept)
    channelDims.push_back(dims[loop]);
  groupDims = channelDims;
  groupDims[place] = groups;
  SymDims groupLoops(groupDims);
  groupLoops.push_back(perGroup);
  SmallVector<int64_t> outer =
      llvm::to_vector(llvm::seq<int64_t>(groupDims.size()));

  auto meanOfGroups = [&](Value sums) {
    Value totals = kernel.reduce(
        groupLoops, {}, outer, kernel.builder().number(type, 0),
        [&](Scalars &s, ValueRange x) {
          SmallVector<Value> position;
          for (int64_t loop : outer)
            position.push_back(s.position(loop));
          position[place] = s.add(s.mul(position[place], groupSize),
                                  s.position(outer.size()));
          Value sum = tensor::ExtractOp::create(s, sums, position);
          return s.add(x.back(), sum);
        });
    return totals;
  };
  auto toChannels = [&](Value totals,
                        function_ref<Value(Scalars &, Value)> body) {
    return kernel.generate(
        kernel.empty(channelDims, type), [&](Scalars &s, ValueRange position) {
          SmallVector<Value> group(position);
          group[place] = arith::DivUIOp::create(s, group[place], groupSize);
          Value total = tensor::ExtractOp::create(s, totals, group);
          return body(s, s.div(total, count));
        });
  };
  Statistics statistics;
  statistics.loops = kept;
  statistics.mean = toChannels(meanOfGroups(sum(kernel, data, kept)),
                               [](Scalars &, Value mean) { return mean; });
  Value squares = sumSquaredDistances(kernel, data, statistics.mean, kept);
  statistics.scale =
      toChannels(meanOfGroups(squares), [&](Scalars &s, Value variance) {
        return rootScale(s, variance, op.getEpsilon().convertToDouble());
      });
  return kernel.yield(normalize(kernel, data, statistics, op.getGamma(),
                                op.getBeta(), channel));
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
        [&](Scalars &s, ValueRange x) { return rootScale(s, x[0], epsilon); });
  };
  auto normalizeWith = [&](const Statistics &statistics) {
    return normalize(kernel, data, statistics, op.getGamma(), op.getBeta(),
                     channel);
  };
  if (!op.getTraining()) {
    SmallVector<Value> results;
    Value variance = kernel.input(op.getMovingVar());
    results.push_back(normalizeWith({kernel.input(op.getMovingMean()),
                                     toScale(variance),
                                     variance,
                                     {channel}}));
    Value kept[] = {op.getMovingMean(), op.getMovingVar()};
    for (auto [index, operand] : llvm::enumerate(kept)) {
      if (operand.getType() == op->getResult(index + 1).getType())
        kernel.forward(index + 1, operand);
      else
        results.push_back(
            kernel.move(kernel.input(operand), kernel.destination(index + 1)));
    }
    return kernel.yield(results);
  }
  Statistics statistics =
      getStatistics(kernel, data, allBut(dims.size(), channel), epsilon);
  auto moved = [&](Value moving, Value found, Value destination) {
    return kernel.map({kernel.input(moving), found}, destination,
                      [&](Scalars &s, ValueRange x) {
                        Value old = s.mul(x[0], s.number(type, 1.0 - momentum));
                        return s.add(old,
                                     s.mul(x[1], s.number(type, momentum)));
                      });
  };
  return kernel.yield(
      {normalizeWith(statistics),
       moved(op.getMovingMean(), statistics.mean, kernel.destination(1)),
       moved(op.getMovingVar(), statistics.variance, kernel.destination(2))});
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
