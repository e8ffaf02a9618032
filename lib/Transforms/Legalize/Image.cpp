//===- Image.cpp - kernels that pad and resize ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of the result computes the positions of the operand's elements
// that it depends on. Coordinates are f64, so whole numbers are exact.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Image.h"
#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/SlidingWindows.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Checks the conditions of the mode on the padding of an axis.
static void requirePadWidth(KernelBuilder &kernel, StringRef mode,
                            SymExprAttr extent, SymExprAttr width) {
  SymExprAttr zero = kernel.constant(0), one = kernel.constant(1);
  std::string text = "padding with mode '" + mode.str() + "' must be ";
  kernel.require(CmpIPredicate::sle, zero, width, text + "at least 0");
  Guard::Comparison isNothing{CmpIPredicate::eq, width, zero};
  if (mode == "reflect")
    kernel.requireAny({isNothing, {CmpIPredicate::slt, width, extent}},
                      text + "less than the size, " + extent.str());
  else if (mode == "circular")
    kernel.requireAny({isNothing, {CmpIPredicate::sle, width, extent}},
                      text + "at most the size, " + extent.str());
  else
    kernel.requireAny({isNothing, {CmpIPredicate::sle, one, extent}},
                      text + "0 where the size is 0");
}

/// Maps a position outside of an axis to one inside.
static Value wrap(Scalars &s, StringRef mode, Value at, Value size) {
  Value zero = s.index(0), one = s.index(1);
  if (mode == "replicate")
    return s.min(s.max(at, zero), s.sub(size, one));
  Value isBefore = s.compare(CmpIPredicate::slt, at, zero);
  Value isBehind = s.compare(CmpIPredicate::sge, at, size);
  bool reflects = mode == "reflect";
  Value end = s.sub(size, one);
  Value before = reflects ? s.sub(zero, at) : s.add(at, size);
  Value behind = reflects ? s.sub(s.add(end, end), at) : s.sub(at, size);
  return s.select(isBefore, before, s.select(isBehind, behind, at));
}

static LogicalResult pad(PadOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()), destination = kernel.destination();
  Type type = getElementType(destination);
  StringRef mode = op.getPadMode();
  SymDims dims(kernel.dims(data)), padded(kernel.dims(destination));
  SmallVector<SymExprAttr> widths =
      llvm::map_to_vector(op.getPadWidth(), [](Attribute width) {
        return cast<SymExprAttr>(width);
      });
  for (auto [axis, dim] : llvm::enumerate(dims))
    if (mode == "constant")
      kernel.require(CmpIPredicate::sle, kernel.constant(0), padded[axis],
                     "pad_width crops more than there is");
    else
      for (SymExprAttr width : {widths[2 * axis], widths[2 * axis + 1]})
        requirePadWidth(kernel, mode, dim, width);

  auto filling = [&](Scalars &s) -> Value {
    Attribute value = op.getPadValueAttr();
    if (auto number = dyn_cast_or_null<FloatAttr>(value))
      return s.number(type, number.getValueAsDouble());
    if (auto number = dyn_cast_or_null<IntegerAttr>(value))
      return s.number(
          type, number.getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
    return s.number(type, 0);
  };
  auto element = [&](Scalars &s, ValueRange position) -> Value {
    Values source;
    Value isInside;
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      SymExprAttr before = widths[2 * axis], after = widths[2 * axis + 1];
      Value at = position[axis];
      if (!before.isConstant(0))
        at = s.sub(at, kernel.size(before));
      else if (after.isConstant(0)) {
        source.push_back(at);
        continue;
      }
      Value size = kernel.size(dim);
      if (mode == "constant") {
        Value inAxis = s.both(s.compare(CmpIPredicate::sge, at, s.index(0)),
                              s.compare(CmpIPredicate::slt, at, size));
        isInside = isInside ? s.both(isInside, inAxis) : inAxis;
      } else {
        at = wrap(s, mode, at, size);
      }
      source.push_back(at);
    }
    auto read = [&](OpBuilder &builder, Location loc) -> Value {
      return tensor::ExtractOp::create(builder, loc, data, source);
    };
    if (!isInside)
      return read(s, s.getLoc());
    auto choice = scf::IfOp::create(
        s, isInside,
        [&](OpBuilder &builder, Location loc) {
          scf::YieldOp::create(builder, loc, read(builder, loc));
        },
        [&](OpBuilder &builder, Location loc) {
          Scalars s(loc, builder);
          scf::YieldOp::create(s, filling(s));
        });
    return choice.getResult(0);
  };
  return kernel.yield(kernel.generate(destination, element));
}

