//===- Elementwise.cpp - kernels of element-wise ops ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line for each op that maps to an op of arith or math, else a small
// function on elements. The file is long because there are some 90 of these
// ops.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Elementwise.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// From a function of elements to a kernel
//===----------------------------------------------------------------------===//

/// The graph element type of the first operand.
static Type elementOf(Operation *op) {
  return getElementType(op->getOperand(0));
}
static bool isUnsigned(Operation *op) {
  return isUnsignedElement(elementOf(op));
}

/// `body` computes an element from the operands' elements.
template <typename OpT>
static void elementwise(KernelRegistry &registry,
                        Value (*body)(OpT, Scalars &, ValueRange)) {
  registry.add<OpT>([body](OpT op, KernelBuilder &kernel) {
    SmallVector<Access> reads;
    for (Value operand : op->getOperands())
      reads.push_back(kernel.inputOrNumber(operand));
    return kernel.yield(kernel.map(reads, kernel.destination(),
                                   [&](Scalars &scalars, ValueRange elements) {
                                     return body(op, scalars,
                                                 elements.drop_back());
                                   }));
  });
}

/// Ops that map to one op for floats and one for integers.
template <typename OpT, typename FloatOp, typename IntOp = FloatOp>
static void direct(KernelRegistry &registry) {
  elementwise<OpT>(registry, [](OpT, Scalars &s, ValueRange x) -> Value {
    if constexpr (!std::is_same_v<FloatOp, IntOp>)
      if (!isa<FloatType>(x[0].getType()))
        return s.createOrFold<IntOp>(s.getLoc(), x);
    return s.createOrFold<FloatOp>(s.getLoc(), x);
  });
}

/// Ops that map to a float op and are the identity on integers.
template <typename OpT, typename FloatOp>
static void rounding(KernelRegistry &registry) {
  elementwise<OpT>(registry, [](OpT, Scalars &s, ValueRange x) -> Value {
    if (!isa<FloatType>(x[0].getType()))
      return x[0];
    return FloatOp::create(s, x[0]);
  });
}

template <typename OpT, CmpFPredicate onFloats, CmpIPredicate onSigned,
          CmpIPredicate onUnsigned>
