//===- KernelMemory.cpp - memory accesses in SPIR-V -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

using spirv::StorageClass;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value KernelEmitter::baseOf(Buffer &buffer) {
  if (buffer.base)
    return buffer.base;
  int64_t pointer = buffer.word + 1; // use the aligned pointer
  buffer.base = parameter(pointer);
  if (isBound)
    buffer.binding = words.bind(pointer);
  return buffer.base;
}

Value KernelEmitter::sizeOf(const Buffer &buffer, unsigned dim) {
  if (!buffer.type.isDynamicDim(dim))
    return index(buffer.type.getDimSize(dim));
  return buffer.word < 0 ? buffer.sizes[dim] : parameter(buffer.word + 3 + dim);
}

Value KernelEmitter::strideOf(const Buffer &buffer, unsigned dim) {
  auto [strides, offset] = buffer.type.getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return index(strides[dim]);
  if (!buffer.strides.empty())
    return buffer.strides[dim];
  int64_t rank = buffer.type.getRank();
  if (!buffer.type.getLayout().isIdentity())
    return parameter(buffer.word + 3 + rank + dim);
  Value stride;
  for (int64_t inner = dim + 1; inner < rank; ++inner) {
    Value size = sizeOf(buffer, inner);
    stride = stride
                 ? spirv::IMulOp::create(builder, size.getType(), stride, size)
                       .getResult()
                 : size;
  }
  return stride;
}

Value KernelEmitter::offsetOf(const Buffer &buffer) {
  auto [strides, offset] = buffer.type.getStridesAndOffset();
  if (!ShapedType::isDynamic(offset))
    return index(offset);
  return buffer.word < 0 ? buffer.offset : parameter(buffer.word + 2);
}

Value KernelEmitter::linearize(const Buffer &buffer, ValueRange indices) {
  Value at = offsetOf(buffer);
  // a[i][j] with sizes m, n: i * n + j.
  if (buffer.type.getLayout().isIdentity() && buffer.strides.empty()) {
    at = {};
    for (auto [dim, value] : llvm::enumerate(indices)) {
      Value own = scalarOf(value);
      if (dim > 0 && at && !matchPattern(at, m_Zero()))
        own = add(spirv::IMulOp::create(builder, own.getType(), at,
                                        sizeOf(buffer, dim)),
                  own);
      at = own;
    }
    return at ? at : index(0);
  }
  for (auto [dim, value] : llvm::enumerate(indices)) {
    Value own = scalarOf(value), stride = strideOf(buffer, dim);
    at = add(at,
             builder.createOrFold<spirv::IMulOp>(own.getType(), own, stride));
  }
  return at;
}

LogicalResult KernelEmitter::emitMetadata(memref::ExtractStridedMetadataOp op) {
  Buffer &source = buffers[op.getSource()];
  baseOf(source);
  Buffer base = source;
  base.type = cast<MemRefType>(op.getBaseBuffer().getType());
  base.word = -1;
  base.offset = {};
  base.sizes.clear();
  base.strides.clear();
  if (!op.getOffset().use_empty())
    bind(op.getOffset(), {offsetOf(source)});
  for (auto [dim, size] : llvm::enumerate(op.getSizes()))
    if (!size.use_empty())
      bind(size, {sizeOf(source, dim)});
  for (auto [dim, stride] : llvm::enumerate(op.getStrides()))
    if (!stride.use_empty())
      bind(stride, {strideOf(source, dim)});
  buffers[op.getBaseBuffer()] = base;
  return success();
}

