//===- Quantization.cpp - kernels of quantised tensors --------------------===//
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

/// What is read: the data, then scale and zero point along the axis.
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

/// A number of the graph's type `from` in a type that computes.
static Value toFloat(Scalars &s, Value value, Type from, Type type) {
  if (isa<FloatType>(value.getType()))
    return s.convertFloat(value, type);
  return s.convert(value, from, type);
}

/// The least or the greatest number of `to` that `type` can hold.
static Value getBound(Scalars &s, FloatType type, Type to, bool isGreatest) {
  APFloat bound(type.getFloatSemantics());
  if (auto number = dyn_cast<FloatType>(to)) {
    bound = APFloat::getLargest(number.getFloatSemantics(), !isGreatest);
    bool losesInfo;
    bound.convert(type.getFloatSemantics(), APFloat::rmTowardZero, &losesInfo);
  } else {
    unsigned width = to.getIntOrFloatBitWidth();
    bool isUnsigned = isUnsignedElement(to);
    APInt integer = isUnsigned ? (isGreatest ? APInt::getMaxValue(width)
                                             : APInt::getMinValue(width))
                               : (isGreatest ? APInt::getSignedMaxValue(width)
                                             : APInt::getSignedMinValue(width));
    bound.convertFromAPInt(integer, !isUnsigned, APFloat::rmTowardZero);
  }
  return arith::ConstantOp::create(s, s.getFloatAttr(type, bound));
}

static LogicalResult quantize(QuantizeOp op, KernelBuilder &kernel) {
  Type to = getElementType(op.getResult()), data = getElementType(op.getData());
  // f32 holds integers of 24 bits.
  FloatType type = cast<FloatType>(getComputeType(data));
  if (to.getIntOrFloatBitWidth() > 16)
    type = Float64Type::get(op.getContext());
  return kernel.yield(kernel.map(
      getReads(op, kernel), kernel.destination(),
      [&](Scalars &s, ValueRange x) {
        Value scaled =
            s.div(s.convertFloat(x[0], type), s.convertFloat(x[1], type));
        Value whole = math::RoundEvenOp::create(s, scaled);
        if (op.getZeroPoint())
          whole = s.add(
              whole, toFloat(s, x[2], getElementType(op.getZeroPoint()), type));
        // NaN becomes the least number: converting it is undefined.
        whole =
            arith::MaxNumFOp::create(s, whole, getBound(s, type, to, false));
        whole = arith::MinNumFOp::create(s, whole, getBound(s, type, to, true));
        return isa<FloatType>(to) ? whole : s.convert(whole, type, to);
      }));
}

static LogicalResult dequantize(DequantizeOp op, KernelBuilder &kernel) {
  Type data = getElementType(op.getData());
  Type type = getComputeType(getElementType(op.getResult()));
  return kernel.yield(kernel.map(
      getReads(op, kernel), kernel.destination(),
      [&](Scalars &s, ValueRange x) {
        Value difference = x[0];
        if (isa<IntegerType>(data)) {
          // The difference takes one bit more, and a sign.
          unsigned width = data.getIntOrFloatBitWidth();
          Type wide = s.getIntegerType(width < 31 ? 32 : 2 * width);
          difference = s.convert(difference, data, wide);
          if (op.getZeroPoint())
            difference =
                s.sub(difference,
                      s.convert(x[2], getElementType(op.getZeroPoint()), wide));
          difference = s.convert(difference, wide, type);
        } else {
          difference = s.convertFloat(difference, type);
          if (op.getZeroPoint())
            difference = s.sub(
                difference,
                toFloat(s, x[2], getElementType(op.getZeroPoint()), type));
        }
        return s.mul(difference, s.convertFloat(x[1], type));
      }));
}

void relax::populateQuantizationKernels(KernelRegistry &registry) {
  registry.add<QuantizeOp>(quantize);
  registry.add<DequantizeOp>(dequantize);
}