//===----------------------------------------------------------------------===//
// Pixel shuffling
//===----------------------------------------------------------------------===//

static LogicalResult pixelShuffle(PixelShuffleOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t factor = op.getUpscaleFactor(), rank = kernel.dims(data).size();
  SymExprAttr channels = kernel.dims(data)[rank - 3];
  SymExprAttr area = kernel.constant(factor * factor);
  if (kernel.prover().divisible(channels, area) != Truth::Yes)
    kernel.requireEqual(kernel.math().mod(channels, area), kernel.constant(0),
                        "the channels of data must be a multiple of "
                        "upscale_factor squared, " +
                            area.str() + ": " + channels.str());
  auto element = [&](Scalars &s, ValueRange position) -> Value {
    Value scale = s.index(factor);
    auto whole = [&](Value value) -> Value {
      return arith::DivUIOp::create(s, value, scale);
    };
    auto rest = [&](Value value) -> Value {
      return arith::RemUIOp::create(s, value, scale);
    };
    Values source(position);
    Value &channel = source[rank - 3], &y = source[rank - 2],
          &x = source[rank - 1];
    channel = s.add(s.mul(channel, scale), rest(y));
    channel = s.add(s.mul(channel, scale), rest(x));
    y = whole(y);
    x = whole(x);
    return tensor::ExtractOp::create(s, data, source);
  };
  return kernel.yield(kernel.generate(kernel.destination(), element));
}

//===----------------------------------------------------------------------===//
// Resizing
//===----------------------------------------------------------------------===//

namespace {

/// A coordinate along one axis: an element, and the distance to the next one as
/// the fraction `part / of`, in f64.
struct Place {
  Value whole, part, of;
};

/// The elements along one axis that contribute to a result element.
struct Taps {
  Values positions;
  Values weights;  // in f64; empty if only the nearest element counts
  Value isOutside; // null if it is never outside
};

class Resize {
public:
  Resize(Resize2DOp op, KernelBuilder &kernel)
      : op(op), kernel(kernel), layout(layoutOf(op, op.getLayout(), "NCHW")),
        data(kernel.input(op.getData())) {
    from = toCanonical(kernel.dims(data), layout);
    to = toCanonical(kernel.dims(kernel.destination()), layout);
  }

  LogicalResult run();

private:
  Value element(Scalars &s, ValueRange position);
  Place placeOf(Scalars &s, Value at, int64_t axis, Taps &taps);
  Value roundToNearest(Scalars &s, const Place &place);
  Taps findTaps(Scalars &s, Value at, int64_t axis);
  void findCubicWeights(Scalars &s, Value fraction, Taps &taps);

  Resize2DOp op;
  KernelBuilder &kernel;
  Layout layout;
  Value data;
  SymDims from, to;
};

} // namespace

/// Converts an index to a float.
static Value toNumber(Scalars &s, Value index) {
  return arith::SIToFPOp::create(
      s, s.getF64Type(), arith::IndexCastOp::create(s, s.getI64Type(), index));
}

static Value numberOf(Scalars &s, double value) {
  return s.number(s.getF64Type(), value);
}