LogicalResult KernelEmitter::emitReinterpret(memref::ReinterpretCastOp op) {
  Buffer &source = buffers[op.getSource()];
  Buffer result;
  result.base = baseOf(source);
  result.binding = source.binding;
  result.type = op.getType();
  auto valueOf = [&](OpFoldResult mixed) {
    if (auto value = dyn_cast<Value>(mixed))
      return scalarOf(value);
    return index(*getConstantIntValue(mixed));
  };
  result.offset = valueOf(op.getMixedOffsets().front());
  result.sizes = llvm::map_to_vector(op.getMixedSizes(), valueOf);
  result.strides = llvm::map_to_vector(op.getMixedStrides(), valueOf);
  buffers[op.getResult()] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static bool isPhysical(Value pointer) {
  return cast<spirv::PointerType>(pointer.getType()).getStorageClass() ==
         StorageClass::PhysicalStorageBuffer;
}

static Value loadFrom(ImplicitLocOpBuilder &builder, Value pointer,
                      int64_t align) {
  if (!isPhysical(pointer))
    return spirv::LoadOp::create(builder, pointer);
  return spirv::LoadOp::create(
      builder, pointer,
      spirv::MemoryAccessAttr::get(builder.getContext(),
                                   spirv::MemoryAccess::Aligned),
      builder.getI32IntegerAttr(align));
}

static void storeTo(ImplicitLocOpBuilder &builder, Value pointer, Value value,
                    int64_t align) {
  if (!isPhysical(pointer)) {
    spirv::StoreOp::create(builder, pointer, value);
    return;
  }
  spirv::StoreOp::create(
      builder, pointer, value,
      spirv::MemoryAccessAttr::get(builder.getContext(),
                                   spirv::MemoryAccess::Aligned),
      builder.getI32IntegerAttr(align));
}

Value KernelEmitter::pointerTo(Buffer &buffer, Value at, Type type) {
  Value base = baseOf(buffer);
  if (auto pointer = dyn_cast<spirv::PointerType>(base.getType())) {
    Type i32 = builder.getI32Type();
    if (buffer.first)
      at = add(at, index(buffer.first));
    SmallVector<Value> places = {convertInt(at, i32, /*isSigned=*/false)};
    if (buffer.perVector > 1) {
      Value whole = places.front();
      places = {spirv::ShiftRightLogicalOp::create(
          builder, i32, whole, word(llvm::Log2_64(buffer.perVector)))};
      if (!isa<VectorType>(type))
        places.push_back(spirv::BitwiseAndOp::create(
            builder, i32, whole, word(buffer.perVector - 1)));
    }
    return spirv::AccessChainOp::create(
        builder, spirv::PointerType::get(type, pointer.getStorageClass()), base,
        places);
  }
  int64_t bytes = bytesOf(memoryType(buffer.type.getElementType()));
  if (isBound) {
    auto vector = dyn_cast<VectorType>(type);
    int64_t size = bytesOf(getElementTypeOrSelf(type)) *
                   (vector ? vector.getNumElements() : 1);
    auto divide = [&](Value value) -> Value {
      if (size == 1)
        return value;
      return spirv::ShiftRightLogicalOp::create(builder, value.getType(), value,
                                                index(llvm::Log2_64(size)));
    };
    Value place = size == bytes ? add(divide(base), at)
                                : divide(add(base, multiply(at, bytes)));
    return boundElement(buffer.binding, place, type);
  }
  return spirv::ConvertUToPtrOp::create(
      builder,
      spirv::PointerType::get(type, StorageClass::PhysicalStorageBuffer),
      add(base, multiply(at, bytes)));
}

/// The unit of access for elements that are `stored` in this type: words if the
/// elements are smaller or the memory consists of words.
static Type unitOf(const Value &base, int64_t perVector, Type stored) {
  Type i32 = IntegerType::get(stored.getContext(), 32);
  if (perVector == 1)
    return stored;
  auto array = cast<spirv::PointerType>(base.getType()).getPointeeType();
  return getElementTypeOrSelf(cast<spirv::ArrayType>(array).getElementType()) ==
                 i32
             ? i32
             : stored;
}

Value KernelEmitter::loadElement(Buffer &buffer, Value at) {
  Type element = buffer.type.getElementType();
  Type stored = memoryType(element),
       unit = unitOf(buffer.base, buffer.perVector, stored);
  Value value = loadFrom(builder, pointerTo(buffer, at, unit), bytesOf(stored));
  return convertInt(reinterpret(value, stored), typeOf(element),
                    /*isSigned=*/false);
}

void KernelEmitter::storeElement(Buffer &buffer, Value at, Value value) {
  Type stored = memoryType(buffer.type.getElementType());
  Type unit = unitOf(buffer.base, buffer.perVector, stored);
  storeTo(builder, pointerTo(buffer, at, unit),
          reinterpret(convertInt(value, stored, /*isSigned=*/false), unit),
          bytesOf(stored));
}

int64_t KernelEmitter::chooseChunk(const Buffer &buffer, int64_t count,
                                   int64_t align) {
  if (buffer.base && isa<spirv::PointerType>(buffer.base.getType()))
    return buffer.perVector > 1 && align % 16 == 0 &&
                   count % buffer.perVector == 0
               ? 16
               : 0;
  int64_t size = bytesOf(memoryType(buffer.type.getElementType()));
  for (int64_t chunk : {16, 8, 4})
    if (chunk > size && align % chunk == 0 && count * size % chunk == 0)
      return chunk;
  return 0;
}

KernelEmitter::Values KernelEmitter::loadVector(Buffer &buffer, Value at,
                                                int64_t count, int64_t align) {
  Values elements;
  int64_t chunk = chooseChunk(buffer, count, align);
  Type element = buffer.type.getElementType(), stored = memoryType(element);
  int64_t size = bytesOf(stored);
  if (!chunk) {
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(loadElement(buffer, add(at, index(i))));
    return elements;
  }
  // Elements smaller than a word are loaded as words.
  Type i32 = builder.getI32Type();
  Type unit = size < 4 ? i32 : unitOf(buffer.base, buffer.perVector, stored);
  int64_t units = chunk / bytesOf(unit), perUnit = bytesOf(unit) / size;
  Type type = units == 1 ? unit : VectorType::get(units, unit);
  for (int64_t first = 0; first < count; first += units * perUnit) {
    Value pointer = pointerTo(buffer, add(at, index(first)), type);
    Value all = loadFrom(builder, pointer, chunk);
    for (int32_t i = 0; i < units; ++i) {
      Value one = units == 1 ? all
                             : spirv::CompositeExtractOp::create(
                                   builder, all, ArrayRef<int32_t>{i});
      for (int64_t part = 0; part < perUnit; ++part) {
        Value bits = one;
        if (part > 0)
          bits = spirv::ShiftRightLogicalOp::create(builder, i32, bits,
                                                    word(8 * size * part));
        if (perUnit > 1) {
          bits = convertInt(bits, builder.getIntegerType(8 * size), false);
        }
        bits = reinterpret(bits, stored);
        elements.push_back(convertInt(bits, typeOf(element), false));
      }
    }
  }
  return elements;
}

void KernelEmitter::storeVector(Buffer &buffer, Value at,
                                ArrayRef<Value> values, int64_t align) {
  int64_t count = values.size();
  int64_t chunk = chooseChunk(buffer, count, align);
  Type stored = memoryType(buffer.type.getElementType());
  int64_t size = bytesOf(stored);
  if (!chunk) {
    for (auto [i, value] : llvm::enumerate(values))
      storeElement(buffer, add(at, index(i)), value);
    return;
  }
  Type i32 = builder.getI32Type();
  Type unit = size < 4 ? i32 : unitOf(buffer.base, buffer.perVector, stored);
  int64_t units = chunk / bytesOf(unit), perUnit = bytesOf(unit) / size;
  Type type = units == 1 ? unit : VectorType::get(units, unit);
  for (int64_t first = 0; first < count; first += units * perUnit) {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < units; ++i) {
      Value all;
      if (perUnit > 1)
        all = wordOf(values.slice(first + i * perUnit, perUnit));
      for (int64_t part = all ? perUnit : 0; part < perUnit; ++part) {
        Value one =
            convertInt(values[first + i * perUnit + part], stored, false);
        if (perUnit > 1) {
          if (!stored.isInteger())
            one = reinterpret(one, builder.getIntegerType(8 * size));
          one = convertInt(one, i32, false);
          if (part > 0)
            one = spirv::ShiftLeftLogicalOp::create(builder, i32, one,
                                                    word(8 * size * part));
        }
        if (perUnit == 1)
          one = reinterpret(one, unit);
        all =
            all ? spirv::BitwiseOrOp::create(builder, i32, all, one).getResult()
                : one;
      }
      parts.push_back(all);
    }
    Value whole =
        units == 1 ? parts.front()
                   : spirv::CompositeConstructOp::create(builder, type, parts);
    storeTo(builder, pointerTo(buffer, add(at, index(first)), type), whole,
            chunk);
  }
}