static void comparison(KernelRegistry &registry) {
  elementwise<OpT>(registry, [](OpT op, Scalars &s, ValueRange x) -> Value {
    if (isa<FloatType>(x[0].getType()))
      return s.compare(onFloats, x[0], x[1]);
    return s.compare(isUnsigned(op) ? onUnsigned : onSigned, x[0], x[1]);
  });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Value abs(AbsOp op, Scalars &s, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return math::AbsFOp::create(s, x[0]);
  if (isUnsigned(op))
    return x[0];
  return s.max(x[0], s.sub(s.number(x[0].getType(), 0), x[0]));
}

static Value negative(NegativeOp, Scalars &s, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::NegFOp::create(s, x[0]);
  return s.sub(s.number(x[0].getType(), 0), x[0]);
}

static Value sign(SignOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  Value zero = s.number(type, 0), one = s.number(type, 1);
  if (isa<FloatType>(type)) {
    Value minusOne = s.number(type, -1);
    Value isZero = s.compare(CmpFPredicate::OEQ, x[0], zero);
    Value rest = s.select(isZero, zero, x[0]); // NaN stays
    rest = s.select(s.compare(CmpFPredicate::OLT, x[0], zero), minusOne, rest);
    return s.select(s.compare(CmpFPredicate::OGT, x[0], zero), one, rest);
  }
  if (isUnsigned(op))
    return s.select(s.compare(CmpIPredicate::ne, x[0], zero), one, zero);
  Value rest = s.select(s.compare(CmpIPredicate::slt, x[0], zero),
                        s.number(type, -1), zero);
  return s.select(s.compare(CmpIPredicate::sgt, x[0], zero), one, rest);
}

static Value square(SquareOp, Scalars &s, ValueRange x) {
  return s.mul(x[0], x[0]);
}

static Value clip(ClipOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  auto bound = [&](Attribute attribute) {
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return s.convertFloat(s.number(elementOf(op), number.getValueAsDouble()),
                            type);
    return s.number(type, cast<IntegerAttr>(attribute).getValue().sextOrTrunc(
                              type.getIntOrFloatBitWidth()));
  };
  Value result = x[0];
  if (Attribute min = op.getMinAttr())
    result = s.max(result, bound(min), isUnsigned(op));
  if (Attribute max = op.getMaxAttr())
    result = s.min(result, bound(max), isUnsigned(op));
  return result;
}

static Value astype(AstypeOp op, Scalars &s, ValueRange x) {
  Type to = cast<TensorType>(op.getType()).getElementType();
  return s.convert(x[0], elementOf(op), to);
}

static Value divide(DivideOp op, Scalars &s, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return s.div(x[0], x[1]);
  return s.quotient(x[0], x[1], isUnsigned(op));
}

static Value mod(ModOp op, Scalars &s, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::RemFOp::create(s, x[0], x[1]);
  return s.remainder(x[0], x[1], isUnsigned(op));
}

/// Whether a nonzero remainder differs in sign from the divisor.
static Value isOpposite(Scalars &s, Value remainder, Value divisor) {
  Type type = remainder.getType();
  Value zero = s.number(type, 0);
  auto isNegative = [&](Value value) {
    return isa<FloatType>(type) ? s.compare(CmpFPredicate::OLT, value, zero)
                                : s.compare(CmpIPredicate::slt, value, zero);
  };
  Value isNonZero = isa<FloatType>(type)
                        ? s.compare(CmpFPredicate::ONE, remainder, zero)
                        : s.compare(CmpIPredicate::ne, remainder, zero);
  Value differ =
      arith::XOrIOp::create(s, isNegative(remainder), isNegative(divisor));
  return s.both(isNonZero, differ);
}

static Value floorMod(FloorModOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  if (!isa<FloatType>(type)) {
    Value rest = s.remainder(x[0], x[1], isUnsigned(op));
    if (isUnsigned(op))
      return rest;
    return s.select(isOpposite(s, rest, x[1]), s.add(rest, x[1]), rest);
  }
  Value rest = arith::RemFOp::create(s, x[0], x[1]);
  Value moved = s.select(isOpposite(s, rest, x[1]), s.add(rest, x[1]), rest);
  // A zero takes the sign of the divisor.
  Value isZero = s.compare(CmpFPredicate::OEQ, rest, s.number(type, 0));
  Value zero = s.select(s.compare(CmpFPredicate::OLT, x[1], s.number(type, 0)),
                        s.number(type, -0.0), s.number(type, 0));
  return s.select(isZero, zero, moved);
}

/// `size`, which is nonnegative, with the sign of another float, which may be
/// zero.
static Value withSign(Scalars &s, double size, Value other) {
  Type type = other.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = s.getIntegerType(width);
  Value sign =
      arith::AndIOp::create(s, arith::BitcastOp::create(s, integer, other),
                            s.number(integer, APInt::getSignMask(width)));
  Value bits = arith::BitcastOp::create(s, integer, s.number(type, size));
  return arith::BitcastOp::create(s, type, arith::OrIOp::create(s, bits, sign));
}

static Value floorDivide(FloorDivideOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  if (!isa<FloatType>(type)) {
    Value quotient = s.quotient(x[0], x[1], isUnsigned(op));
    if (isUnsigned(op))
      return quotient;
    Value rest = s.sub(x[0], s.mul(quotient, x[1]));
    Value isZero = s.compare(CmpIPredicate::eq, x[1], s.number(type, 0));
    Value down = s.both(isOpposite(s, rest, x[1]), s.negate(isZero));
    return s.select(down, s.sub(quotient, s.number(type, 1)), quotient);
  }
  // Computed from the exact remainder, since rounding the quotient could
  // increase it. For infinities and NaN the remainder is NaN.
  Value rest = arith::RemFOp::create(s, x[0], x[1]);
  Value exact = s.div(s.sub(x[0], rest), x[1]);
  Value down = s.select(isOpposite(s, rest, x[1]),
                        s.sub(exact, s.number(type, 1)), exact);
  Value whole = math::RoundEvenOp::create(s, down);
  // A zero takes the sign of the quotient; division by zero gives the quotient.
  Value quotient = s.div(x[0], x[1]), zero = s.number(type, 0);
  Value isZero = s.compare(CmpFPredicate::OEQ, whole, zero);
  whole = s.select(isZero, withSign(s, 0, quotient), whole);
  return s.select(s.compare(CmpFPredicate::OEQ, x[1], zero), quotient, whole);
}

/// Exponentiation by squaring, from the lowest bit of the exponent. A negative
/// power truncates to zero, except for bases 1 and -1, where the same bits give
/// the right result.
static Value power(PowerOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  if (isa<FloatType>(type))
    return math::PowFOp::create(s, x[0], x[1]);
  Value zero = s.number(type, 0), one = s.number(type, 1);
  auto loop = scf::WhileOp::create(
      s, TypeRange{type, type, type}, ValueRange{one, x[0], x[1]},
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        Scalars inner(loc, builder);
        Value more = inner.compare(CmpIPredicate::ne, state[2], zero);
        scf::ConditionOp::create(inner, more, state);
      },
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        Scalars inner(loc, builder);
        Value bit = arith::AndIOp::create(inner, state[2], one);
        Value isSet = inner.compare(CmpIPredicate::ne, bit, zero);
        Value result =
            inner.select(isSet, inner.mul(state[0], state[1]), state[0]);
        Value base = inner.mul(state[1], state[1]);
        Value rest = arith::ShRUIOp::create(inner, state[2], one);
        scf::YieldOp::create(inner, ValueRange{result, base, rest});
      });
  Value result = loop.getResult(0);
  if (isUnsigned(op))
    return result;
  Value isNegative = s.compare(CmpIPredicate::slt, x[1], zero);
  // An unsigned x + 1 is at most 2 for x = 0, 1 and -1.
  Value isLarge =
      s.compare(CmpIPredicate::ugt, s.add(x[0], one), s.number(type, 2));
  Value isNone = s.either(isLarge, s.compare(CmpIPredicate::eq, x[0], zero));
  return s.select(s.both(isNegative, isNone), zero, result);
}

