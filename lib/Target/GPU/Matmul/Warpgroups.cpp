//===- Warpgroups.cpp - building blocks for sm_90 kernels -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Warpgroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::relax;

Value WarpgroupBuilder::number(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Attribute blockMemory(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Value WarpgroupBuilder::makeTensorMap(Value buffer, ArrayRef<int64_t> box) {
  MLIRContext *context = builder.getContext();
  auto type = cast<MemRefType>(buffer.getType());
  auto tile =
      MemRefType::get(box, type.getElementType(), MemRefLayoutAttrInterface(),
                      blockMemory(context));
  Type map = nvgpu::TensorMapDescriptorType::get(
      context, tile, nvgpu::TensorMapSwizzleKind::SWIZZLE_128B,
      nvgpu::TensorMapL2PromoKind::L2PROMO_128B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(map),
                                            ValueRange(buffer))
      .getResult(0);
}

Value WarpgroupBuilder::createBarriers(int64_t count) {
  MLIRContext *context = builder.getContext();
  return nvgpu::MBarrierCreateOp::create(
      builder, loc,
      nvgpu::MBarrierGroupType::get(context, blockMemory(context), count));
}

void WarpgroupBuilder::initBarriers(Value barriers, int64_t first,
                                    int64_t count, int64_t arrivals) {
  for (int64_t i = 0; i < count; ++i)
    nvgpu::MBarrierInitOp::create(builder, loc, barriers, number(arrivals),
                                  number(first + i), /*predicate=*/Value());
}

void WarpgroupBuilder::endInit() {
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}

void WarpgroupBuilder::wait(Value barriers, Value at, Value parity) {
  // Timeout before the barrier is polled again, in ns.
  constexpr int64_t ticks = 10000000;
  nvgpu::MBarrierTryWaitParityOp::create(builder, loc, barriers, parity,
                                         number(ticks), at);
}

void WarpgroupBuilder::arrive(Value barriers, Value at) {
  nvgpu::MBarrierArriveOp::create(
      builder, loc, nvgpu::MBarrierTokenType::get(builder.getContext()),
      barriers, at);
}

void WarpgroupBuilder::arriveExpecting(Value barriers, Value at,
                                       int64_t bytes) {
  nvgpu::MBarrierArriveExpectTxOp::create(builder, loc, barriers, number(bytes),
                                          at, /*predicate=*/Value());
}

Value WarpgroupBuilder::memory() {
  auto type = MemRefType::get(ShapedType::kDynamic, builder.getI8Type(),
                              MemRefLayoutAttrInterface(),
                              blockMemory(builder.getContext()));
  return gpu::DynamicSharedMemoryOp::create(builder, loc, type);
}

void WarpgroupBuilder::copyBox(Value map, ArrayRef<Value> coordinates,
                               Value barriers, Value at, Value offset) {
  auto type = cast<nvgpu::TensorMapDescriptorType>(map.getType());
  Value box = memref::ViewOp::create(builder, loc, type.getTensor(), memory(),
                                     offset, ValueRange());
  auto innermostFirst = llvm::to_vector(llvm::reverse(coordinates));
  nvgpu::TmaAsyncLoadOp::create(builder, loc, box, barriers, map,
                                innermostFirst, at, /*multicastMask=*/Value(),
                                /*predicate=*/Value());
}

void WarpgroupBuilder::prefetch(Value map) {
  nvgpu::TmaPrefetchOp::create(builder, loc, map, /*predicate=*/Value());
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value WarpgroupBuilder::dynamicMemory() {
  return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory());
}

Value WarpgroupBuilder::warpOf(Value thread) {
  Type i32 = builder.getI32Type();
  Value warp = arith::IndexCastOp::create(
      builder, loc, i32,
      arith::DivUIOp::create(builder, loc, thread, number(32)));
  Value zero = arith::ConstantIntOp::create(builder, loc, i32, 0);
  Value width = arith::ConstantIntOp::create(builder, loc, i32, 32);
  Value first = gpu::ShuffleOp::create(builder, loc, warp, zero, width,
                                       gpu::ShuffleMode::IDX)
                    .getShuffleResult();
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    first);
}

void WarpgroupBuilder::barrier(int32_t number, int64_t threads) {
  Type i32 = builder.getI32Type();
  NVVM::BarrierOp::create(
      builder, loc, TypeRange(),
      arith::ConstantIntOp::create(builder, loc, i32, number),
      arith::ConstantIntOp::create(builder, loc, i32, threads),
      /*reductionOp=*/NVVM::BarrierReductionAttr(),
      /*reductionPredicate=*/Value());
}

void WarpgroupBuilder::clusterBarrier() {
  // A warp arrives once, regardless of any divergence before.
  Value all =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), -1);
  NVVM::SyncWarpOp::create(builder, loc, all);
  NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
}