/// The coordinate in the data of result position `at`. Fractions of integers
/// are kept as integers: float division may be inexact on a GPU, which would
/// resolve ties between two elements wrongly.
Place Resize::placeOf(Scalars &s, Value at, int64_t axis, Taps &taps) {
  StringRef mode = op.getCoordinateTransformationMode();
  Value have = kernel.size(from[2 + axis]), wanted = kernel.size(to[2 + axis]);
  Value zero = s.index(0), one = s.index(1), two = s.index(2);
  Value isOne = s.compare(CmpIPredicate::sle, wanted, one);
  // `align_corners` measures between the last elements; avoid a division by
  // zero.
  Value steps = s.select(isOne, one, s.sub(wanted, one));
  Value last = s.sub(have, one);
  if (mode == "tf_crop_and_resize") {
    Value end = toNumber(s, last);
    Value low = s.mul(numberOf(s, op.getRoi()[axis]), end);
    Value high = s.mul(numberOf(s, op.getRoi()[2 + axis]), end);
    Value distance = s.mul(toNumber(s, at), s.sub(high, low));
    Value where = s.select(isOne, s.mul(numberOf(s, 0.5), s.add(low, high)),
                           s.add(low, s.div(distance, toNumber(s, steps))));
    taps.isOutside =
        s.either(s.compare(CmpFPredicate::OLT, where, numberOf(s, 0)),
                 s.compare(CmpFPredicate::OGT, where, end));
    Value floor = math::FloorOp::create(s, where);
    Value whole = s.toIndex(s.saturate(floor, s.getI64Type()));
    return {whole, s.sub(where, floor), numberOf(s, 1)};
  }
  Value numerator, denominator = s.mul(two, wanted);
  if (mode == "asymmetric") {
    numerator = s.mul(at, have);
    denominator = wanted;
  } else if (mode == "align_corners") {
    numerator = s.mul(at, last);
    denominator = steps;
  } else {
    numerator = s.mul(s.add(s.mul(two, at), one), have);
    if (mode != "tf_half_pixel_for_nn")
      numerator = s.sub(numerator, wanted);
    if (mode == "pytorch_half_pixel")
      numerator = s.select(isOne, zero, numerator);
  }
  Value whole = arith::FloorDivSIOp::create(s, numerator, denominator);
  Value rest = s.sub(numerator, s.mul(whole, denominator));
  return {whole, toNumber(s, rest), toNumber(s, denominator)};
}

Value Resize::roundToNearest(Scalars &s, const Place &place) {
  StringRef method = op.getRoundingMethod();
  if (method == "floor")
    return place.whole;
  Value isUp, twice = s.add(place.part, place.part);
  if (method == "ceil")
    isUp = s.compare(CmpFPredicate::OGT, place.part, numberOf(s, 0));
  else if (method == "round_prefer_ceil")
    isUp = s.compare(CmpFPredicate::OGE, twice, place.of);
  else
    isUp = s.compare(CmpFPredicate::OGT, twice, place.of);
  if (method == "round") { // ties to even
    Value one = s.index(1);
    Value isOdd = s.compare(CmpIPredicate::eq,
                            arith::AndIOp::create(s, place.whole, one), one);
    isUp = s.either(
        isUp, s.both(s.compare(CmpFPredicate::OEQ, twice, place.of), isOdd));
  }
  return s.select(isUp, s.add(place.whole, s.index(1)), place.whole);
}

/// Weights of the cubic spline through four elements, at `fraction` after the
/// second.
void Resize::findCubicWeights(Scalars &s, Value fraction, Taps &taps) {
  double alpha = op.getCubicAlpha().convertToDouble();
  Value one = numberOf(s, 1);
  // ((a * d + b) * d + c) * d + e
  auto polynomial = [&](Value d, double a, double b, double c, double e) {
    Value sum = s.add(s.mul(numberOf(s, a), d), numberOf(s, b));
    sum = s.add(s.mul(sum, d), numberOf(s, c));
    return s.add(s.mul(sum, d), numberOf(s, e));
  };
  auto inner = [&](Value d) {
    return polynomial(d, alpha + 2, -(alpha + 3), 0, 1);
  };
  auto outer = [&](Value d) {
    return polynomial(d, alpha, -5 * alpha, 8 * alpha, -4 * alpha);
  };
  Value rest = s.sub(one, fraction);
  taps.weights = {outer(s.add(fraction, one)), inner(fraction), inner(rest),
                  outer(s.add(rest, one))};
}

