//===- OutlineParallel.cpp - runs parallel loops on the thread pool -------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Passes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OUTLINEPARALLELPASS
#include "Target/CPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static constexpr StringLiteral parallelFor = "relax_rt_parallel_for";

namespace {

struct OutlineParallel : relax::impl::OutlineParallelPassBase<OutlineParallel> {
  using OutlineParallelPassBase::OutlineParallelPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<scf::ForallOp> loops;
    // Outermost loops only; loops inside them run sequentially.
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForallOp loop : loops)
      if (sequential || !isOutlinable(loop))
        continue;
      else
        outline(loop, symbols);
    // The remaining loops.
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForallOp> rest;
    getOperation().walk([&](scf::ForallOp loop) { rest.push_back(loop); });
    for (scf::ForallOp loop : rest) {
      hoistPlaces(loop.getRegion(),
                  &loop->getParentOfType<FunctionOpInterface>()
                       .getFunctionBody()
                       .front());
      if (failed(scf::forallToForLoop(rewriter, loop)))
        return signalPassFailure();
    }
  }

  static bool isOutlinable(scf::ForallOp loop) {
    return loop.getRank() == 1 && loop.getNumResults() == 0 &&
           isConstantIntValue(loop.getMixedLowerBound().front(), 0) &&
           loop->getParentOfType<func::FuncOp>();
  }

  /// Moves stack allocations to the entry block so that each is made once.
  static void hoistPlaces(Region &region, Block *entry) {
    SmallVector<memref::AllocaOp> places;
    region.walk([&](memref::AllocaOp place) {
      if (place->getNumOperands() == 0)
        places.push_back(place);
    });
    for (memref::AllocaOp place : places)
      place->moveBefore(entry, entry->begin());
  }

  void outline(scf::ForallOp loop, SymbolTable &symbols) {
    MLIRContext *context = &getContext();
    Location loc = loop.getLoc();
    auto function = loop->getParentOfType<func::FuncOp>();
    LLVMTypeConverter types(context);
    auto pointer = LLVM::LLVMPointerType::get(context);
    auto i64 = IntegerType::get(context, 64);

    // Constants used by the body are cloned into it; other values go through
    // the closure.
    OpBuilder builder(loop);
    auto [countAttr, grainAttr] = std::make_pair(
        loop.getMixedUpperBound().front(), loop.getMixedStep().front());
    Value count = getValueOrCreateConstantIndexOp(builder, loc, countAttr);
    Value grain = getValueOrCreateConstantIndexOp(builder, loc, grainAttr);
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop.getRegion(), used);
    used.insert(grain);
    SmallVector<Value> captured, constants;
    SmallVector<Type> fields;
    for (Value value : used) {
      if (matchPattern(value, m_Constant())) {
        constants.push_back(value);
        continue;
      }
      captured.push_back(value);
      fields.push_back(types.convertType(value.getType()));
    }
    auto closureType = LLVM::LLVMStructType::getLiteral(context, fields);

    auto bodyType = FunctionType::get(context, {pointer, i64, i64}, {});
    auto body = func::FuncOp::create(
        loc, (function.getSymName() + "_parallel").str(), bodyType);
    body.setPrivate();
    body->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
    symbols.insert(body);
    Block *entry = body.addEntryBlock();
    OpBuilder inner = OpBuilder::atBlockBegin(entry);
    IRMapping mapping;
    for (Value constant : constants)
      mapping.map(constant,
                  inner.clone(*constant.getDefiningOp())->getResult(0));
    for (auto [number, value] : llvm::enumerate(captured)) {
      Value address = LLVM::GEPOp::create(
          inner, loc, pointer, closureType, entry->getArgument(0),
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(number)});
      Value field = LLVM::LoadOp::create(inner, loc, fields[number], address);
      mapping.map(value, cast(inner, loc, value.getType(), field));
    }
    Type index = inner.getIndexType();
    Value from =
        arith::IndexCastOp::create(inner, loc, index, entry->getArgument(1));
    Value to =
        arith::IndexCastOp::create(inner, loc, index, entry->getArgument(2));
    auto chunks =
        scf::ForOp::create(inner, loc, from, to, mapping.lookup(grain));
    func::ReturnOp::create(inner, loc);
    mapping.map(loop.getInductionVar(0), chunks.getInductionVar());
    inner.setInsertionPointToStart(chunks.getBody());
    for (Operation &op : loop.getBody()->without_terminator())
      inner.clone(op, mapping);
    hoistPlaces(body.getBody(), entry);

    // Emit the call. The closure is allocated once, outside any surrounding
    // loops.
    OpBuilder start = OpBuilder::atBlockBegin(&function.getBody().front());
    Value one = LLVM::ConstantOp::create(start, loc, i64, 1);
    Value closure =
        LLVM::AllocaOp::create(start, loc, pointer, closureType, one);
    for (auto [number, value] : llvm::enumerate(captured)) {
      Value address = LLVM::GEPOp::create(
          builder, loc, pointer, closureType, closure,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(number)});
      LLVM::StoreOp::create(builder, loc,
                            cast(builder, loc, fields[number], value), address);
    }
    declare(symbols, bodyType, pointer, i64);
    Value callee =
        func::ConstantOp::create(builder, loc, bodyType, body.getSymName());
    Value count64 = arith::IndexCastOp::create(builder, loc, i64, count);
    Value grain64 = arith::IndexCastOp::create(builder, loc, i64, grain);
    func::CallOp::create(builder, loc, parallelFor, TypeRange(),
                         ValueRange{callee, closure, count64, grain64});
    loop.erase();
  }

  static Value cast(OpBuilder &builder, Location loc, Type type, Value value) {
    if (value.getType() == type)
      return value;
    return UnrealizedConversionCastOp::create(builder, loc, type, value)
        .getResult(0);
  }

  void declare(SymbolTable &symbols, FunctionType body, Type pointer,
               Type i64) {
    if (symbols.lookup(parallelFor))
      return;
    auto type = FunctionType::get(&getContext(), {body, pointer, i64, i64}, {});
    auto declaration =
        func::FuncOp::create(getOperation().getLoc(), parallelFor, type);
    declaration.setPrivate();
    symbols.insert(declaration);
  }
};

} // namespace
