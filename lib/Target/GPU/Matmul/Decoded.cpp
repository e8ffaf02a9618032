//===- Decoded.cpp - decodes quantized elements ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Decoded.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

Scaled Scaled::takeApart(Value value) {
  auto scalar = [](Value operand) -> Value {
    auto all = operand.getDefiningOp<vector::BroadcastOp>();
    return all && !isa<VectorType>(all.getSource().getType()) ? all.getSource()
                                                              : Value();
  };
  Scaled parts{value, {}, {}, 0};
  if (auto sum = parts.core.getDefiningOp<arith::AddFOp>())
    if ((parts.offset = scalar(sum.getRhs())))
      parts.core = sum.getLhs();
  if (auto product = parts.core.getDefiningOp<arith::MulFOp>())
    if ((parts.scale = scalar(product.getRhs())))
      parts.core = product.getLhs();
  APFloat bias(0.0f);
  if (auto less = parts.core.getDefiningOp<arith::SubFOp>())
    if (Value by = scalar(less.getRhs());
        by && matchPattern(by, m_ConstantFloat(&bias))) {
      parts.core = less.getLhs();
      parts.bias = bias.convertToFloat();
    }
  return parts;
}

bool relax::isSmall(Value bytes) {
  if (!getElementTypeOrSelf(bytes.getType()).isInteger(8))
    return false;
  auto constant = [](Value value) -> std::optional<int64_t> {
    APInt number;
    if (auto all = value.getDefiningOp<vector::BroadcastOp>())
      value = all.getSource();
    if (!matchPattern(value, m_ConstantInt(&number)))
      return std::nullopt;
    return number.getZExtValue();
  };
  if (auto choice = bytes.getDefiningOp<arith::SelectOp>())
    return isSmall(choice.getTrueValue()) && isSmall(choice.getFalseValue());
  if (auto bits = bytes.getDefiningOp<arith::AndIOp>())
    return constant(bits.getRhs()).value_or(255) < 128;
  if (auto shift = bytes.getDefiningOp<arith::ShRUIOp>())
    return constant(shift.getRhs()).value_or(0) > 0;
  return false;
}

//===----------------------------------------------------------------------===//
// 32-bit numbers
//===----------------------------------------------------------------------===//

Value relax::addedTo128(OpBuilder &builder, Location loc, Value bytes) {
  auto type = cast<VectorType>(bytes.getType()).clone(builder.getI32Type());
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
  };
  Value bits = arith::ExtUIOp::create(builder, loc, type, bytes);
  bits = arith::ShLIOp::create(builder, loc, bits, splat(16));
  bits = arith::OrIOp::create(builder, loc, bits, splat(0x43000000));
  return arith::BitcastOp::create(builder, loc,
                                  type.clone(builder.getF32Type()), bits);
}

Value relax::withFewerOps(OpBuilder &builder, Location loc, Value value) {
  Scaled parts = Scaled::takeApart(value);
  auto number = parts.core.getDefiningOp<arith::UIToFPOp>();
  // Scale times bias must be exact, which holds if the scale was f16.
  auto wide = parts.scale ? parts.scale.getDefiningOp<arith::ExtFOp>()
                          : arith::ExtFOp();
  double bias = parts.bias + 128;
  if (!number || !isSmall(number.getIn()) || parts.offset || !wide ||
      !wide.getIn().getType().isF16() || std::floor(bias) != bias ||
      std::abs(bias) > 256)
    return value;
  auto type = cast<VectorType>(value.getType());
  auto all = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(builder, loc, type, scalar);
  };
  Value less =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(-bias));
  Value start = arith::MulFOp::create(builder, loc, parts.scale, less);
  return math::FmaOp::create(builder, loc,
                             addedTo128(builder, loc, number.getIn()),
                             all(parts.scale), all(start));
}

//===----------------------------------------------------------------------===//
// 16-bit numbers
//===----------------------------------------------------------------------===//

namespace {

/// A byte in the lowest bits of a power of two adds its value to it: 2^7 in
/// bf16 has room for 7 bits, 2^10 in f16 for 10.
struct BytesAsHalves {
  OpBuilder &builder;
  Location loc;
  VectorType halves;

  bool isBF16() const { return halves.getElementType().isBF16(); }
  double base() const { return isBF16() ? 128 : 1024; }

  Value splat(double value) {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            halves, builder.getFloatAttr(halves.getElementType(), value)));
  }
  Value bits(Value bytes, uint8_t mask) {
    auto type = cast<VectorType>(bytes.getType());
    Value some = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, builder.getIntegerAttr(builder.getI8Type(),
                                         static_cast<int8_t>(mask))));
    return arith::AndIOp::create(builder, loc, bytes, some);
  }
  /// The bytes plus the base.
  Value above(Value bytes) {
    auto type = halves.clone(builder.getI16Type());
    Value wide = arith::ExtUIOp::create(builder, loc, type, bytes);
    Value high = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, builder.getI16IntegerAttr(isBF16() ? 0x4300 : 0x6400)));
    return arith::BitcastOp::create(
        builder, loc, halves, arith::OrIOp::create(builder, loc, wide, high));
  }
  Value less(Value lhs, Value rhs) {
    // A fused multiply-add is one instruction on all GPUs.
    return math::FmaOp::create(builder, loc, rhs, splat(-1), lhs);
  }
};

} // namespace

Value relax::exactNumbers(OpBuilder &builder, Location loc, const Scaled &parts,
                          Type element) {
  auto type = dyn_cast<VectorType>(parts.core.getType());
  if (!type || std::floor(parts.bias) != parts.bias ||
      std::abs(parts.bias) > 128)
    return {};
  BytesAsHalves halves{builder, loc, type.clone(element)};
  if (auto number = parts.core.getDefiningOp<arith::UIToFPOp>()) {
    if (!isSmall(number.getIn()))
      return {};
    return halves.less(halves.above(number.getIn()),
                       halves.splat(halves.base() + parts.bias));
  }
  if (parts.bias)
    return {};
  if (auto number = parts.core.getDefiningOp<arith::SIToFPOp>()) {
    if (!getElementTypeOrSelf(number.getIn().getType()).isInteger(8))
      return {};
    // The lower bits minus 128 if the sign bit is set.
    Value low = halves.above(halves.bits(number.getIn(), 0x7f));
    Value sign = halves.above(halves.bits(number.getIn(), 0x80));
    return halves.less(low, sign);
  }
  if (auto number = parts.core.getDefiningOp<arith::ExtFOp>())
    if (getElementTypeOrSelf(number.getIn().getType())
            .getIntOrFloatBitWidth() == 8)
      return arith::ExtFOp::create(builder, loc, type.clone(element),
                                   number.getIn());
  return {};
}
