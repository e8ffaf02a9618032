//===- ExpandMath.cpp - math functions as arithmetic ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vulkan guarantees little about math functions: a sine may be off by 2^-11,
// and there are none for f64. So they are replaced by the CPU's polynomials
// where these exist, and by Functions.h elsewhere. Functions that are exact in
// SPIR-V stay: roots, rounding, signs.
//
//===----------------------------------------------------------------------===//

#include "Target/Common/ApproximateMath.h"
#include "Target/SPIRV/Functions.h"
#include "Target/SPIRV/Passes.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::relax {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Target/SPIRV/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The CPU's polynomials need vectors, so turn a scalar into a vector of one
/// element.
template <typename Op>
struct ScalarAsVector : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isa<Float32Type, Float16Type, BFloat16Type>(op.getType()))
      return rewriter.notifyMatchFailure(op, "no scalar of f32 or less");
    Location loc = op.getLoc();
    auto type = VectorType::get(1, op.getType());
    Value vector =
        vector::BroadcastOp::create(rewriter, loc, type, op.getOperand());
    Value result = Op::create(rewriter, loc, vector);
    rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, result, 0);
    return success();
  }
};

/// Expands a function on f64 or f32 with a method of `Functions`; narrower
/// types go through f32.
template <typename Op>
struct AsArithmetic : OpRewritePattern<Op> {
  AsArithmetic(MLIRContext *context, Value (*function)(Functions &, ValueRange))
      : OpRewritePattern<Op>(context), function(function) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "no scalar");
    Location loc = op.getLoc();
    SmallVector<Value> operands = llvm::to_vector(op->getOperands());
    FloatType own = type;
    if (type.getWidth() < 32) {
      own = rewriter.getF32Type();
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(rewriter, loc, own, operand);
    }
    Functions functions(rewriter, loc, own);
    Value result = function(functions, operands);
    if (own != type)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  Value (*function)(Functions &, ValueRange);
};

/// The same for f64 only; the CPU's polynomials handle f32 and narrower types.
template <typename Op>
struct AsArithmeticOfDoubles : AsArithmetic<Op> {
  using AsArithmetic<Op>::AsArithmetic;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isa<Float64Type>(op.getType()))
      return rewriter.notifyMatchFailure(op, "no f64");
    return AsArithmetic<Op>::matchAndRewrite(op, rewriter);
  }
};

/// Splits an op on vectors into ops on their elements.
template <typename Op>
struct ByElements : OpRewritePattern<Op> {
  ByElements(MLIRContext *context, bool ofDoubles)
      : OpRewritePattern<Op>(context), ofDoubles(ofDoubles) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 ||
        (ofDoubles && !type.getElementType().isF64()))
      return rewriter.notifyMatchFailure(op, "no such vector");
    Location loc = op.getLoc();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(
            vector::ExtractOp::create(rewriter, loc, operand, i));
      elements.push_back(Op::create(rewriter, loc,
                                    TypeRange(type.getElementType()), operands,
                                    op->getAttrs()));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }

  bool ofDoubles;
};

static void populateFunctions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
#define RELAX_FUNCTION(pattern, op, ofDoubles, call)                           \
  patterns.add<pattern<op>>(                                                   \
      context, +[](Functions &f, ValueRange x) -> Value { return f.call; });   \
  patterns.add<ByElements<op>>(context, ofDoubles);
#define RELAX_DOUBLES(op, call)                                                \
  RELAX_FUNCTION(AsArithmeticOfDoubles, op, true, call)
