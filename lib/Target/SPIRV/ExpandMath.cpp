//===- ExpandMath.cpp - functions of reals as arithmetic ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vulkan asks little of functions: a sine may be wrong by 2^-11, and of f64
// there is none. So polynomials take their place, those of the CPU where it has
// one, MLIR's else. What is exact in SPIR-V stays: roots, rounding, signs.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/ApproximateMath.h"
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

/// The CPU's polynomials are of vectors: a scalar is one of a single element.
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

/// The whole part: the largest whole number of the size, with the sign.
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

struct ExpandMath : relax::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateApproximateMathPatterns(patterns, /*hasLibrary=*/false);
    patterns.add<ScalarAsVector<math::ExpOp>, ScalarAsVector<math::ExpM1Op>,
                 ScalarAsVector<math::LogOp>, ScalarAsVector<math::Log1pOp>,
                 ScalarAsVector<math::Log2Op>, ScalarAsVector<math::Log10Op>,
                 ScalarAsVector<math::TanhOp>, ScalarAsVector<math::ErfOp>,
                 ScalarAsVector<math::SinOp>, ScalarAsVector<math::CosOp>,
                 ExpandTrunc>(context);
    math::populateExpansionPatterns(
        patterns, {"acosh", "asinh", "atanh", "cosh", "sinh", "tan", "exp2",
                   "powf", "fpowi", "rsqrt", "ctlz"});
    auto isPolynomial = [](StringRef name) {
      return llvm::is_contained({"math.acos", "math.asin", "math.atan",
                                 "math.atan2", "math.cbrt", "math.erfc"},
                                name);
    };
    populateMathF32ExpansionPatterns(patterns, isPolynomial);
    populateMathPolynomialApproximationPatterns(patterns, isPolynomial);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
