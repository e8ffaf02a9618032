//===- ApproximateMath.cpp - vector math as polynomials -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function reduces its argument to a small interval, evaluates a
// polynomial there and scales the result back. The coefficients are our own
// minimax fits (Lawson's algorithm in double precision, rounded). Errors are 1
// to 3 ulp; infinities, NaN, signed zeros and denormals give the same results
// as libm.
//
// Selects are written so that NaN passes through: a comparison with NaN is
// false, so `x > limit ? limit : x` keeps it (and is a single instruction).
// Rounding to an integer avoids a conversion, which is undefined for NaN and
// infinities: adding 1.5 * 2^23 to a float leaves the rounded value in the low
// bits.
//
//===----------------------------------------------------------------------===//

#include "Target/Common/ApproximateMath.h"
#include "Target/Common/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace mlir::relax {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Arithmetic on f32 vectors, and on i32 vectors of their bits.
class Floats {
public:
  Floats(OpBuilder &builder, Location loc, VectorType type)
      : builder(builder), loc(loc), type(type),
        bitsType(type.clone(builder.getI32Type())) {}

  Value constant(float value) {
    return arith::ConstantOp::create(
        builder, loc, type,
        DenseElementsAttr::get(type, builder.getF32FloatAttr(value)));
  }
  Value integer(int32_t value) {
    return arith::ConstantOp::create(
        builder, loc, bitsType,
        DenseElementsAttr::get(bitsType, builder.getI32IntegerAttr(value)));
  }
  template <typename Op>
  Value make(Value lhs, Value rhs) {
    return Op::create(builder, loc, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return make<arith::AddFOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return make<arith::SubFOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return make<arith::MulFOp>(lhs, rhs); }
  Value div(Value lhs, Value rhs) { return make<arith::DivFOp>(lhs, rhs); }
  Value fma(Value a, Value b, Value c) {
    return vector::FMAOp::create(builder, loc, a, b, c);
  }
  Value abs(Value value) { return math::AbsFOp::create(builder, loc, value); }
  Value withSign(Value value, Value sign) {
    return math::CopySignOp::create(builder, loc, value, sign);
  }
  Value bits(Value value) {
    return arith::BitcastOp::create(builder, loc, bitsType, value);
  }
  Value fromBits(Value value) {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value greater(Value lhs, Value rhs) {
    return compare(arith::CmpFPredicate::OGT, lhs, rhs);
  }
  Value less(Value lhs, Value rhs) {
    return compare(arith::CmpFPredicate::OLT, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// Clamps to [low, high]; NaN is kept.
  Value limit(Value value, float low, float high) {
    Value top = constant(high), bottom = constant(low);
    value = select(greater(value, top), top, value);
    return select(less(value, bottom), bottom, value);
  }
  /// Evaluates a polynomial; the coefficient of the highest power comes first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = constant(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  /// 2^n for an integer n from -126 to 127 (normal numbers).
  Value powerOfTwo(Value n) {
    return fromBits(
        make<arith::ShLIOp>(make<arith::AddIOp>(n, integer(127)), integer(23)));
  }

  /// x = n ln 2 + r with |r| <= ln 2 / 2: holds n as a vector of integers, r,
  /// and e^r - 1.
  struct Reduced {
    Value n, r, powerMinusOne;
  };
  Reduced reduceExp(Value x) {
    Value magic = constant(12582912.0f);
    Value shifted = fma(x, constant(1.44269504f), magic);
    Value whole = sub(shifted, magic);
    Value n = make<arith::SubIOp>(bits(shifted), integer(0x4B400000));
    // ln 2 is split in two parts, the first with few bits.
    Value r = fma(whole, constant(-0.693359375f), x);
    r = fma(whole, constant(2.12194440e-4f), r);
    Value p =
        polynomial(r, {1.991555619e-04f, 1.394592458e-03f, 8.333269507e-03f,
                       4.166627303e-02f, 1.666666716e-01f, 5.000000000e-01f});
    return {n, r, fma(p, mul(r, r), r)};
  }

  Value exp(Value x) {
    x = limit(x, -104.0f, 89.0f);
    Reduced reduced = reduceExp(x);
    Value p = add(reduced.powerMinusOne, constant(1.0f));
    // Scale in two steps, since 2^n itself may overflow or underflow.
    Value half = make<arith::ShRSIOp>(reduced.n, integer(1));
    Value rest = make<arith::SubIOp>(reduced.n, half);
    return mul(mul(p, powerOfTwo(half)), powerOfTwo(rest));
  }

  /// e^x if 2^n and the result are normal numbers: |x| <= 87.
  Value ordinaryExp(Value x) {
    Reduced reduced = reduceExp(x);
    Value p = add(reduced.powerMinusOne, constant(1.0f));
    Value shift = make<arith::ShLIOp>(reduced.n, integer(23));
    return fromBits(make<arith::AddIOp>(bits(p), shift));
  }

  Value expm1(Value x) {
    Value limited = limit(x, -87.0f, 88.0f);
    Reduced reduced = reduceExp(limited);
    Value scale = powerOfTwo(reduced.n);
    Value small = fma(scale, reduced.powerMinusOne, sub(scale, constant(1.0f)));
    // Keep the sign of zero and arguments too small for the polynomial.
    Value tiny = less(abs(x), constant(1e-7f));
    small = select(tiny, x, small);
    return select(greater(x, constant(87.0f)), exp(x), small);
  }

  Value log(Value x) {
    // Scale denormals to normal numbers first.
    Value isSmall = less(x, constant(1.17549435e-38f));
    Value scaled = select(isSmall, mul(x, constant(8388608.0f)), x);
    Value bias = select(isSmall, constant(-150.0f), constant(-127.0f));
    Value raw = bits(scaled);
    // Take the exponent relative to sqrt(1/2), so that the mantissa is near
    // one.
    Value offset = make<arith::SubIOp>(raw, integer(0x3F3504F3));
    Value exponent = make<arith::ShRSIOp>(offset, integer(23));
    Value mantissa = fromBits(
        make<arith::SubIOp>(raw, make<arith::ShLIOp>(exponent, integer(23))));
    Value e = add(arith::SIToFPOp::create(builder, loc, type, exponent),
                  add(bias, constant(127.0f)));
    Value z = sub(mantissa, constant(1.0f));
    Value p =
        polynomial(z, {6.914681196e-02f, -1.178834736e-01f, 1.187247261e-01f,
                       -1.238458231e-01f, 1.421876997e-01f, -1.666923910e-01f,
                       2.000221908e-01f, -2.499998659e-01f, 3.333331048e-01f});
    Value square = mul(z, z);
    Value tail = mul(mul(p, z), square);
    tail = fma(e, constant(-2.12194440e-4f), tail);
    tail = fma(square, constant(-0.5f), tail);
    Value result = fma(e, constant(0.693359375f), add(z, tail));
    // +inf and NaN map to themselves, zero to -inf, negative numbers to NaN.
    Value infinity = constant(INFINITY);
    Value isOrdinary = less(x, infinity);
    result = select(isOrdinary, result, x);
    Value zero = constant(0.0f);
    result = select(compare(arith::CmpFPredicate::OEQ, x, zero),
                    constant(-INFINITY), result);
    return select(less(x, zero), constant(NAN), result);
  }

  Value log1p(Value x) {
    // A correction factor for the rounding of 1 + x.
    Value one = constant(1.0f);
    Value sum = add(x, one);
    Value lost = sub(sum, one);
    Value corrected = mul(log(sum), div(x, lost));
    Value exact = compare(arith::CmpFPredicate::OEQ, sum, one);
    Value isLarge = greater(x, constant(1e30f));
    return select(exact, x, select(isLarge, log(x), corrected));
  }

  Value tanh(Value x) {
    Value size = abs(x);
    Value square = mul(x, x);
    Value p = polynomial(square, {-5.717470311e-03f, 2.065101825e-02f,
                                  -5.374365300e-02f, 1.333149374e-01f,
                                  -3.333328366e-01f});
    Value small = fma(mul(p, square), x, x);
    Value e = exp(add(size, size));
    Value large =
        sub(constant(1.0f), div(constant(2.0f), add(e, constant(1.0f))));
    return withSign(select(less(size, constant(0.625f)), small, large), x);
  }

  Value erf(Value x) {
    Value size = abs(x);
    Value square = mul(x, x);
    Value p = polynomial(square,
                         {8.345216338e-05f, -8.137435652e-04f, 5.200634245e-03f,
                          -2.685927041e-02f, 1.128369421e-01f,
                          -3.761263490e-01f, 1.283791661e-01f});
    Value small = fma(p, x, x);
    Value t = limit(size, 0.0f, 4.0f);
    Value q =
        polynomial(t, {4.937957328e-06f, -4.557819193e-05f, -4.960131992e-05f,
                       2.930196002e-03f, -2.267419733e-02f, 1.052627563e-01f,
                       6.356252432e-01f, 1.285517514e-01f});
    Value complement = exp(mul(fma(q, t, t), constant(-1.0f)));
    Value large = withSign(sub(constant(1.0f), complement), x);
    return select(less(size, constant(0.93f)), small, large);
  }

  /// Sine or cosine, for arguments within the range of the reduction.
  Value sine(Value x, bool isCosine) {
    Value magic = constant(12582912.0f);
    Value shifted = fma(x, constant(0.636619772f), magic);
    Value whole = sub(shifted, magic);
    Value quarter = bits(shifted);
    // pi/2 is split in three parts.
    Value r = fma(whole, constant(-1.57079625e+00f), x);
    r = fma(whole, constant(-7.54978942e-08f), r);
    r = fma(whole, constant(-5.39030253e-15f), r);
    Value square = mul(r, r);
    Value s = polynomial(
        square, {-1.951668091e-04f, 8.332173340e-03f, -1.666665524e-01f});
    s = fma(mul(s, square), r, r);
    Value c = polynomial(
        square, {2.443782432e-05f, -1.388736186e-03f, 4.166664556e-02f});
    c = fma(c, mul(square, square),
            fma(square, constant(-0.5f), constant(1.0f)));
    if (isCosine)
      quarter = make<arith::AddIOp>(quarter, integer(1));
    Value odd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      make<arith::AndIOp>(quarter, integer(1)),
                                      integer(0));
    Value sign = make<arith::ShLIOp>(make<arith::AndIOp>(quarter, integer(2)),
                                     integer(30));
    Value result = select(odd, c, s);
    result = fromBits(make<arith::XOrIOp>(bits(result), sign));
    if (isCosine)
      return result;
    // For small x, sin x = x, including the sign of zero.
    return select(less(abs(x), constant(1e-4f)), x, result);
  }

  OpBuilder &builder;
  Location loc;
  VectorType type, bitsType;
};

/// Rewrites `Op` on vectors of f32, f16 and bf16 with a method of `Floats`.
template <typename Op>
struct Approximate : OpRewritePattern<Op> {
  using Function = function_ref<Value(Floats &, Value)>;
  Approximate(MLIRContext *context, Value (*function)(Floats &, Value))
      : OpRewritePattern<Op>(context), function(function) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.isScalable() ||
        !isa<Float32Type, Float16Type, BFloat16Type>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32 or less");
    Location loc = op.getLoc();
    VectorType wide = type.clone(rewriter.getF32Type());
    Value value = op.getOperand();
    if (wide != type)
      value = arith::ExtFOp::create(rewriter, loc, wide, value);
    Floats floats(rewriter, loc, wide);
    Value result = function(floats, value);
    if (wide != type)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  Value (*function)(Floats &, Value);
};

/// Marks an exponential in a block with at most one other.
static constexpr StringLiteral isRare = "is_rare";

/// Adds a branch for the case that all arguments are in the normal range, which
/// saves half of the work. Not used in blocks with many exponentials, such as
/// epilogues, to limit code size.
struct ApproximateRareExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!op->hasAttr(isRare) || !type || type.getRank() != 1 ||
        type.isScalable() || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not rare, or not of f32");
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Floats floats(rewriter, loc, type);
    Value ordinary = floats.compare(arith::CmpFPredicate::OLE, floats.abs(x),
                                    floats.constant(87.0f));
    Value all = vector::ReductionOp::create(
        rewriter, loc, vector::CombiningKind::AND, ordinary);
    auto branch = scf::IfOp::create(
        rewriter, loc, all,
        [&](OpBuilder &builder, Location at) {
          Floats inner(builder, at, type);
          scf::YieldOp::create(builder, at, inner.ordinaryExp(x));
        },
        [&](OpBuilder &builder, Location at) {
          Floats inner(builder, at, type);
          scf::YieldOp::create(builder, at, inner.exp(x));
        });
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

/// Sine and cosine; if any argument is too large for the reduction, all lanes
/// call libm.
template <typename Op, bool isCosine>
struct ApproximateSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !isa<Float32Type>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Floats floats(rewriter, loc, type);
    Value small = floats.less(floats.abs(x), floats.constant(30000.0f));
    Value all = vector::ReductionOp::create(rewriter, loc,
                                            vector::CombiningKind::AND, small);
    auto branch = scf::IfOp::create(
        rewriter, loc, all,
        [&](OpBuilder &builder, Location at) {
          Floats inner(builder, at, type);
          scf::YieldOp::create(builder, at, inner.sine(x, isCosine));
        },
        [&](OpBuilder &builder, Location at) {
          Value result = x;
          for (int64_t lane = 0; lane < type.getDimSize(0); ++lane) {
            Value one = vector::ExtractOp::create(builder, at, x, lane);
            result = vector::InsertOp::create(
                builder, at, Op::create(builder, at, one), result, lane);
          }
          scf::YieldOp::create(builder, at, result);
        });
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

struct ApproximateMath : relax::impl::ApproximateMathPassBase<ApproximateMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    DenseMap<Block *, SmallVector<Operation *>> blocks;
    getOperation().walk(
        [&](math::ExpOp op) { blocks[op->getBlock()].push_back(op); });
    for (auto &[block, ops] : blocks)
      for (Operation *op : ops)
        if (ops.size() <= 2)
          op->setAttr(isRare, UnitAttr::get(context));
    RewritePatternSet patterns(context);
    populateApproximateMathPatterns(patterns, /*hasLibrary=*/true);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void relax::populateApproximateMathPatterns(RewritePatternSet &patterns,
                                            bool hasLibrary) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ApproximateRareExp>(context, /*benefit=*/2);
  patterns.add<Approximate<math::ExpOp>>(
      context, +[](Floats &f, Value x) { return f.exp(x); });
  patterns.add<Approximate<math::ExpM1Op>>(
      context, +[](Floats &f, Value x) { return f.expm1(x); });
  patterns.add<Approximate<math::LogOp>>(
      context, +[](Floats &f, Value x) { return f.log(x); });
  patterns.add<Approximate<math::Log1pOp>>(
      context, +[](Floats &f, Value x) { return f.log1p(x); });
  patterns.add<Approximate<math::Log2Op>>(
      context, +[](Floats &f, Value x) {
        return f.mul(f.log(x), f.constant(1.44269504f));
      });
  patterns.add<Approximate<math::Log10Op>>(
      context, +[](Floats &f, Value x) {
        return f.mul(f.log(x), f.constant(0.434294482f));
      });
  patterns.add<Approximate<math::TanhOp>>(
      context, +[](Floats &f, Value x) { return f.tanh(x); });
  patterns.add<Approximate<math::ErfOp>>(
      context, +[](Floats &f, Value x) { return f.erf(x); });
  if (hasLibrary)
    patterns.add<ApproximateSine<math::SinOp, false>,
                 ApproximateSine<math::CosOp, true>>(context);
}
