//===- Pooling.cpp - kernels of pooling -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows are reduced over data padded with the neutral element. A mean is a
// sum divided by the number of elements that count, which follows from the
// position of the window. Windows of adaptive pooling differ in size: they are
// loops within each element.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Pooling.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/Running.h"
#include "Transforms/Legalize/SlidingWindows.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

namespace {

/// The layouts of the operand and the result of a pooling op.
struct Layouts {
  template <typename OpT>
  Layouts(OpT op, int64_t spatial) {
    std::string letters = "NC" + getSpatialLetters(spatial).str();
    data = layoutOf(op, op.getLayout(), letters);
    result = layoutOf(op, op.getOutLayout().value_or(op.getLayout()), letters);
  }
  Layout data, result;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sliding windows
//===----------------------------------------------------------------------===//

namespace {

/// Pooling by windows of equal size.
template <typename OpT>
class WindowPool {
public:
  WindowPool(OpT op, KernelBuilder &kernel, int64_t spatial)
      : op(op), kernel(kernel), layouts(op, spatial),
        data(kernel.input(op.getData())),
        windows(windowsOf(op, op.getStrides(), op.getPadding(),
                          op.getDilation(), spatial)) {
    ArrayRef<int64_t> sizes = op.getPoolSize();
    SymDims dims = toCanonical(kernel.dims(data), layouts.data);
    SymDims result =
        toCanonical(kernel.dims(kernel.destination()), layouts.result);
    for (auto [index, window] : llvm::enumerate(windows)) {
      window.kernel =
          kernel.constant(sizes.size() == 1 ? sizes[0] : sizes[index]);
      extents.push_back(dims[2 + index]);
      counts.push_back(result[2 + index]);
      kernel.require(CmpIPredicate::sle, kernel.constant(1), counts.back(),
                     "the window does not fit along '" +
                         getSpatialLetters(spatial).substr(index, 1) + "'");
    }
  }