LogicalResult KernelEmitter::emitGather(vector::GatherOp op) {
  Buffer &buffer = buffers[op.getBase()];
  Value from = linearize(buffer, op.getOffsets());
  Values elements;
  Type type = indexType();
  for (auto [at, isOn, other] :
       llvm::zip(elementsOf(op.getIndices()), elementsOf(op.getMask()),
                 elementsOf(op.getPassThru()))) {
    // Masked lanes read the first element.
    Value own = spirv::SelectOp::create(
        builder, type, isOn, convertInt(at, type, /*isSigned=*/true), index(0));
    Value loaded = loadElement(buffer, add(from, own));
    elements.push_back(spirv::SelectOp::create(builder, loaded.getType(), isOn,
                                               loaded, other));
  }
  bind(op.getResult(), std::move(elements));
  return success();
}

LogicalResult KernelEmitter::emitMaskedLoad(vector::MaskedLoadOp op) {
  Buffer &buffer = buffers[op.getBase()];
  Value from = linearize(buffer, op.getIndices());
  Values elements;
  Type type = indexType();
  for (auto [lane, isOn, other] : llvm::enumerate(
           elementsOf(op.getMask()), elementsOf(op.getPassThru()))) {
    Value own =
        spirv::SelectOp::create(builder, type, isOn, index(lane), index(0));
    Value loaded = loadElement(buffer, add(from, own));
    elements.push_back(spirv::SelectOp::create(builder, loaded.getType(), isOn,
                                               loaded, other));
  }
  bind(op.getResult(), std::move(elements));
  return success();
}