static Value maximum(MaximumOp op, Scalars &s, ValueRange x) {
  return s.max(x[0], x[1], isUnsigned(op));
}

static Value minimum(MinimumOp op, Scalars &s, ValueRange x) {
  return s.min(x[0], x[1], isUnsigned(op));
}

/// MLIR folds atan2(0, 0) to NaN: use the angle of (1, 0) or (-1, 0).
static Value angle(Atan2Op, Scalars &s, ValueRange x) {
  Value zero = s.number(x[0].getType(), 0);
  Value areZeros = s.both(s.compare(CmpFPredicate::OEQ, x[0], zero),
                          s.compare(CmpFPredicate::OEQ, x[1], zero));
  Value side = withSign(s, 1, x[1]);
  return math::Atan2Op::create(s, x[0], s.select(areZeros, side, x[1]));
}

static Value logAddExp(LogAddExpOp, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  Value greater = s.max(x[0], x[1]);
  Value distance = math::AbsFOp::create(s, s.sub(x[0], x[1]));
  Value rest = math::Log1pOp::create(
      s, math::ExpOp::create(s, arith::NegFOp::create(s, distance)));
  // Subtracting equal infinities would give NaN.
  Value areEqual = s.compare(CmpFPredicate::OEQ, x[0], x[1]);
  return s.add(greater,
               s.select(areEqual, s.number(type, 0.6931471805599453), rest));
}

static Value leftShift(LeftShiftOp, Scalars &s, ValueRange x) {
  return s.shiftLeft(x[0], x[1]);
}

static Value rightShift(RightShiftOp op, Scalars &s, ValueRange x) {
  return s.shiftRight(x[0], x[1], isUnsigned(op));
}