Value WarpgroupBuilder::addressInCluster(Value array, int64_t block) {
  auto pointerTo = [&](NVVM::NVVMMemorySpace space) {
    return LLVM::LLVMPointerType::get(builder.getContext(),
                                      static_cast<unsigned>(space));
  };
  Value address = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, array));
  address = LLVM::IntToPtrOp::create(
      builder, loc, pointerTo(NVVM::NVVMMemorySpace::Shared), address);
  return NVVM::MapaOp::create(
      builder, loc, pointerTo(NVVM::NVVMMemorySpace::SharedCluster), address,
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), block));
}

Value WarpgroupBuilder::loadInCluster(Value address, Value at, Type type) {
  Type i64 = builder.getI64Type();
  Type element = getElementTypeOrSelf(type);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (auto vector = dyn_cast<VectorType>(type))
    bytes *= vector.getNumElements();
  Value place = LLVM::GEPOp::create(
      builder, loc, address.getType(), element, address,
      ArrayRef<LLVM::GEPArg>{
          arith::IndexCastOp::create(builder, loc, i64, at).getResult()});
  return LLVM::LoadOp::create(builder, loc, type, place,
                              std::min<int64_t>(bytes, 16));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value WarpgroupBuilder::zeroSums(int64_t columns) {
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      SmallVector<Type>(columns / 2, builder.getF32Type()));
  return LLVM::ZeroOp::create(builder, loc, type);
}

/// Matrix descriptor. Bits 0-13: address; 16-29: distance of blocks of lines;
/// 32-45: distance of groups of eight lines; all in units of 16 bytes. 62:
/// swizzled.
Value WarpgroupBuilder::describe(const WarpgroupMatrix &matrix, int64_t step) {
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  constexpr int64_t eightLines = 8 * warpgroupLineBytes;
  int64_t block = matrix.alongDepth ? 16 : matrix.blockBytes;
  int64_t ahead = step * 16 * (matrix.alongDepth ? 2 : warpgroupLineBytes);
  Value address =
      arith::AddIOp::create(builder, loc, matrix.address, word(ahead));
  address = arith::ShRUIOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, address, word(0x3FFFF)),
      word(4));
  return arith::OrIOp::create(
      builder, loc, address,
      word(block / 16 << 16 | eightLines / 16 << 32 | int64_t(1) << 62));
}

Value WarpgroupBuilder::multiply(Value sums, const WarpgroupMatrix &a,
                                 const WarpgroupMatrix &b, int64_t step,
                                 Type element, int64_t columns) {
  MLIRContext *context = builder.getContext();
  auto type = NVVM::WGMMATypesAttr::get(context, element.isBF16()
                                                     ? NVVM::WGMMATypes::bf16
                                                     : NVVM::WGMMATypes::f16);
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto layout = [&](bool isRow) {
    return NVVM::MMALayoutAttr::get(context, isRow ? NVVM::MMALayout::row
                                                   : NVVM::MMALayout::col);
  };
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, loc, sums.getType(), sums, describe(a, step), describe(b, step),
      NVVM::MMAShapeAttr::get(context, 64, columns, 16), type, type,
      NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, NVVM::WGMMAScaleOut::one), one, one,
      layout(a.alongDepth), layout(!b.alongDepth),
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

void WarpgroupBuilder::beginProducts() {
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
}

void WarpgroupBuilder::endProducts() {
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
}

void WarpgroupBuilder::waitForProducts(int64_t others) {
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, others);
}

Value WarpgroupBuilder::sumsOf(Value sums, int64_t pair, int64_t half) {
  SmallVector<Value> two;
  for (int64_t i = 0; i < 2; ++i)
    two.push_back(LLVM::ExtractValueOp::create(builder, loc, sums,
                                               4 * pair + 2 * half + i));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(2, builder.getF32Type()), two);
}