LogicalResult KernelEmitter::emitMemory(Operation &op, bool &isKnown) {
  auto keep = [&](Value result, FailureOr<Buffer> buffer) {
    if (succeeded(buffer))
      buffers[result] = *buffer;
    return failure(failed(buffer));
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    Buffer &buffer = buffers[load.getMemRef()];
    bind(load, {loadElement(buffer, linearize(buffer, load.getIndices()))});
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    Buffer &buffer = buffers[store.getMemRef()];
    storeElement(buffer, linearize(buffer, store.getIndices()),
                 scalarOf(store.getValue()));
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    Buffer &buffer = buffers[load.getBase()];
    bind(load, loadVector(buffer, linearize(buffer, load.getIndices()),
                          load.getVectorType().getNumElements(),
                          load.getAlignment().value_or(1)));
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    Buffer &buffer = buffers[store.getBase()];
    storeVector(buffer, linearize(buffer, store.getIndices()),
                elementsOf(store.getValueToStore()),
                store.getAlignment().value_or(1));
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!number)
      return op.emitOpError("must have a constant index");
    bind(dim, {sizeOf(buffers[dim.getSource()], *number)});
  } else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    return emitMetadata(metadata);
  } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    return emitReinterpret(cast);
  } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
    // The source's description is valid for the result, too.
    buffers[cast] = Buffer(buffers[cast.getSource()]);
  } else if (auto view = dyn_cast<memref::ViewOp>(op)) {
    return keep(view, viewShared(view));
  } else if (auto array = dyn_cast<memref::AllocaOp>(op)) {
    return keep(array, allocateArray(array.getType(), StorageClass::Function));
  } else if (auto gather = dyn_cast<vector::GatherOp>(op)) {
    return emitGather(gather);
  } else if (auto load = dyn_cast<vector::MaskedLoadOp>(op)) {
    return emitMaskedLoad(load);
  } else {
    // Hints can be dropped.
    isKnown = isa<memref::PrefetchOp, memref::AssumeAlignmentOp>(op) &&
              op.getNumResults() == 0;
  }
  return success();
}