#define RELAX_ALL(op, call) RELAX_FUNCTION(AsArithmetic, op, false, call)
  RELAX_DOUBLES(math::ExpOp, exp(x[0]))
  RELAX_DOUBLES(math::ExpM1Op, expm1(x[0]))
  RELAX_DOUBLES(math::LogOp, log(x[0]))
  RELAX_DOUBLES(math::Log1pOp, log1p(x[0]))
  RELAX_DOUBLES(math::Log2Op, log2(x[0]))
  RELAX_DOUBLES(math::Log10Op, log10(x[0]))
  RELAX_DOUBLES(math::TanhOp, tanh(x[0]))
  RELAX_DOUBLES(math::ErfOp, erf(x[0]))
  RELAX_DOUBLES(math::RoundEvenOp, roundEven(x[0]))
  RELAX_ALL(math::Exp2Op, exp2(x[0]))
  RELAX_ALL(math::SinOp, sine(x[0], false))
  RELAX_ALL(math::CosOp, sine(x[0], true))
  RELAX_ALL(math::TanOp, tan(x[0]))
  RELAX_ALL(math::AtanOp, atan(x[0]))
  RELAX_ALL(math::Atan2Op, atan2(x[0], x[1]))
  RELAX_ALL(math::AsinOp, asin(x[0]))
  RELAX_ALL(math::AcosOp, acos(x[0]))
  RELAX_ALL(math::SinhOp, sinh(x[0]))
  RELAX_ALL(math::CoshOp, cosh(x[0]))
  RELAX_ALL(math::AsinhOp, asinh(x[0]))
  RELAX_ALL(math::AcoshOp, acosh(x[0]))
  RELAX_ALL(math::AtanhOp, atanh(x[0]))
  RELAX_ALL(math::PowFOp, pow(x[0], x[1]))
  RELAX_ALL(arith::RemFOp, remainder(x[0], x[1]))
#undef RELAX_FUNCTION
#undef RELAX_DOUBLES
#undef RELAX_ALL
}

/// trunc(x) = floor(|x|) with the sign of x.
struct ExpandTrunc : OpRewritePattern<math::TruncOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TruncOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value size = math::AbsFOp::create(rewriter, loc, op.getOperand());
    rewriter.replaceOpWithNewOp<math::CopySignOp>(
        op, math::FloorOp::create(rewriter, loc, size), op.getOperand());
    return success();
  }
};

/// An integer constant, or a splat vector of it.
static Value integerOf(OpBuilder &builder, Location loc, Type type,
                       const APInt &value) {
  TypedAttr attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// Counts set bits by adding pairs, groups of four, and so on.
struct ExpandPopulationCount : OpRewritePattern<math::CtPopOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::CtPopOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    if (!type || !llvm::isPowerOf2_32(type.getWidth()))
      return rewriter.notifyMatchFailure(op, "not of 2^n bits");
    Location loc = op.getLoc();
    unsigned bits = type.getWidth();
    auto number = [&](const APInt &value) {
      return integerOf(rewriter, loc, op.getType(), value);
    };
    Value count = op.getOperand();
    for (unsigned width = 1; width < bits; width *= 2) {
      // Every other field of `width` bits.
      Value mask =
          number(APInt::getSplat(bits, APInt::getLowBitsSet(2 * width, width)));
      Value odd = arith::ShRUIOp::create(rewriter, loc, count,
                                         number(APInt(bits, width)));
      count = arith::AddIOp::create(
          rewriter, loc, arith::AndIOp::create(rewriter, loc, count, mask),
          arith::AndIOp::create(rewriter, loc, odd, mask));
    }
    rewriter.replaceOp(op, count);
    return success();
  }
};

/// Counts the zeros below the lowest set bit: the bits of ~x & (x - 1).
struct ExpandTrailingZeros : OpRewritePattern<math::CountTrailingZerosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::CountTrailingZerosOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "not of integers");
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Value ones = integerOf(rewriter, loc, op.getType(),
                           APInt::getAllOnes(type.getWidth()));
    Value below = arith::AndIOp::create(
        rewriter, loc, arith::XOrIOp::create(rewriter, loc, x, ones),
        arith::AddIOp::create(rewriter, loc, x, ones));
    rewriter.replaceOpWithNewOp<math::CtPopOp>(op, below);
    return success();
  }
};

struct ExpandMath : relax::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateApproximateMathPatterns(patterns, /*hasLibrary=*/false);
    patterns.add<ScalarAsVector<math::ExpOp>, ScalarAsVector<math::ExpM1Op>,
                 ScalarAsVector<math::LogOp>, ScalarAsVector<math::Log1pOp>,
                 ScalarAsVector<math::Log2Op>, ScalarAsVector<math::Log10Op>,
                 ScalarAsVector<math::TanhOp>, ScalarAsVector<math::ErfOp>,
                 ExpandTrunc, ExpandPopulationCount, ExpandTrailingZeros>(
        context);
    populateFunctions(patterns);
    math::populateExpansionPatterns(patterns,
                                    {"fpowi", "rsqrt", "ctlz", "round"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
