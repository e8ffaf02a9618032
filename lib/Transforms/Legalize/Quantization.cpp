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

/// The least or the greatest number of `to`, which `type` holds.
static Value getBound(Scalars &s, FloatType type, FloatType to,
                      bool isGreatest) {
  APFloat bound = APFloat::getLargest(to.getFloatSemantics(), !isGreatest);
  bool losesInfo;
  bound.convert(type.getFloatSemantics(), APFloat::rmTowardZero, &losesInfo);
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
        whole =
            arith::MaxNumFOp::create(s, whole, getBound(s, type, small, false));
        return arith::MinNumFOp::create(s, whole,
                                        getBound(s, type, small, true))
            .getResult();
      }));
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
          // The difference takes one bit more, and a sign.
          unsigned width = data.getIntOrFloatBitWidth();
          if (zero)
            width = std::max(width, zero.getIntOrFloatBitWidth());
          Type wide = s.getIntegerType(width < 31 ? 32 : 2 * width);
          difference = s.convert(difference, data, wide);
          if (zero)
            difference = s.sub(difference, s.convert(x[2], zero, wide));
          difference = s.convert(difference, wide, type);
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
