//===- ExpandCasts.cpp - fast vector conversions on words -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs convert integers to floating point at a fraction of the rate of other
// arithmetic, and have no byte arithmetic. But a byte in the lowest bits of the
// float 2^23 adds its value to it:
//
//   prmt(word, 0x4B000000) = 0x4B0000bb = 2^23 + b          b = that - 2^23
//
// and bitwise operations on four bytes can be done on one word.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace mlir::relax {
#define GEN_PASS_DEF_EXPANDCASTSPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Whether a type is a vector of `bits`-bit elements that fills whole words.
static bool isWords(Type type, unsigned bits) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() &&
         vector.getElementTypeBitWidth() == bits &&
         vector.getNumElements() * bits % 32 == 0;
}

static Value toWords(OpBuilder &builder, Location loc, Value bytes) {
  auto type = cast<VectorType>(bytes.getType());
  int64_t count = type.getNumElements() * type.getElementTypeBitWidth() / 32;
  return vector::BitCastOp::create(
      builder, loc, VectorType::get(count, builder.getI32Type()), bytes);
}

static Value splat(OpBuilder &builder, Location loc, VectorType type,
                   int64_t value) {
  APInt bits(type.getElementTypeBitWidth(), value, /*isSigned=*/false,
             /*implicitTrunc=*/true);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, bits));
}

/// Builds a word from four bytes of two words; `selector` has the byte indices.
static Value permute(OpBuilder &builder, Location loc, Value first,
                     Value second, int64_t selector) {
  Type i32 = builder.getI32Type();
  return NVVM::PermuteOp::create(
      builder, loc, i32, first, second,
      arith::ConstantIntOp::create(builder, loc, i32, selector),
      NVVM::PermuteMode::DEFAULT);
}

namespace {

/// Bitwise operations on bytes become operations on words.
template <typename Op>
struct BitsOfWords : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isWords(op.getType(), 8))
      return rewriter.notifyMatchFailure(op, "is not on bytes");
    Location loc = op.getLoc();
    Value lhs = toWords(rewriter, loc, op.getLhs());
    Value words =
        Op::create(rewriter, loc, lhs, toWords(rewriter, loc, op.getRhs()));
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, op.getType(), words);
    return success();
  }
};

/// A right shift of bytes by a constant: the bits shifted in from the next byte
/// are masked out.
struct ShiftOfWords : OpRewritePattern<arith::ShRUIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ShRUIOp op,
                                PatternRewriter &rewriter) const override {
    APInt by;
    if (!isWords(op.getType(), 8) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&by)) || by.uge(8))
      return rewriter.notifyMatchFailure(op, "is not of bytes by a number");
    Location loc = op.getLoc();
    int64_t count = by.getZExtValue();
    Value words = toWords(rewriter, loc, op.getLhs());
    auto type = cast<VectorType>(words.getType());
    words = arith::ShRUIOp::create(rewriter, loc, words,
                                   splat(rewriter, loc, type, count));
    words = arith::AndIOp::create(
        rewriter, loc, words,
        splat(rewriter, loc, type, (0xff >> count) * 0x01010101));
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, op.getType(), words);
    return success();
  }
};

/// Converts bytes to f32.
template <typename Op>
struct BytesToFloats : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32() ||
        !isWords(op.getIn().getType(), 8))
      return rewriter.notifyMatchFailure(op, "is not from bytes to f32");
    Location loc = op.getLoc();
    Value words = toWords(rewriter, loc, op.getIn());
    double base = 0x1p23;
    if (std::is_same_v<Op, arith::SIToFPOp>) {
      // Add 128 to each byte, and to the base.
      words = arith::XOrIOp::create(
          rewriter, loc, words,
          splat(rewriter, loc, cast<VectorType>(words.getType()), 0x80808080));
      base += 128;
    }
    Value high = arith::ConstantIntOp::create(
        rewriter, loc, rewriter.getI32Type(), 0x4B000000);
    SmallVector<Value> floats;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value word = vector::ExtractOp::create(rewriter, loc, words, i / 4);
      Value bits = permute(rewriter, loc, word, high, 0x7440 + i % 4);
      floats.push_back(
          arith::BitcastOp::create(rewriter, loc, rewriter.getF32Type(), bits));
    }
    // Fold a subsequent subtraction of a small whole number into the base; this
    // is exact.
    Operation *replaced = op;
    if (op->hasOneUse())
      if (auto less = dyn_cast<arith::SubFOp>(*op->user_begin())) {
        APFloat value(0.0f);
        if (less.getLhs() == op.getResult() &&
            matchPattern(less.getRhs(), m_ConstantFloat(&value)) &&
            value.isInteger() && std::abs(value.convertToFloat()) < 256) {
          base += value.convertToFloat();
          replaced = less;
        }
      }
    Value all = vector::FromElementsOp::create(rewriter, loc, type, floats);
    Value bias = arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(type, rewriter.getF32FloatAttr(base)));
    rewriter.replaceOp(replaced,
                       arith::SubFOp::create(rewriter, loc, all, bias));
    return success();
  }
};

