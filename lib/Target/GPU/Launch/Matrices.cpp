//===- Matrices.cpp - cooperative matrices --------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vulkan's cooperative matrices, 16 x 16 elements each, in SPIR-V ops. A
// position in shared memory is represented by a cast of the buffer and the
// element index, which the SPIR-V emitter understands.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/TileEmitter.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

using namespace mlir;
using namespace mlir::relax;

static spirv::CooperativeMatrixType typeOf(Type element,
                                           spirv::CooperativeMatrixUseKHR use) {
  return spirv::CooperativeMatrixType::get(element, TileEmitter::matrixSize,
                                           TileEmitter::matrixSize,
                                           spirv::Scope::Subgroup, use);
}

Value TileEmitter::matrixPlace(Value shared, Value at) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  if (!element.isF32())
    element = builder.getIntegerType(element.getIntOrFloatBitWidth());
  auto type = spirv::PointerType::get(element, spirv::StorageClass::Workgroup);
  return UnrealizedConversionCastOp::create(builder, loc, type,
                                            ValueRange{shared, at})
      .getResult(0);
}

Value TileEmitter::word(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                      value);
}

Value TileEmitter::loadMatrix(Value shared, Value at, int64_t pitch,
                              MatrixUse use, bool byColumns) {
  Type element = cast<MemRefType>(shared.getType()).getElementType();
  auto of = use == MatrixUse::A   ? spirv::CooperativeMatrixUseKHR::MatrixA
            : use == MatrixUse::B ? spirv::CooperativeMatrixUseKHR::MatrixB
                                  : spirv::CooperativeMatrixUseKHR::MatrixAcc;
  auto layout = byColumns ? spirv::CooperativeMatrixLayoutKHR::ColumnMajor
                          : spirv::CooperativeMatrixLayoutKHR::RowMajor;
  return spirv::KHRCooperativeMatrixLoadOp::create(
      builder, loc, typeOf(element, of), matrixPlace(shared, at), layout,
      word(pitch), spirv::MemoryAccessAttr(), IntegerAttr());
}

void TileEmitter::storeMatrix(Value matrix, Value shared, Value at,
                              int64_t pitch) {
  spirv::KHRCooperativeMatrixStoreOp::create(
      builder, loc, matrixPlace(shared, at), matrix,
      spirv::CooperativeMatrixLayoutKHR::RowMajor, word(pitch),
      spirv::MemoryAccessAttr(), IntegerAttr());
}

Value TileEmitter::zeroMatrix() {
  Type f32 = builder.getF32Type();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return spirv::CompositeConstructOp::create(
      builder, loc, typeOf(f32, spirv::CooperativeMatrixUseKHR::MatrixAcc),
      zero);
}

Value TileEmitter::addProduct(Value a, Value b, Value sum) {
  return spirv::KHRCooperativeMatrixMulAddOp::create(builder, loc, a, b, sum);
}

Value TileEmitter::scaleMatrix(Value matrix, Value by) {
  return spirv::FMulOp::create(builder, loc, matrix.getType(), matrix, by);
}

Value TileEmitter::loadWords(Value array, Value at, int64_t width) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  Value vector = vector::LoadOp::create(
      builder, loc, VectorType::get(width, element), array, at,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  return vector::BitCastOp::create(
      builder, loc, VectorType::get(bytes / 4, builder.getI32Type()), vector);
}

void TileEmitter::storeWords(Value words, Value array, Value at) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  int64_t bytes = 4 * cast<VectorType>(words.getType()).getNumElements();
  int64_t width = 8 * bytes / element.getIntOrFloatBitWidth();
  Value vector = vector::BitCastOp::create(
      builder, loc, VectorType::get(width, element), words);
  vector::StoreOp::create(builder, loc, vector, array, at,
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}
