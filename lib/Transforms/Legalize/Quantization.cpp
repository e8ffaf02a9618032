//===- Quantization.cpp - kernels of quantized tensors --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Quantization.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::relax;

using Scalars = ScalarBuilder;

/// The accesses: the data, then scale and zero point along the axis.
template <typename OpT>
static SmallVector<Access> getReads(OpT op, KernelBuilder &kernel) {
  SmallVector<Access> reads{kernel.inputOrNumber(op.getData())};
  int64_t axis = getAxis(
      op.getAxis(), cast<RankedTensorType>(op.getData().getType()).getRank());
  for (Value operand : {Value(op.getScale()), Value(op.getZeroPoint())}) {
    if (!operand)
      continue;
    int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    reads.push_back({kernel.inputOrNumber(operand),
                     rank == 0 ? ArrayRef<int64_t>() : ArrayRef(axis)});
  }
  return reads;
}

/// Converts a number of the graph type `from` to a compute type.
static Value toFloat(Scalars &s, Value value, Type from, Type type) {
  if (isa<FloatType>(value.getType()))
    return s.convertFloat(value, type);
  return s.convert(value, from, type);
}

/// The smallest or the largest number of `to`, as a number of `type`.
static Value getBound(Scalars &s, FloatType type, FloatType to,
                      bool isGreatest) {
  APFloat bound = APFloat::getLargest(to.getFloatSemantics(), !isGreatest);
  bool losesInfo;
  bound.convert(type.getFloatSemantics(), APFloat::rmTowardZero, &losesInfo);
  return arith::ConstantOp::create(s, s.getFloatAttr(type, bound));
}

static LogicalResult quantize(QuantizeOp op, KernelBuilder &kernel) {
  using Predicate = arith::CmpFPredicate;
  Type to = getElementType(op.getResult()), data = getElementType(op.getData());
  // f32 represents 24-bit integers exactly.
  FloatType type = cast<FloatType>(getComputeType(data));
  if (to.getIntOrFloatBitWidth() > 16)
    type = Float64Type::get(op.getContext());
  return kernel.yield(kernel.map(
      getReads(op, kernel), kernel.destination(),
      [&](Scalars &s, ValueRange x) -> Value {
        Value scaled =
            s.div(s.convertFloat(x[0], type), s.convertFloat(x[1], type));
        Value whole = math::RoundEvenOp::create(s, scaled);
        if (op.getZeroPoint())
          whole = s.add(
              whole, toFloat(s, x[2], getElementType(op.getZeroPoint()), type));
        auto small = dyn_cast<FloatType>(to);
        if (!small)
          return s.saturate(whole, to);
        // With this order of comparison and selection, NaN passes through.
        Value low = getBound(s, type, small, false);
        Value high = getBound(s, type, small, true);
        whole = s.select(s.compare(Predicate::OLT, whole, low), low, whole);
        return s.select(s.compare(Predicate::OGT, whole, high), high, whole);
      }));
}

/// lhs - rhs as a float, where either has 64 bits and the difference up to 66:
/// computed from the 64-bit distance, a carry bit, and the order of the
/// operands.
static Value subtractLong(Scalars &s, Value lhs, Type lhsFrom, Value rhs,
                          Type rhsFrom, Type type) {
  using Predicate = arith::CmpIPredicate;
  Type i64 = s.getI64Type();
  auto number = [&](uint64_t bits) { return s.number(i64, APInt(64, bits)); };
  // A shorter integer is extended to a signed 64-bit one.
  auto isLong = [](Type from) {
    return isUnsignedElement(from) && from.getIntOrFloatBitWidth() == 64;
  };
  lhs = s.convert(lhs, lhsFrom, i64);
  rhs = s.convert(rhs, rhsFrom, i64);
  bool isMixed = isLong(lhsFrom) != isLong(rhsFrom);
  Value isLess;
  if (!isMixed) {
    isLess =
        s.compare(isLong(lhsFrom) ? Predicate::ult : Predicate::slt, lhs, rhs);
  } else if (isLong(lhsFrom)) {
    isLess = s.both(s.compare(Predicate::sge, rhs, number(0)),
                    s.compare(Predicate::ult, lhs, rhs));
  } else {
    isLess = s.either(s.compare(Predicate::slt, lhs, number(0)),
                      s.compare(Predicate::ult, lhs, rhs));
  }
  Value distance = s.select(isLess, s.sub(rhs, lhs), s.sub(lhs, rhs));
  Type unsignedType =
      IntegerType::get(s.getContext(), 64, IntegerType::Unsigned);
  Value real;
  if (isMixed) {
    // Adds an unsigned number and the absolute value of a negative one.
    Value whole = isLong(lhsFrom) ? lhs : rhs;
    Value other = isLong(lhsFrom) ? rhs : lhs;
    Value carries = s.both(s.compare(Predicate::slt, other, number(0)),
                           s.compare(Predicate::ult, distance, whole));
    // Halve it, with a sticky last bit for rounding.
    Value half = arith::ShRUIOp::create(s, distance, number(1));
    half = arith::OrIOp::create(s, half,
                                arith::AndIOp::create(s, distance, number(1)));
    half = arith::OrIOp::create(s, half, number(uint64_t(1) << 63));
    real = s.convert(s.select(carries, half, distance), unsignedType, type);
    real = s.mul(real,
                 s.select(carries, s.number(type, 2.0), s.number(type, 1.0)));
  } else {
    real = s.convert(distance, unsignedType, type);
  }
  return s.select(isLess, arith::NegFOp::create(s, real), real);
}

static LogicalResult dequantize(DequantizeOp op, KernelBuilder &kernel) {
  Type data = getElementType(op.getData());
  Type type = getComputeType(getElementType(op.getResult()));
  Type zero = op.getZeroPoint() ? getElementType(op.getZeroPoint()) : Type();
  bool isWhole = isa<IntegerType>(data) && (!zero || isa<IntegerType>(zero));
  return kernel.yield(kernel.map(
      getReads(op, kernel), kernel.destination(),
      [&](Scalars &s, ValueRange x) {
        Value difference = x[0];
        if (isWhole) {
          // The difference needs one more bit, and a sign.
          unsigned width = data.getIntOrFloatBitWidth();
          if (zero)
            width = std::max(width, zero.getIntOrFloatBitWidth());
          Type wide = s.getIntegerType(width < 31 ? 32 : 64);
          if (!zero) {
            difference = s.convert(difference, data, type);
          } else if (width == 64) {
            difference = subtractLong(s, difference, data, x[2], zero, type);
          } else {
            difference = s.sub(s.convert(difference, data, wide),
                               s.convert(x[2], zero, wide));
            difference = s.convert(difference, wide, type);
          }
        } else {
          difference = toFloat(s, difference, data, type);
          if (zero)
            difference = s.sub(difference, toFloat(s, x[2], zero, type));
        }
        return s.mul(difference, s.convertFloat(x[1], type));
      }));
}

void relax::populateQuantizationKernels(KernelRegistry &registry) {
  registry.add<QuantizeOp>(quantize);
  registry.add<DequantizeOp>(dequantize);
}