Taps Resize::findTaps(Scalars &s, Value at, int64_t axis) {
  Taps taps;
  Place place = placeOf(s, at, axis, taps);
  Value zero = s.index(0),
        last = s.sub(kernel.size(from[2 + axis]), s.index(1));
  auto clamp = [&](Value index) { return s.min(s.max(index, zero), last); };
  if (op.getMethod() == "nearest_neighbor") {
    taps.positions = {clamp(roundToNearest(s, place))};
    return taps;
  }
  Value fraction = s.div(place.part, place.of), base = place.whole;
  if (op.getMethod() == "linear") {
    taps.positions = {clamp(base), clamp(s.add(base, s.index(1)))};
    taps.weights = {s.sub(numberOf(s, 1), fraction), fraction};
    return taps;
  }
  findCubicWeights(s, fraction, taps);
  Value sum;
  for (int64_t tap = 0; tap < 4; ++tap) {
    Value index = s.add(base, s.index(tap - 1)), inside = clamp(index);
    taps.positions.push_back(inside);
    if (!op.getCubicExclude())
      continue;
    Value &weight = taps.weights[tap];
    weight = s.select(s.compare(CmpIPredicate::eq, index, inside), weight,
                      numberOf(s, 0));
    sum = sum ? s.add(sum, weight) : weight;
  }
  if (sum)
    for (Value &weight : taps.weights)
      weight = s.div(weight, sum);
  return taps;
}

Value Resize::element(Scalars &s, ValueRange position) {
  Type have = getElementType(op.getData()),
       wanted = getElementType(op.getResult());
  Taps y = findTaps(s, position[layout[2]], 0),
       x = findTaps(s, position[layout[3]], 1);
  auto read = [&](Value atY, Value atX) -> Value {
    Values source(position);
    source[layout[2]] = atY;
    source[layout[3]] = atX;
    return tensor::ExtractOp::create(s, data, source);
  };
  Value result;
  if (y.weights.empty()) {
    result = s.convert(read(y.positions[0], x.positions[0]), have, wanted);
    result = s.convertFloat(result, getComputeType(result.getType()));
  } else {
    // Integers that are not exact in f32 are summed in f64.
    bool isWide = have.isF64() ||
                  (isa<IntegerType>(have) && have.getIntOrFloatBitWidth() > 16);
    Type compute = isWide ? s.getF64Type() : Type(s.getF32Type());
    for (auto [atY, weightY] : llvm::zip(y.positions, y.weights)) {
      Value row;
      for (auto [atX, weightX] : llvm::zip(x.positions, x.weights)) {
        Value term = s.mul(s.convert(read(atY, atX), have, compute),
                           s.convertFloat(weightX, compute));
        row = row ? s.add(row, term) : term;
      }
      row = s.mul(row, s.convertFloat(weightY, compute));
      result = result ? s.add(result, row) : row;
    }
    if (isa<IntegerType>(wanted))
      result = s.saturate(math::RoundEvenOp::create(s, result), wanted);
    else
      result = s.convertFloat(result, getComputeType(wanted));
  }
  if (!y.isOutside)
    return result;
  double extrapolated = op.getExtrapolationValue().convertToDouble();
  return s.select(s.either(y.isOutside, x.isOutside),
                  s.number(result.getType(), extrapolated), result);
}

LogicalResult Resize::run() {
  for (int64_t axis : {0, 1})
    kernel.requireAny(
        {{CmpIPredicate::eq, to[2 + axis], kernel.constant(0)},
         {CmpIPredicate::sle, kernel.constant(1), from[2 + axis]}},
        "data is empty along '" + getSpatialLetters(2).substr(axis, 1) +
            "', it cannot be resized to " + to[2 + axis].str());
  return kernel.yield(kernel.generate(
      kernel.destination(),
      [&](Scalars &s, ValueRange position) { return element(s, position); }));
}

static LogicalResult resize(Resize2DOp op, KernelBuilder &kernel) {
  return Resize(op, kernel).run();
}

void relax::populateImageKernels(KernelRegistry &registry) {
  registry.add<PadOp>(pad);
  registry.add<PixelShuffleOp>(pixelShuffle);
  registry.add<Resize2DOp>(resize);
}