static Value multiplyAdd(EwiseFMAOp, Scalars &s, ValueRange x) {
  return s.add(s.mul(x[0], x[1]), x[2]);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value relu(ReluOp op, Scalars &s, ValueRange x) {
  return s.max(x[0], s.number(x[0].getType(), 0), isUnsigned(op));
}

static Value scaleNegative(Scalars &s, Value x, Value slope) {
  Value isPositive = s.compare(CmpFPredicate::OGT, x, s.number(x.getType(), 0));
  return s.select(isPositive, x, s.mul(x, slope));
}

static Value leakyRelu(LeakyReluOp op, Scalars &s, ValueRange x) {
  return scaleNegative(
      s, x[0], s.number(x[0].getType(), op.getAlpha().convertToDouble()));
}

static Value logistic(Scalars &s, Value x) {
  Value one = s.number(x.getType(), 1);
  Value decay = math::ExpOp::create(s, arith::NegFOp::create(s, x));
  return s.div(one, s.add(one, decay));
}

static Value sigmoid(SigmoidOp, Scalars &s, ValueRange x) {
  return logistic(s, x[0]);
}

static Value silu(SiluOp, Scalars &s, ValueRange x) {
  return s.mul(x[0], logistic(s, x[0]));
}

/// `x * (1 + gate) / 2`
static Value gated(Scalars &s, Value x, Value gate) {
  Type type = x.getType();
  return s.mul(s.mul(x, s.number(type, 0.5)), s.add(gate, s.number(type, 1)));
}

static Value gelu(GeluOp, Scalars &s, ValueRange x) {
  Value scaled = s.mul(x[0], s.number(x[0].getType(), 0.7071067811865476));
  return gated(s, x[0], math::ErfOp::create(s, scaled));
}

static Value geluTanh(GeluTanhOp, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  Value cube = s.mul(s.mul(x[0], x[0]), x[0]);
  Value inner = s.add(x[0], s.mul(cube, s.number(type, 0.044715)));
  Value scaled = s.mul(inner, s.number(type, 0.7978845608028654));
  return gated(s, x[0], math::TanhOp::create(s, scaled));
}

static Value selu(SeluOp, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  constexpr double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  Value isPositive = s.compare(CmpFPredicate::OGT, x[0], s.number(type, 0));
  Value negative =
      s.mul(math::ExpM1Op::create(s, x[0]), s.number(type, scale * alpha));
  return s.select(isPositive, s.mul(x[0], s.number(type, scale)), negative);
}

static Value softplus(SoftplusOp op, Scalars &s, ValueRange x) {
  Type type = x[0].getType();
  Value beta = s.number(type, op.getBeta().convertToDouble());
  Value scaled = s.mul(x[0], beta);
  Value isLinear =
      s.compare(CmpFPredicate::OGT, scaled,
                s.number(type, op.getThreshold().convertToDouble()));
  Value curve =
      s.div(math::Log1pOp::create(s, math::ExpOp::create(s, scaled)), beta);
  return s.select(isLinear, x[0], curve);
}

/// `min(max(x + 3, 0), 6) / 6`
static Value ramp(Scalars &s, Value x) {
  Type type = x.getType();
  Value lifted = s.max(s.add(x, s.number(type, 3)), s.number(type, 0));
  return s.div(s.min(lifted, s.number(type, 6)), s.number(type, 6));
}

static Value hardSigmoid(HardSigmoidOp, Scalars &s, ValueRange x) {
  return ramp(s, x[0]);
}

static Value hardSwish(HardSwishOp, Scalars &s, ValueRange x) {
  return s.mul(x[0], ramp(s, x[0]));
}

static LogicalResult prelu(PReluOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  int64_t rank = kernel.dims(data).size(), axis = op.getAxis();
  axis = axis < 0 ? axis + rank : axis;
  Access alpha = kernel.inputOrNumber(op.getAlpha());
  alpha.loops = SmallVector<int64_t>{axis}; // broadcasts along it
  return kernel.yield(kernel.map(
      {kernel.inputOrNumber(op.getData()), alpha}, kernel.destination(),
      [](Scalars &s, ValueRange x) { return scaleNegative(s, x[0], x[1]); }));
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

static Value bitwiseNot(BitwiseNotOp, Scalars &s, ValueRange x) {
  unsigned width = x[0].getType().getIntOrFloatBitWidth();
  return arith::XOrIOp::create(
      s, x[0], s.number(x[0].getType(), APInt::getAllOnes(width)));
}

static Value logicalNot(LogicalNotOp, Scalars &s, ValueRange x) {
  return s.negate(x[0]);
}

static Value compareMagnitude(Scalars &s, CmpFPredicate predicate, Value x) {
  Value infinity = s.number(x.getType(), INFINITY);
  return s.compare(predicate, math::AbsFOp::create(s, x), infinity);
}

static Value isFinite(IsFiniteOp, Scalars &s, ValueRange x) {
  return compareMagnitude(s, CmpFPredicate::OLT, x[0]);
}

static Value isInf(IsInfOp, Scalars &s, ValueRange x) {
  return compareMagnitude(s, CmpFPredicate::OEQ, x[0]);
}

static Value isNan(IsNanOp, Scalars &s, ValueRange x) {
  return s.compare(CmpFPredicate::UNO, x[0], x[0]);
}

static Value where(WhereOp, Scalars &s, ValueRange x) {
  return s.select(x[0], x[1], x[2]);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void populateUnary(KernelRegistry &registry) {
  elementwise<AbsOp>(registry, abs);
  elementwise<NegativeOp>(registry, negative);
  elementwise<SignOp>(registry, sign);
  elementwise<SquareOp>(registry, square);
  direct<SqrtOp, math::SqrtOp>(registry);
  direct<RsqrtOp, math::RsqrtOp>(registry);

  rounding<CeilOp, math::CeilOp>(registry);
  rounding<FloorOp, math::FloorOp>(registry);
  rounding<RoundOp, math::RoundEvenOp>(registry);
  rounding<TruncOp, math::TruncOp>(registry);

  direct<ExpOp, math::ExpOp>(registry);
  direct<Exp2Op, math::Exp2Op>(registry);
  direct<Expm1Op, math::ExpM1Op>(registry);
  direct<LogOp, math::LogOp>(registry);
  direct<Log2Op, math::Log2Op>(registry);
  direct<Log1pOp, math::Log1pOp>(registry);

  direct<CosOp, math::CosOp>(registry);
  direct<SinOp, math::SinOp>(registry);
  direct<TanOp, math::TanOp>(registry);
  direct<AcosOp, math::AcosOp>(registry);
  direct<AsinOp, math::AsinOp>(registry);
  direct<AtanOp, math::AtanOp>(registry);
  direct<CoshOp, math::CoshOp>(registry);
  direct<SinhOp, math::SinhOp>(registry);
  direct<TanhOp, math::TanhOp>(registry);
  direct<AcoshOp, math::AcoshOp>(registry);
  direct<AsinhOp, math::AsinhOp>(registry);
  direct<AtanhOp, math::AtanhOp>(registry);
  direct<ErfOp, math::ErfOp>(registry);

  elementwise<ReluOp>(registry, relu);
  elementwise<LeakyReluOp>(registry, leakyRelu);
  elementwise<SigmoidOp>(registry, sigmoid);
  elementwise<SiluOp>(registry, silu);
  elementwise<GeluOp>(registry, gelu);
  elementwise<GeluTanhOp>(registry, geluTanh);
  elementwise<SeluOp>(registry, selu);
  elementwise<SoftplusOp>(registry, softplus);
  elementwise<HardSigmoidOp>(registry, hardSigmoid);
  elementwise<HardSwishOp>(registry, hardSwish);

  elementwise<BitwiseNotOp>(registry, bitwiseNot);
  elementwise<LogicalNotOp>(registry, logicalNot);
  elementwise<IsFiniteOp>(registry, isFinite);
  elementwise<IsInfOp>(registry, isInf);
  elementwise<IsNanOp>(registry, isNan);
  elementwise<AstypeOp>(registry, astype);
  elementwise<ClipOp>(registry, clip);
}

static void populateBinary(KernelRegistry &registry) {
  direct<AddOp, arith::AddFOp, arith::AddIOp>(registry);
  direct<SubtractOp, arith::SubFOp, arith::SubIOp>(registry);
  direct<MultiplyOp, arith::MulFOp, arith::MulIOp>(registry);
  elementwise<DivideOp>(registry, divide);
  elementwise<FloorDivideOp>(registry, floorDivide);
  elementwise<FloorModOp>(registry, floorMod);
  elementwise<ModOp>(registry, mod);
  elementwise<PowerOp>(registry, power);
  elementwise<MaximumOp>(registry, maximum);
  elementwise<MinimumOp>(registry, minimum);
  elementwise<Atan2Op>(registry, angle);
  elementwise<LogAddExpOp>(registry, logAddExp);

  direct<BitwiseAndOp, arith::AndIOp>(registry);
  direct<BitwiseOrOp, arith::OrIOp>(registry);
  direct<BitwiseXorOp, arith::XOrIOp>(registry);
  elementwise<LeftShiftOp>(registry, leftShift);
  elementwise<RightShiftOp>(registry, rightShift);
  direct<LogicalAndOp, arith::AndIOp>(registry);
  direct<LogicalOrOp, arith::OrIOp>(registry);
  direct<LogicalXorOp, arith::XOrIOp>(registry);

  comparison<EqualOp, CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq>(
      registry);
  comparison<NotEqualOp, CmpFPredicate::UNE, CmpIPredicate::ne,
             CmpIPredicate::ne>(registry);
  comparison<LessOp, CmpFPredicate::OLT, CmpIPredicate::slt,
             CmpIPredicate::ult>(registry);
  comparison<LessEqualOp, CmpFPredicate::OLE, CmpIPredicate::sle,
             CmpIPredicate::ule>(registry);
  comparison<GreaterOp, CmpFPredicate::OGT, CmpIPredicate::sgt,
             CmpIPredicate::ugt>(registry);
  comparison<GreaterEqualOp, CmpFPredicate::OGE, CmpIPredicate::sge,
             CmpIPredicate::uge>(registry);
}

void relax::populateElementwiseKernels(KernelRegistry &registry) {
  populateUnary(registry);
  populateBinary(registry);
  registry.add<PReluOp>(prelu);
  elementwise<WhereOp>(registry, where);
  elementwise<EwiseFMAOp>(registry, multiplyAdd);
}
