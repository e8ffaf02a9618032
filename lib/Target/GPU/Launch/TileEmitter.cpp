//===- TileEmitter.cpp - building blocks of tiled kernels -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/TileEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

void WidthFinder::see(linalg::GenericOp op, OpOperand &operand) {
  auto tensor = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!tensor)
    return;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    bool runs = false;
    expr.walk([&](AffineExpr part) {
      if (auto loop = dyn_cast<AffineDimExpr>(part))
        runs |= graph.axisOf(op, loop.getPosition()) == axis;
    });
    if (!runs)
      continue;
    isRegular &= isa<AffineDimExpr>(expr) && dim + 1 == map.getNumResults();
    if (!tensor.isDynamicDim(dim))
      size = tensor.getDimSize(dim);
    narrowest = std::min<int64_t>(
        narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
  }
}

void WidthFinder::see(linalg::GenericOp stage) {
  graph.visitInlined(stage, [&](linalg::GenericOp op) {
    op.getBody()->walk([&](Operation *inner) {
      isRegular &= !isa<tensor::ExtractOp>(inner) && !inner->getNumRegions();
    });
    for (OpOperand &operand : op->getOpOperands())
      see(op, operand);
  });
}

int64_t WidthFinder::width() const {
  int64_t width = std::min<int64_t>(16 / narrowest, 8);
  while (width > 1 && size % width)
    width /= 2;
  return isRegular && size ? width : 1;
}

//===----------------------------------------------------------------------===//
// Indices and memory
//===----------------------------------------------------------------------===//

Value TileEmitter::subtract(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}

Value TileEmitter::divideBy(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs
                  : builder.createOrFold<arith::DivUIOp>(loc, lhs, number(rhs));
}

Value TileEmitter::remainder(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::RemUIOp>(loc, lhs, number(rhs));
}

Value TileEmitter::exclusiveOr(Value lhs, Value rhs) {
  return builder.createOrFold<arith::XOrIOp>(loc, lhs, rhs);
}

Value TileEmitter::isLess(Value lhs, Value rhs) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                             lhs, rhs);
}

Value TileEmitter::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return builder.createOrFold<arith::AndIOp>(loc, lhs, rhs);
}

void TileEmitter::onlyIf(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  PointEmitter::Scope scope(emitter);
  body();
}

Value TileEmitter::isInside(Value at, Value size, int64_t step) {
  std::optional<int64_t> known = getConstantIntValue(size);
  return known && *known % step == 0 ? Value() : isLess(at, size);
}

void TileEmitter::launchTiles(Value blocks, int64_t threads,
                              int64_t sharedBytes) {
  launch = createLaunch(blocks, threads);
  OpBuilder::InsertionGuard outside(builder);
  builder.setInsertionPoint(launch);
  Value bytes = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                             sharedBytes);
  launch.getDynamicSharedMemorySizeMutable().assign(bytes);
  // Prevents the compiler from moving loads down to their uses to save
  // registers.
  launch->setDiscardableAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
  thread = launch.getThreadIds().x;
}

Value TileEmitter::viewShared(int64_t count, Type element, int64_t byte) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = [&](int64_t size, Type of) {
    return MemRefType::get(size, of, MemRefLayoutAttrInterface(), space);
  };
  Value bytes = gpu::DynamicSharedMemoryOp::create(
      builder, loc, type(ShapedType::kDynamic, builder.getI8Type()));
  return memref::ViewOp::create(builder, loc, type(count, element), bytes,
                                number(byte), ValueRange());
}

Value TileEmitter::flatten(Value buffer) {
  OpBuilder::InsertionGuard outside(builder);
  builder.setInsertionPoint(launch);
  ReassociationIndices all = llvm::to_vector(
      llvm::seq<int64_t>(0, cast<MemRefType>(buffer.getType()).getRank()));
  return memref::CollapseShapeOp::create(
      builder, loc, buffer, SmallVector<ReassociationIndices>{all});
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

Value TileEmitter::turn(Value line, Value at, int64_t chunks) {
  int64_t turns = std::min<int64_t>(chunks & -chunks, 8);
  return exclusiveOr(at, remainder(divideBy(line, 8 / turns), turns));
}

SmallVector<Value> TileEmitter::loadMatrices(Value shared, Value at,
                                             bool transpose) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  Value all = nvgpu::LdMatrixOp::create(
      builder, loc, VectorType::get({4, 2}, element), shared, at,
      builder.getBoolAttr(transpose), builder.getI32IntegerAttr(4));
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i) {
    Value pair = vector::ExtractOp::create(builder, loc, all, i);
    if (element.isBF16()) {
      pair = vector::BitCastOp::create(
          builder, loc, VectorType::get(1, builder.getI32Type()), pair);
      pair = vector::ExtractOp::create(builder, loc, pair, 0);
    }
    words.push_back(pair);
  }
  return words;
}

SmallVector<Value> TileEmitter::multiplyMatrices(ValueRange a, ValueRange b,
                                                 ValueRange sums,
                                                 Type element) {
  auto four = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Value product = NVVM::MmaOp::create(
      builder, loc, four, a, b, sums, ArrayRef<int64_t>{16, 8, 16},
      std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  SmallVector<Value> parts;
  for (int64_t part = 0; part < 4; ++part)
    parts.push_back(LLVM::ExtractValueOp::create(builder, loc, product, part));
  return parts;
}
