//===- ExpandSmallFloats.cpp - expands 8-bit floats to bits ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neither LLVM nor Vulkan has 8-bit floats, so they are bytes there. E5M2 is
// the upper half of f16. The bits of E4M3, shifted into place in an f32, are
// the number up to a power of two, even for denormals:
//
//   seeeemmm  ->  s 0000eeee mmm00000 ...  = number * 2^(7 - 127)
//
// Vulkan devices may flush denormals to zero. For these, the exponent is
// rebased directly, and 8-bit denormals are converted as integers and scaled.
//
// Conversions to bytes round to nearest, ties to even, as NumPy's ml_dtypes
// does; overflow gives infinity, or NaN if the format has no infinity.
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::relax {
#define GEN_PASS_DEF_EXPANDSMALLFLOATSPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static bool isSmall(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

static bool isE4M3(Type type) {
  return isa<Float8E4M3FNType>(getElementTypeOrSelf(type));
}

namespace {

/// Arithmetic on scalars, or on vectors of one shape.
struct Bits : ImplicitLocOpBuilder {
  Bits(Location loc, OpBuilder &builder, Type shape)
      : ImplicitLocOpBuilder(loc, builder), shape(dyn_cast<VectorType>(shape)) {
  }

  Type typeOf(Type element) const {
    return shape ? Type(VectorType(shape).clone(element)) : element;
  }
  Value splat(Type type, TypedAttr number) {
    if (shape)
      return arith::ConstantOp::create(
          *this, DenseElementsAttr::get(cast<ShapedType>(type), number));
    return arith::ConstantOp::create(*this, number);
  }
  Value number(int64_t value) {
    return splat(typeOf(getI32Type()), getI32IntegerAttr(value));
  }
  Value number(double value) {
    return splat(typeOf(getF32Type()), getF32FloatAttr(value));
  }
  Value land(Value lhs, Value rhs) {
    return arith::AndIOp::create(*this, lhs, rhs);
  }
  Value lor(Value lhs, Value rhs) {
    return arith::OrIOp::create(*this, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(*this, lhs, rhs);
  }
  Value shl(Value lhs, int64_t by) {
    return arith::ShLIOp::create(*this, lhs, number(by));
  }
  Value shr(Value lhs, int64_t by) {
    return arith::ShRUIOp::create(*this, lhs, number(by));
  }
  Value as(Type element, Value value) {
    return arith::BitcastOp::create(*this, typeOf(element), value);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(*this, predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(*this, condition, lhs, rhs);
  }
  /// Converts to any other float type.
  Value convert(Value value, Type element) {
    unsigned from =
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    Type type = typeOf(element);
    if (value.getType() == type)
      return value;
    if (from < element.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(*this, type, value);
    return arith::TruncFOp::create(*this, type, value);
  }

  Value extend(Value bytes, bool isE4M3);
  Value extendNormal(Value bytes, bool isE4M3);
  Value round(Value floats, bool isE4M3);

  VectorType shape;
};

/// Converts bytes to f32 (E4M3) or f16 (E5M2).
Value Bits::extend(Value bytes, bool isE4M3) {
  if (!isE4M3) {
    Type i16 = typeOf(getI16Type());
    Value wide = arith::ExtUIOp::create(*this, i16, bytes);
    wide = arith::ShLIOp::create(*this, wide, splat(i16, getI16IntegerAttr(8)));
    return as(getF16Type(), wide);
  }
  Value wide = arith::ExtUIOp::create(*this, typeOf(getI32Type()), bytes);
  Value magnitude = land(wide, number(int64_t(0x7f)));
  Value scaled = as(getF32Type(), shl(magnitude, 20));
  Value value =
      as(getI32Type(), arith::MulFOp::create(*this, scaled, number(0x1p120)));
  Value isNaN =
      compare(arith::CmpIPredicate::eq, magnitude, number(int64_t(0x7f)));
  value = select(isNaN, number(int64_t(0x7fc00000)), value);
  Value sign = shl(land(wide, number(int64_t(0x80))), 24);
  return as(getF32Type(), lor(value, sign));
}

/// Converts bytes to f32 without using denormals.
Value Bits::extendNormal(Value bytes, bool isE4M3) {
  int64_t mantissa = isE4M3 ? 3 : 2, bias = isE4M3 ? 7 : 15;
  Value wide = arith::ExtUIOp::create(*this, typeOf(getI32Type()), bytes);
  Value magnitude = land(wide, number(int64_t(0x7f)));
  Value offset = number((127 - bias) << 23);
  Value value = add(shl(magnitude, 23 - mantissa), offset);
  // Special values also have the largest exponent in f32: NaN, and infinities
  // of E5M2.
  Value isSpecial = compare(arith::CmpIPredicate::uge, magnitude,
                            number(int64_t(isE4M3 ? 0x7f : 0x7c)));
  Value special = isE4M3 ? number(int64_t(0x7fc00000)) : add(value, offset);
  value = select(isSpecial, special, value);
  Value count = arith::UIToFPOp::create(*this, typeOf(getF32Type()), magnitude);
  Value step = number(isE4M3 ? 0x1p-9 : 0x1p-16);
  Value denormal = as(getI32Type(), arith::MulFOp::create(*this, count, step));
  Value isDenormal = compare(arith::CmpIPredicate::ult, magnitude,
                             number(int64_t(1) << mantissa));
  value = select(isDenormal, denormal, value);
  Value sign = shl(land(wide, number(int64_t(0x80))), 24);
  return as(getF32Type(), lor(value, sign));
}

/// Converts f32 to bytes.
Value Bits::round(Value floats, bool isE4M3) {
  int64_t mantissa = isE4M3 ? 3 : 2, bias = isE4M3 ? 7 : 15;
  int64_t dropped = 23 - mantissa;
  Value bits = as(getI32Type(), floats);
  Value magnitude = land(bits, number(int64_t(0x7fffffff)));
  // Add half of the last bit, or just below that, and carry (ties to even).
  Value odd = land(shr(magnitude, dropped), number(int64_t(1)));
  Value normal = add(magnitude, number(((bias - 127) * (int64_t(1) << 23)) +
                                       (int64_t(1) << (dropped - 1)) - 1));
  normal = shr(add(normal, odd), dropped);
  // For denormals, add a float whose last bit has the weight of theirs, which
  // rounds correctly.
  Value base = number((128 - bias + dropped) << 23);
  Value sum = arith::AddFOp::create(*this, as(getF32Type(), magnitude),
                                    as(getF32Type(), base));
  Value denormal = arith::SubIOp::create(*this, as(getI32Type(), sum), base);
  Value isDenormal =
      compare(arith::CmpIPredicate::ult, magnitude, number((128 - bias) << 23));
  Value result = select(isDenormal, denormal, normal);
  int64_t most = isE4M3 ? 0x7f : 0x7c;
  result = arith::MinUIOp::create(*this, result, number(most));
  if (!isE4M3) {
    Value isNaN = compare(arith::CmpIPredicate::ugt, magnitude,
                          number(int64_t(0x7f800000)));
    result = select(isNaN, number(int64_t(0x7e)), result);
  }
  Value sign = land(shr(bits, 24), number(int64_t(0x80)));
  return arith::TruncIOp::create(*this, typeOf(getI8Type()), lor(result, sign));
}

struct Extend : OpRewritePattern<arith::ExtFOp> {
  Extend(MLIRContext *context, bool inHardware, bool onlyNormal)
      : OpRewritePattern(context), inHardware(inHardware),
        onlyNormal(onlyNormal) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!isSmall(from))
      return rewriter.notifyMatchFailure(op, "is not of 8 bits");
    Bits b(op.getLoc(), rewriter, from);
    Value bytes = b.as(b.getI8Type(), op.getIn());
    Value wide = inHardware ? extendPairs(b, bytes, getElementTypeOrSelf(from))
                 : onlyNormal ? b.extendNormal(bytes, isE4M3(from))
                              : b.extend(bytes, isE4M3(from));
    Type to = getElementTypeOrSelf(op.getType());
    // bf16 can represent all of these values, but there is no conversion from
    // f16.
    if (to.isBF16())
      wide = b.convert(wide, b.getF32Type());
    rewriter.replaceOp(op, b.convert(wide, to));
    return success();
  }

  /// Converts to f16 in pairs.
  Value extendPairs(Bits &b, Value bytes, Type format) const {
    auto pairType = VectorType::get(2, b.getI8Type());
    auto halves = VectorType::get(2, b.getF16Type());
    auto convert = [&](Value pair) -> Value {
      return NVVM::ConvertF8x2ToF16x2Op::create(
          b, halves, pair, b.getBoolAttr(false), TypeAttr::get(format));
    };
    if (!b.shape) {
      Value pair = vector::BroadcastOp::create(b, pairType, bytes);
      return vector::ExtractOp::create(b, convert(pair), 0);
    }
    int64_t count = b.shape.getNumElements();
    SmallVector<Value> all;
    for (int64_t i = 0; i < count; i += 2) {
      Value first = vector::ExtractOp::create(b, bytes, i);
      Value second = i + 1 < count
                         ? Value(vector::ExtractOp::create(b, bytes, i + 1))
                         : first;
      Value pair = convert(vector::FromElementsOp::create(
          b, pairType, ValueRange{first, second}));
      for (int64_t j = i; j < std::min(i + 2, count); ++j)
        all.push_back(vector::ExtractOp::create(b, pair, j - i));
    }
    return vector::FromElementsOp::create(
        b, VectorType::get(count, b.getF16Type()), all);
  }

  bool inHardware, onlyNormal;
};

struct Round : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not to 8 bits");
    Bits b(op.getLoc(), rewriter, op.getType());
    Value floats = b.convert(op.getIn(), b.getF32Type());
    Value bytes = b.round(floats, isE4M3(op.getType()));
    rewriter.replaceOp(op, b.as(getElementTypeOrSelf(op.getType()), bytes));
    return success();
  }
};

/// Goes through f32: integers are exact there, or too large for 8 bits anyway.
template <typename Op>
struct OfInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not to 8 bits");
    Bits b(op.getLoc(), rewriter, op.getType());
    Value wide = Op::create(b, b.typeOf(b.getF32Type()), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

struct Compare : OpRewritePattern<arith::CmpFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getLhs().getType()))
      return rewriter.notifyMatchFailure(op, "is not of 8 bits");
    Bits b(op.getLoc(), rewriter, op.getLhs().getType());
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(
        op, op.getPredicate(), b.convert(op.getLhs(), b.getF32Type()),
        b.convert(op.getRhs(), b.getF32Type()));
    return success();
  }
};

struct Constant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not of 8 bits");
    TypedAttr bytes;
    Type i8 = rewriter.getI8Type();
    if (auto number = dyn_cast<FloatAttr>(op.getValue()))
      bytes = IntegerAttr::get(i8, number.getValue().bitcastToAPInt());
    else if (auto all = dyn_cast<DenseElementsAttr>(op.getValue()))
      bytes = all.bitcast(i8);
    else
      return rewriter.notifyMatchFailure(op, "has no elements");
    Value value = arith::ConstantOp::create(rewriter, op.getLoc(), bytes);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), value);
    return success();
  }
};

struct ExpandSmallFloats
    : relax::impl::ExpandSmallFloatsPassBase<ExpandSmallFloats> {
  using ExpandSmallFloatsPassBase::ExpandSmallFloatsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Extend>(&getContext(), nvidia, onlyNormal);
    patterns.add<Round, OfInteger<arith::SIToFPOp>, OfInteger<arith::UIToFPOp>,
                 Compare, Constant>(&getContext());
    GreedyRewriteConfig config;
    // Folding would turn the bits of constants back into 8-bit float constants.
    config.enableFolding(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
