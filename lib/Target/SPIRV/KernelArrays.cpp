//===- KernelArrays.cpp - memory of blocks and threads --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory of a launch becomes one array of vectors of words if all
// accesses are whole vectors or words, so that its parts can overlap and 16
// bytes can be accessed at a time. Otherwise, each part becomes a separate
// array.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::relax;

using spirv::StorageClass;

FailureOr<KernelEmitter::Buffer>
KernelEmitter::allocateArray(MemRefType type, StorageClass where,
                             bool asVectors) {
  if (!type.hasStaticShape())
    return kernel.emitError("an array of a block or a thread has a size that "
                            "is not known");
  Type element = memoryType(type.getElementType());
  int64_t count = std::max<int64_t>(type.getNumElements(), 1);
  Buffer buffer;
  buffer.type = MemRefType::get(type.getShape(), type.getElementType());
  int64_t bytes = bytesOf(element);
  if (asVectors && count * bytes % 16 == 0) {
    // Elements smaller than a word are packed into words.
    element = VectorType::get(4, bytes < 4 ? builder.getI32Type() : element);
    buffer.perVector = 16 / bytes;
    count /= buffer.perVector;
    bytes = 16;
  }
  auto pointer =
      spirv::PointerType::get(spirv::ArrayType::get(element, count), where);
  if (where == StorageClass::Function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    buffer.base = spirv::VariableOp::create(builder, pointer, where, Value());
    return buffer;
  }
  sharedBytes += llvm::alignTo(count * bytes, 16);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  buffer.base = global("shared" + std::to_string(globals.size()), pointer);
  return buffer;
}

/// Whether all accesses to a view of shared memory are aligned 16-byte vectors
/// or words.
bool KernelEmitter::isReadAsVectors(memref::ViewOp view) {
  MemRefType type = view.getType();
  std::optional<int64_t> byte = getConstantIntValue(view.getByteShift());
  int64_t size = bytesOf(memoryType(type.getElementType()));
  bool isWord = size == 4, hasVectors = false, hasOthers = false;
  auto see = [&](int64_t count, std::optional<uint64_t> align) {
    if (align.value_or(1) % 16 == 0 && count * size % 16 == 0)
      hasVectors = true;
    else
      hasOthers |= !isWord;
  };
  kernel.walk([&](memref::ViewOp other) {
    if (other.getType() != type ||
        getConstantIntValue(other.getByteShift()) != byte)
      return;
    for (Operation *user : other->getUsers()) {
      if (auto load = dyn_cast<vector::LoadOp>(user))
        see(load.getVectorType().getNumElements(), load.getAlignment());
      else if (auto store = dyn_cast<vector::StoreOp>(user))
        see(store.getVectorType().getNumElements(), store.getAlignment());
      else if (isa<UnrealizedConversionCastOp>(user))
        hasMatrices = true; // their lines are whole vectors
      else
        hasOthers |= !isWord || !isa<memref::LoadOp, memref::StoreOp>(user);
    }
  });
  return (hasVectors || isWord) && !hasOthers && size <= 4;
}

/// Views a part of the single array of vectors of words, in which parts that
/// are used one after the other may overlap.
FailureOr<KernelEmitter::Buffer> KernelEmitter::viewWords(memref::ViewOp view,
                                                          int64_t byte) {
  MemRefType type = view.getType();
  int64_t bytes = bytesOf(memoryType(type.getElementType()));
  if (!sharedWords) {
    int64_t end = 0;
    kernel.walk([&](memref::ViewOp other) {
      MemRefType of = other.getType();
      end = std::max(end, *getConstantIntValue(other.getByteShift()) +
                              of.getNumElements() *
                                  bytesOf(memoryType(of.getElementType())));
    });
    auto array =
        MemRefType::get(llvm::alignTo(end, 16) / 4, builder.getI32Type());
    FailureOr<Buffer> all =
        allocateArray(array, StorageClass::Workgroup, /*asVectors=*/true);
    if (failed(all))
      return failure();
    sharedWords = all->base;
  }
  Buffer buffer;
  buffer.type = MemRefType::get(type.getShape(), type.getElementType());
  buffer.base = sharedWords;
  buffer.perVector = 16 / bytes;
  buffer.first = byte / bytes;
  return buffer;
}

FailureOr<KernelEmitter::Buffer> KernelEmitter::viewShared(memref::ViewOp op) {
  if (!op.getSource().getDefiningOp<gpu::DynamicSharedMemoryOp>())
    return op.emitOpError("must view the shared memory of the block");
  std::optional<int64_t> byte = getConstantIntValue(op.getByteShift());
  if (!byte)
    return op.emitOpError("must have a constant byte shift");
  if (!isOfWords) {
    isOfWords = true;
    kernel.walk([&](memref::ViewOp view) {
      std::optional<int64_t> at = getConstantIntValue(view.getByteShift());
      isOfWords = *isOfWords && at && *at % 16 == 0 &&
                  view.getType().hasStaticShape() && isReadAsVectors(view);
    });
  }
  if (*isOfWords)
    return viewWords(op, *byte);
  auto key = std::pair(*byte, op.getType().getAsOpaquePointer());
  auto found = views.find(key);
  if (found != views.end())
    return found->second;
  FailureOr<Buffer> array =
      allocateArray(op.getType(), StorageClass::Workgroup, isReadAsVectors(op));
  if (succeeded(array))
    views[key] = *array;
  return array;
}