  /// Reduces all elements under each window into `init`.
  Value reduce(Value padding, Value init, KernelBuilder::Body combine);
  /// The number of elements that count under the window at the current
  /// position.
  Value divisor(Scalars &s);

private:
  OpT op;
  KernelBuilder &kernel;
  Layouts layouts;
  Value data;
  SmallVector<Window, 3> windows;
  SymDims extents, counts;
};

} // namespace

template <typename OpT>
Value WindowPool<OpT>::reduce(Value padding, Value init,
                              KernelBuilder::Body combine) {
  MLIRContext *context = op.getContext();
  int64_t rank = layouts.data.size(), loops = rank + windows.size();
  Value padded =
      padForWindows(kernel, data, layouts.data, windows, counts, padding);
  SmallVector<AffineExpr> reads(rank), taps;
  SymDims shape;
  for (int64_t letter = 0; letter < rank; ++letter) {
    AffineExpr &read = reads[layouts.data[letter]];
    read = getAffineDimExpr(layouts.result[letter], context);
    if (letter < 2)
      continue;
    const Window &window = windows[letter - 2];
    taps.push_back(getAffineDimExpr(rank + letter - 2, context));
    shape.push_back(window.kernel);
    read = read * window.stride + taps.back() * window.dilation;
  }
  // An unread operand whose shape gives the number of taps.
  Value window = kernel.empty(shape, IntegerType::get(context, 1));
  AffineMap maps[] = {
      AffineMap::get(loops, 0, reads, context),
      AffineMap::get(loops, 0, taps, context),
      AffineMap::getMultiDimIdentityMap(loops, context).getMajorSubMap(rank)};
  return affineNest(kernel, {padded, window}, init, maps,
                    [&](Scalars &s, ValueRange x) {
                      Value element = s.convertFloat(x[0], x[2].getType());
                      return combine(s, {element, x[2]});
                    });
}

template <typename OpT>
Value WindowPool<OpT>::divisor(Scalars &s) {
  Value all;
  for (auto [index, window] : llvm::enumerate(windows)) {
    Value taps = s.index(*window.kernel.getConstantValue());
    bool isWhole = window.before == 0 && window.after == 0 && !op.getCeilMode();
    Value counted = taps;
    if (!isWhole) {
      Value zero = s.index(0), dilation = s.index(window.dilation);
      Value start = s.sub(
          s.mul(s.position(layouts.result[2 + index]), s.index(window.stride)),
          s.index(window.before));
      // The range of taps that count.
      Value first = zero, end = kernel.size(extents[index]);
      if (op.getCountIncludePad())
        end = s.add(end, s.index(window.after));
      else
        first = s.max(
            zero, arith::CeilDivSIOp::create(s, s.sub(zero, start), dilation));
      Value behind = s.min(
          taps, arith::CeilDivSIOp::create(s, s.sub(end, start), dilation));
      counted = s.max(zero, s.sub(behind, first));
    }
    all = all ? s.mul(all, counted) : counted;
  }
  return all;
}

template <typename OpT>
static LogicalResult maxPool(OpT op, KernelBuilder &kernel, int64_t spatial) {
  WindowPool<OpT> pool(op, kernel, spatial);
  Scalars &s = kernel.builder();
  Value destination = kernel.destination();
  Type type = getElementType(destination);
  bool isUnsigned = isUnsignedElement(getElementType(op.getData()));
  Value least;
  if (isa<FloatType>(type))
    least = s.number(type, -INFINITY);
  else if (isUnsigned)
    least = s.number(type, 0);
  else
    least =
        s.number(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
  Value init = kernel.fill(destination, least);
  if (hasNoElement(kernel.dims(destination)))
    return kernel.yield(init);
  return kernel.yield(pool.reduce(least, init, [&](Scalars &s, ValueRange x) {
    return s.max(x[0], x[1], isUnsigned);
  }));
}

template <typename OpT>
static LogicalResult avgPool(OpT op, KernelBuilder &kernel, int64_t spatial) {
  WindowPool<OpT> pool(op, kernel, spatial);
  Scalars &s = kernel.builder();
  Value destination = kernel.destination();
  Type type = getElementType(destination);
  if (hasNoElement(kernel.dims(destination)))
    return kernel.yield(kernel.fill(destination, s.number(type, 0)));
  Value sum = kernel.accumulator(destination);
  sum = kernel.fill(sum, s.number(getElementType(sum), 0));
  sum =
      pool.reduce(s.number(getElementType(kernel.input(op.getData())), 0), sum,
                  [](Scalars &s, ValueRange x) { return s.add(x[0], x[1]); });
  auto divide = [&](Scalars &s, ValueRange x) -> Value {
    Value count =
        arith::IndexCastOp::create(s, s.getI64Type(), pool.divisor(s));
    return s.div(x[0], arith::SIToFPOp::create(s, x[0].getType(), count));
  };
  // If the sum is the destination itself, divide in place.
  if (sum.getType() == destination.getType())
    return kernel.yield(kernel.map({}, sum, divide));
  return kernel.yield(kernel.map(Access(sum), destination, divide));
}

//===----------------------------------------------------------------------===//
// Adaptive pooling
//===----------------------------------------------------------------------===//

/// Adds the elements of `data` from `first` to `end` along each axis to an
/// accumulator in the compute type; `position` holds the other dimensions.
static SmallVector<Value> sumBetween(Scalars &s, Value data,
                                     MutableArrayRef<Value> position,
                                     ArrayRef<int64_t> axes,
                                     ArrayRef<Value> first, ArrayRef<Value> end,
                                     ValueRange sum) {
  if (axes.empty()) {
    Value element = tensor::ExtractOp::create(s, data, position);
    return Running{}.next(s, sum, s.convertFloat(element, sum[0].getType()));
  }
  auto loop = scf::ForOp::create(
      s, first[0], end[0], s.index(1), sum,
      [&](OpBuilder &builder, Location loc, Value index, ValueRange state) {
        Scalars inner(loc, builder);
        position[axes[0]] = index;
        SmallVector<Value> next =
            sumBetween(inner, data, position, axes.drop_front(),
                       first.drop_front(), end.drop_front(), state);
        scf::YieldOp::create(inner, next);
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

template <typename OpT>
static LogicalResult adaptivePool(OpT op, KernelBuilder &kernel,
                                  int64_t spatial) {
  Layouts layouts(op, spatial);
  Value data = kernel.input(op.getData()), destination = kernel.destination();
  int64_t rank = spatial + 2;
  // Each dimension of `data` follows the result loop of the same letter.
  SmallVector<int64_t> loops(rank);
  for (int64_t letter = 0; letter < rank; ++letter)
    loops[layouts.data[letter]] = layouts.result[letter];
  if (!op.getOutputSizeAttr())
    return kernel.yield(kernel.move(Access(data, loops), destination));

  SymDims from = toCanonical(kernel.dims(data), layouts.data);
  SymDims to = toCanonical(kernel.dims(destination), layouts.result);
  for (int64_t axis = 0; axis < spatial; ++axis)
    kernel.requireAny(
        {{CmpIPredicate::eq, to[2 + axis], kernel.constant(0)},
         {CmpIPredicate::sle, kernel.constant(1), from[2 + axis]}},
        "data is empty along '" + getSpatialLetters(spatial).substr(axis, 1) +
            "', it cannot be pooled to " + to[2 + axis].str());
  auto average = [&](Scalars &s, ValueRange now) -> Value {
    Type type = getComputeType(getElementType(data));
    SmallVector<Value> position(rank), first, end;
    SmallVector<int64_t> axes;
    Value count;
    for (int64_t letter = 0; letter < rank; ++letter) {
      Value at = now[layouts.result[letter]];
      int64_t dimension = layouts.data[letter];
      position[dimension] = at;
      if (letter < 2)
        continue;
      Value have = kernel.size(from[letter]), wanted = kernel.size(to[letter]);
      Value start = s.mul(at, have);
      axes.push_back(dimension);
      first.push_back(arith::FloorDivSIOp::create(s, start, wanted));
      end.push_back(arith::CeilDivSIOp::create(s, s.add(start, have), wanted));
      Value length = s.sub(end.back(), first.back());
      count = count ? s.mul(count, length) : length;
    }
    Running running;
    Value sum =
        running.value(s, sumBetween(s, data, position, axes, first, end,
                                    running.start(s, s.number(type, 0))));
    Value number = arith::IndexCastOp::create(s, s.getI64Type(), count);
    return s.div(sum, arith::SIToFPOp::create(s, type, number));
  };
  return kernel.yield(kernel.generate(destination, average));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void relax::populatePoolingKernels(KernelRegistry &registry) {
  registry.add<MaxPool1DOp>(
      [](auto op, auto &kernel) { return maxPool(op, kernel, 1); });
  registry.add<MaxPool2DOp>(
      [](auto op, auto &kernel) { return maxPool(op, kernel, 2); });
  registry.add<MaxPool3DOp>(
      [](auto op, auto &kernel) { return maxPool(op, kernel, 3); });
  registry.add<AvgPool1DOp>(
      [](auto op, auto &kernel) { return avgPool(op, kernel, 1); });
  registry.add<AvgPool2DOp>(
      [](auto op, auto &kernel) { return avgPool(op, kernel, 2); });
  registry.add<AvgPool3DOp>(
      [](auto op, auto &kernel) { return avgPool(op, kernel, 3); });
  registry.add<AdaptiveAvgPool1DOp>(
      [](auto op, auto &kernel) { return adaptivePool(op, kernel, 1); });
  registry.add<AdaptiveAvgPool2DOp>(
      [](auto op, auto &kernel) { return adaptivePool(op, kernel, 2); });
  registry.add<AdaptiveAvgPool3DOp>(
      [](auto op, auto &kernel) { return adaptivePool(op, kernel, 3); });
}
