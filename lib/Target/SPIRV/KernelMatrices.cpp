//===- KernelMatrices.cpp - cooperative matrices in SPIR-V ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers the ops of lib/Target/GPU/Launch/Matrices.cpp, which represent
// positions as casts of a buffer and an element index. A matrix is a single
// value.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::relax;

/// The pointer to a matrix, and the distance of its lines.
FailureOr<std::pair<Value, Value>>
KernelEmitter::matrixPlace(Operation *op, Value pointer, Value pitch) {
  auto cast = pointer.getDefiningOp<UnrealizedConversionCastOp>();
  std::optional<int64_t> elements = getConstantIntValue(pitch);
  if (!cast || cast.getNumOperands() != 2 || !elements ||
      !buffers.count(cast.getOperand(0)))
    return op->emitOpError(
        "must have a place in the shared memory of the block");
  Buffer &buffer = buffers[cast.getOperand(0)];
  Type type = memoryType(buffer.type.getElementType());
  if (buffer.perVector > 1) {
    auto array = llvm::cast<spirv::PointerType>(buffer.base.getType());
    type =
        llvm::cast<spirv::ArrayType>(array.getPointeeType()).getElementType();
    if (*elements % buffer.perVector)
      return op->emitOpError("must have rows of whole vectors");
  }
  return std::pair(pointerTo(buffer, scalarOf(cast.getOperand(1)), type),
                   word(*elements / buffer.perVector));
}

LogicalResult KernelEmitter::emitMatrix(Operation &op) {
  hasMatrices = true;
  subgroup = 32;
  if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op)) {
    auto place = matrixPlace(&op, load.getPointer(), load.getStride());
    if (failed(place))
      return failure();
    bind(load,
         {spirv::KHRCooperativeMatrixLoadOp::create(
             builder, load.getType(), place->first, load.getMatrixLayout(),
             place->second, spirv::MemoryAccessAttr(), IntegerAttr())});
    return success();
  }
  if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op)) {
    auto place = matrixPlace(&op, store.getPointer(), store.getStride());
    if (failed(place))
      return failure();
    spirv::KHRCooperativeMatrixStoreOp::create(
        builder, place->first, scalarOf(store.getObject()),
        store.getMatrixLayout(), place->second, spirv::MemoryAccessAttr(),
        IntegerAttr());
    return success();
  }
  // Other matrix ops are cloned.
  if (!isa<spirv::KHRCooperativeMatrixMulAddOp, spirv::CompositeConstructOp,
           spirv::FMulOp>(op))
    return op.emitOpError("cannot be lowered to SPIR-V");
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, scalarOf(operand));
  bind(op.getResult(0), {builder.clone(op, mapping)->getResult(0)});
  return success();
}
