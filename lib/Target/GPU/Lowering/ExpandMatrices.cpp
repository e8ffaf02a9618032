//===- ExpandMatrices.cpp - cooperative matrices as vectors ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane holds half a row of the 16 x 16 elements:
//
//   lane l    row l / 2, eight columns starting at l % 2 * 8
//
// A product loops over the depth. In each step, it multiplies one element of
// the lane's row by eight elements of its columns, which come from other lanes
// through shuffles.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::relax {
#define GEN_PASS_DEF_EXPANDMATRICESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static constexpr int64_t lanes = 32, elements = 8, size = 16;

namespace {

/// Builds the code of one lane.
class Lane {
public:
  Lane(ConversionPatternRewriter &rewriter, Location loc)
      : builder(loc, rewriter) {
    Value thread = gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
    lane = arith::RemUIOp::create(builder, thread, index(lanes));
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, lhs, rhs);
  }
  Value multiply(Value lhs, int64_t rhs) {
    return arith::MulIOp::create(builder, lhs, index(rhs));
  }
  Value row() { return arith::DivUIOp::create(builder, lane, index(2)); }
  Value half() { return arith::RemUIOp::create(builder, lane, index(2)); }

  /// The shared memory buffer and the index of each element of the lane in it;
  /// none if they are unknown.
  std::optional<std::pair<Value, SmallVector<Value>>>
  places(Value pointer, Value pitch, spirv::CooperativeMatrixLayoutKHR layout) {
    auto cast = pointer.getDefiningOp<UnrealizedConversionCastOp>();
    std::optional<int64_t> distance = getConstantIntValue(pitch);
    if (!cast || cast.getNumOperands() != 2 || !distance)
      return std::nullopt;
    bool byRows = layout == spirv::CooperativeMatrixLayoutKHR::RowMajor;
    Value from =
        add(cast.getOperand(1), multiply(row(), byRows ? *distance : 1));
    Value first = multiply(half(), elements);
    SmallVector<Value> all;
    for (int64_t i = 0; i < elements; ++i)
      all.push_back(
          add(from, multiply(add(first, index(i)), byRows ? 1 : *distance)));
    return std::pair(cast.getOperand(0), all);
  }

  /// Element `at` of lane `source`.
  Value take(Value vector, Value at, Value source) {
    Value own = vector::ExtractOp::create(builder, vector, OpFoldResult(at));
    Type i32 = builder.getI32Type();
    auto shuffled = gpu::ShuffleOp::create(
        builder, arith::BitcastOp::create(builder, i32, own),
        arith::IndexCastOp::create(builder, i32, source),
        arith::ConstantIntOp::create(builder, i32, lanes),
        gpu::ShuffleMode::IDX);
    return arith::BitcastOp::create(builder, builder.getF32Type(),
                                    shuffled.getShuffleResult());
  }

  Value widen(Value vector) {
    auto type = VectorType::get(elements, builder.getF32Type());
    return vector.getType() == type
               ? vector
               : arith::ExtFOp::create(builder, type, vector).getResult();
  }

  ImplicitLocOpBuilder builder;
  Value lane;
};

struct ExpandLoad
    : public OpConversionPattern<spirv::KHRCooperativeMatrixLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(spirv::KHRCooperativeMatrixLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lane lane(rewriter, op.getLoc());
    auto from =
        lane.places(op.getPointer(), op.getStride(), op.getMatrixLayout());
    if (!from)
      return rewriter.notifyMatchFailure(op, "has no known place");
    SmallVector<Value> values;
    for (Value at : from->second)
      values.push_back(memref::LoadOp::create(lane.builder, from->first, at));
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op, cast<VectorType>(type), values);
    return success();
  }
};

struct ExpandStore
    : public OpConversionPattern<spirv::KHRCooperativeMatrixStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(spirv::KHRCooperativeMatrixStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lane lane(rewriter, op.getLoc());
    auto to =
        lane.places(op.getPointer(), op.getStride(), op.getMatrixLayout());
    if (!to)
      return rewriter.notifyMatchFailure(op, "has no known place");
    for (auto [i, at] : llvm::enumerate(to->second)) {
      Value value = vector::ExtractOp::create(lane.builder, adaptor.getObject(),
                                              static_cast<int64_t>(i));
      memref::StoreOp::create(lane.builder, value, to->first, at);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ExpandProduct
    : public OpConversionPattern<spirv::KHRCooperativeMatrixMulAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(spirv::KHRCooperativeMatrixMulAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lane lane(rewriter, op.getLoc());
    ImplicitLocOpBuilder &builder = lane.builder;
    Value a = lane.widen(adaptor.getA()), b = lane.widen(adaptor.getB());
    Value ofRow = lane.multiply(lane.row(), 2), half = lane.half();
    auto loop = scf::ForOp::create(
        builder, lane.index(0), lane.index(size), lane.index(1),
        ValueRange(adaptor.getC()),
        [&](OpBuilder &, Location, Value k, ValueRange sums) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPointToEnd(k.getParentBlock());
          Value part = arith::DivUIOp::create(builder, k, lane.index(elements));
          Value inPart =
              arith::RemUIOp::create(builder, k, lane.index(elements));
          Value left = lane.take(a, inPart, lane.add(ofRow, part));
          Value from = lane.add(lane.multiply(k, 2), half);
          SmallVector<Value> right;
          for (int64_t i = 0; i < elements; ++i)
            right.push_back(lane.take(b, lane.index(i), from));
          auto type = VectorType::get(elements, builder.getF32Type());
          Value next = math::FmaOp::create(
              builder, vector::BroadcastOp::create(builder, type, left),
              vector::FromElementsOp::create(builder, type, right),
              sums.front());
          scf::YieldOp::create(builder, next);
        });
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

struct ExpandSplat : public OpConversionPattern<spirv::CompositeConstructOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(spirv::CompositeConstructOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()),
        adaptor.getOperands().front());
    return success();
  }
};

struct ExpandScale : public OpConversionPattern<spirv::FMulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(spirv::FMulOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, adaptor.getOperand1(),
                                               adaptor.getOperand2());
    return success();
  }
};

struct ExpandMatrices : relax::impl::ExpandMatricesPassBase<ExpandMatrices> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](spirv::CooperativeMatrixType type) -> Type {
      return VectorType::get(elements, type.getElementType());
    });
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<spirv::SPIRVDialect>();
    RewritePatternSet patterns(context);
    patterns
        .add<ExpandLoad, ExpandStore, ExpandProduct, ExpandSplat, ExpandScale>(
            converter, context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    // Erase the position casts, which are unused now.
    getOperation().walk([](UnrealizedConversionCastOp cast) {
      if (cast.getNumOperands() == 2 && cast->use_empty())
        cast.erase();
    });
  }
};

} // namespace
