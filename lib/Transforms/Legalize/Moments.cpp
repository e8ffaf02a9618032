//===- Moments.cpp - stable mean and variance -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/Moments.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using Scalars = ScalarBuilder;

Value relax::toFloat(KernelBuilder &kernel, SymExprAttr count, Type type) {
  Scalars &s = kernel.builder();
  Value integer =
      arith::IndexCastOp::create(s, s.getI64Type(), kernel.size(count));
  return arith::SIToFPOp::create(s, type, integer);
}

/// Whether squares of all finite elements, and sums of them, are finite in
/// `type`.
static bool squaresFit(Type element, Type type) {
  const llvm::fltSemantics &narrow =
                               cast<FloatType>(element).getFloatSemantics(),
                           &wide = cast<FloatType>(type).getFloatSemantics();
  return 3 * APFloat::semanticsMaxExponent(narrow) <
         APFloat::semanticsMaxExponent(wide);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// A power of two near 1 / `greatest`, small enough that its square and the
/// products with it cannot overflow.
static Value unitOf(Scalars &s, Value greatest) {
  auto type = cast<FloatType>(greatest.getType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  unsigned width = type.getWidth();
  int64_t bias = APFloat::semanticsMaxExponent(semantics);
  unsigned shift = APFloat::semanticsPrecision(semantics) - 1;
  Type integer = s.getIntegerType(width);
  auto field = [&](int64_t exponent) {
    return s.number(integer, APInt(width, exponent) << shift);
  };
  Value bits = arith::BitcastOp::create(s, integer, greatest);
  Value exponent = arith::AndIOp::create(s, bits, field(2 * bias + 1));
  // Clamp the unit to 2^(1 - bias) .. 2^(bias / 2 - 3).
  exponent = s.max(exponent, field(bias - (bias / 2 - 3)), true);
  exponent = s.min(exponent, field(2 * bias - 1), true);
  Value unit = arith::SubIOp::create(s, field(2 * bias), exponent);
  return arith::BitcastOp::create(s, type, unit);
}

/// 1 / `unit`, exactly.
static Value inverse(Scalars &s, Value unit) {
  return s.div(s.number(unit.getType(), 1), unit);
}

Value Moments::mean(Scalars &s, ValueRange m) {
  return s.add(m[0], s.mul(m[2], inverse(s, m[1])));
}

Value Moments::variance(Scalars &s, ValueRange m) {
  Value scale = inverse(s, m[1]);
  return s.mul(s.mul(m[3], scale), scale);
}

Value Moments::deviation(Scalars &s, ValueRange m) {
  return s.mul(math::SqrtOp::create(s, m[3]), inverse(s, m[1]));
}

SmallVector<Access> Moments::reads() const {
  return {{origin, kept}, {unit, kept}, {shift, kept}, {spread, kept}};
}

//===----------------------------------------------------------------------===//
// Two passes
//===----------------------------------------------------------------------===//

namespace {

/// The kept dimensions of statistics and the reduced ones.
struct TwoPasses {
  KernelBuilder &kernel;
  Value data;
  ArrayRef<int64_t> kept;
  Type type;
  SymDims keptDims;

  TwoPasses(KernelBuilder &kernel, Value data, ArrayRef<int64_t> kept)
      : kernel(kernel), data(data), kept(kept),
        type(getComputeType(getElementType(data))) {
    for (int64_t loop : kept)
      keptDims.push_back(kernel.dims(data)[loop]);
  }

  Value zeros() const {
    return kernel.fill(kernel.empty(keptDims, type),
                       kernel.builder().number(type, 0));
  }
  bool isScaled() const { return !squaresFit(getElementType(data), type); }

  /// Σ x, and max |x| if needed (else null).
  std::pair<Value, Value> first() const {
    SmallVector<Access> inits{{zeros(), kept}};
    if (isScaled())
      inits.push_back({zeros(), kept});
    SmallVector<Value> results = kernel.nest(
        SymDims(kernel.dims(data)), {data}, inits,
        [&](Scalars &s, ValueRange x) {
          SmallVector<Value> next{s.add(x[1], x[0])};
          if (x.size() > 2)
            next.push_back(s.max(x[2], math::AbsFOp::create(s, x[0])));
          return next;
        });
    return {results[0], results.size() > 1 ? results[1] : Value()};
  }

  /// Σ e and Σ e².
  std::pair<Value, Value> second(Value origin, Value unit) const {
    SmallVector<Value> results = kernel.nest(
        SymDims(kernel.dims(data)), {data, {origin, kept}, {unit, kept}},
        {{zeros(), kept}, {zeros(), kept}}, [](Scalars &s, ValueRange x) {
          Value distance = s.mul(s.sub(x[0], x[1]), x[2]);
          return SmallVector<Value>{s.add(x[3], distance),
                                    s.add(x[4], s.mul(distance, distance))};
        });
    return {results[0], results[1]};
  }

  Value each(ArrayRef<Value> from, KernelBuilder::Body body) const {
    return kernel.map(llvm::to_vector_of<Access>(from),
                      kernel.empty(keptDims, type), body);
  }
};

} // namespace

/// Rounding may make the difference negative.
static Value spreadOf(Scalars &s, Value squares, Value shift) {
  return s.max(s.sub(squares, s.mul(shift, shift)),
               s.number(shift.getType(), 0));
}

Moments Moments::of(KernelBuilder &kernel, Value data, ArrayRef<int64_t> kept,
                    Value count) {
  TwoPasses pass(kernel, data, kept);
  auto [sum, greatest] = pass.first();
  auto overCount = [](Scalars &s, ValueRange x) { return s.div(x[0], x[1]); };
  Moments m;
  m.kept = llvm::to_vector(kept);
  m.origin = pass.each({sum, count}, overCount);
  if (greatest)
    m.unit = pass.each(
        greatest, [](Scalars &s, ValueRange x) { return unitOf(s, x[0]); });
  else
    m.unit = kernel.fill(kernel.empty(pass.keptDims, pass.type),
                         kernel.builder().number(pass.type, 1));
  auto [distances, squares] = pass.second(m.origin, m.unit);
  m.shift = pass.each({distances, count}, overCount);
  m.spread = pass.each({squares, m.shift, count}, [](Scalars &s, ValueRange x) {
    return spreadOf(s, s.div(x[0], x[2]), x[1]);
  });
  return m;
}

/// Combines the moments of channels to moments of groups, and broadcasts these
/// to the channels: the data is read only by channel.
Moments Moments::ofGroups(KernelBuilder &kernel, Value data,
                          ArrayRef<int64_t> kept, int64_t channel,
                          SymExprAttr groups, SymExprAttr groupSize,
                          Value count) {
  TwoPasses pass(kernel, data, kept);
  Value size = kernel.size(groupSize);
  // The position of the channel among the kept dimensions; one more loop runs
  // over the channels of a group.
  int64_t place = llvm::find(kept, channel) - kept.begin();
  SymDims groupDims(pass.keptDims);
  groupDims[place] = groups;
  SymDims loops(groupDims);
  loops.push_back(groupSize);
  SmallVector<int64_t> outer =
      llvm::to_vector(llvm::seq<int64_t>(groupDims.size()));
  auto combine = [&](Value ofChannels,
                     function_ref<Value(Scalars &, Value, Value)> body) {
    return kernel.reduce(
        loops, {}, outer, kernel.builder().number(pass.type, 0),
        [&](Scalars &s, ValueRange x) {
          SmallVector<Value> position;
          for (int64_t loop : outer)
            position.push_back(s.position(loop));
          position[place] =
              s.add(s.mul(position[place], size), s.position(outer.size()));
          return body(s, x.back(),
                      tensor::ExtractOp::create(s, ofChannels, position));
        });
  };
  auto sumUp = [&](Value ofChannels) {
    return combine(ofChannels, [](Scalars &s, Value sum, Value x) {
      return s.add(sum, x);
    });
  };
  auto toChannels = [&](ArrayRef<Value> ofGroups, KernelBuilder::Body body) {
    return kernel.generate(
        kernel.empty(pass.keptDims, pass.type),
        [&](Scalars &s, ValueRange position) {
          SmallVector<Value> group(position), elements;
          group[place] = arith::DivUIOp::create(s, group[place], size);
          for (Value tensor : ofGroups)
            elements.push_back(tensor::ExtractOp::create(s, tensor, group));
          return body(s, elements);
        });
  };
  auto overCount = [&](Scalars &s, ValueRange x) { return s.div(x[0], count); };
  auto [sum, greatest] = pass.first();
  Moments m;
  m.kept = llvm::to_vector(kept);
  m.origin = toChannels(sumUp(sum), overCount);
  if (greatest)
    m.unit =
        toChannels(combine(greatest, [](Scalars &s, Value most,
                                        Value x) { return s.max(most, x); }),
                   [](Scalars &s, ValueRange x) { return unitOf(s, x[0]); });
  else
    m.unit = kernel.fill(kernel.empty(pass.keptDims, pass.type),
                         kernel.builder().number(pass.type, 1));
  auto [distances, squares] = pass.second(m.origin, m.unit);
  Value allDistances = sumUp(distances), allSquares = sumUp(squares);
  m.shift = toChannels(allDistances, overCount);
  m.spread =
      toChannels({allDistances, allSquares}, [&](Scalars &s, ValueRange x) {
        return spreadOf(s, s.div(x[1], count), s.div(x[0], count));
      });
  return m;
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

/// The power of two by which elements are scaled if their squares overflow; the
/// scaled squares are far from underflow.
static double reduction(Type type) {
  int64_t bias =
      APFloat::semanticsMaxExponent(cast<FloatType>(type).getFloatSemantics());
  return std::ldexp(1.0, -(5 * bias / 8));
}

SmallVector<Access> MeanSquare::reads() const {
  SmallVector<Access> reads{sum};
  if (reduced)
    reads.push_back(reduced);
  return reads;
}

MeanSquare MeanSquare::of(KernelBuilder &kernel, Value data,
                          ArrayRef<int64_t> kept) {
  TwoPasses pass(kernel, data, kept);
  SmallVector<Access> inits{{pass.zeros(), kept}};
  if (pass.isScaled())
    inits.push_back({pass.zeros(), kept});
  SmallVector<Value> results = kernel.nest(
      SymDims(kernel.dims(data)), {data}, inits, [&](Scalars &s, ValueRange x) {
        SmallVector<Value> next{s.add(x[1], s.mul(x[0], x[0]))};
        if (x.size() > 2) {
          Value small = s.mul(x[0], s.number(pass.type, reduction(pass.type)));
          next.push_back(s.add(x[2], s.mul(small, small)));
        }
        return next;
      });
  return {results[0], results.size() > 1 ? results[1] : Value()};
}

Value MeanSquare::rsqrt(Scalars &s, ValueRange sums, Value count,
                        double epsilon) {
  Type type = sums[0].getType();
  Value square = s.div(sums[0], count);
  Value root = math::RsqrtOp::create(s, s.add(square, s.number(type, epsilon)));
  if (sums.size() < 2)
    return root;
  double factor = reduction(type);
  Value smaller =
      s.add(s.div(sums[1], count), s.number(type, epsilon * factor * factor));
  Value other =
      s.mul(math::RsqrtOp::create(s, smaller), s.number(type, factor));
  Value isFinite =
      s.compare(CmpFPredicate::OLT, sums[0], s.number(type, INFINITY));
  return s.select(isFinite, root, other);
}