/// Inserts bytes into words whose other bytes are constant.
struct BytesIntoWords : OpRewritePattern<arith::OrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::OrIOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    APInt others, by;
    auto shift = op.getLhs().getDefiningOp<arith::ShLIOp>();
    if (!type || !type.getElementType().isInteger(32) || !shift ||
        !matchPattern(op.getRhs(), m_ConstantInt(&others)) ||
        !matchPattern(shift.getRhs(), m_ConstantInt(&by)) || by.uge(32) ||
        by.urem(8))
      return rewriter.notifyMatchFailure(op, "does not complete words");
    int64_t place = by.getZExtValue() / 8;
    auto extend = shift.getLhs().getDefiningOp<arith::ExtUIOp>();
    if (!extend || !isWords(extend.getIn().getType(), 8) ||
        others.extractBitsAsZExtValue(8, 8 * place) != 0)
      return rewriter.notifyMatchFailure(op, "is not of bytes");
    Location loc = op.getLoc();
    Value words = toWords(rewriter, loc, extend.getIn());
    Value rest = arith::ConstantIntOp::create(
        rewriter, loc, rewriter.getI32Type(), others.getZExtValue());
    SmallVector<Value> all;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value word = vector::ExtractOp::create(rewriter, loc, words, i / 4);
      int64_t selector = 0x7654;
      selector &= ~(int64_t{15} << (4 * place));
      selector |= (i % 4) << (4 * place);
      all.push_back(permute(rewriter, loc, word, rest, selector));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, all);
    return success();
  }
};

/// Inserts bytes as the lower halves of 16-bit elements whose upper halves are
/// constant.
struct BytesIntoHalves : OpRewritePattern<arith::OrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::OrIOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    APInt others;
    auto extend = op.getLhs().getDefiningOp<arith::ExtUIOp>();
    if (!type || !type.getElementType().isInteger(16) || !extend ||
        !isWords(extend.getIn().getType(), 8) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&others)) ||
        others.extractBitsAsZExtValue(8, 0) != 0)
      return rewriter.notifyMatchFailure(op, "does not complete halves");
    Location loc = op.getLoc();
    Value words = toWords(rewriter, loc, extend.getIn());
    Value rest = arith::ConstantIntOp::create(
        rewriter, loc, rewriter.getI32Type(), others.getZExtValue() >> 8);
    SmallVector<Value> all;
    for (int64_t i = 0; i < type.getNumElements(); i += 2) {
      Value word = vector::ExtractOp::create(rewriter, loc, words, i / 4);
      all.push_back(
          permute(rewriter, loc, word, rest, i % 4 ? 0x4342 : 0x4140));
    }
    auto wordsType = VectorType::get(all.size(), rewriter.getI32Type());
    Value halves =
        vector::FromElementsOp::create(rewriter, loc, wordsType, all);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, type, halves);
    return success();
  }
};

/// bf16 is the upper half of f32.
struct HalvesToFloats : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32() ||
        !getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !isWords(op.getIn().getType(), 16))
      return rewriter.notifyMatchFailure(op, "is not from bf16 to f32");
    Location loc = op.getLoc();
    Value words = toWords(rewriter, loc, op.getIn());
    auto wordType = cast<VectorType>(words.getType());
    Value even = arith::ShLIOp::create(rewriter, loc, words,
                                       splat(rewriter, loc, wordType, 16));
    Value odd = arith::AndIOp::create(
        rewriter, loc, words, splat(rewriter, loc, wordType, 0xffff0000));
    SmallVector<Value> floats;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value bits =
          vector::ExtractOp::create(rewriter, loc, i % 2 ? odd : even, i / 2);
      floats.push_back(
          arith::BitcastOp::create(rewriter, loc, rewriter.getF32Type(), bits));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, floats);
    return success();
  }
};

struct ExpandCasts : relax::impl::ExpandCastsPassBase<ExpandCasts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BitsOfWords<arith::AndIOp>, BitsOfWords<arith::OrIOp>,
                 BitsOfWords<arith::XOrIOp>, BytesIntoWords, BytesIntoHalves,
                 ShiftOfWords, BytesToFloats<arith::UIToFPOp>,
                 BytesToFloats<arith::SIToFPOp>, HalvesToFloats>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
