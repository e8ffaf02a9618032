//===- KernelParameters.cpp - kernel parameters in SPIR-V -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the words of the launch where the launch passes them: as push constants
// or, if there are too many, in memory.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

using namespace mlir;
using namespace mlir::relax;

Value KernelEmitter::wholeParameter(int64_t word) {
  Value lower = parameter(word);
  if (!isNarrow)
    return lower;
  Value upper = words.upperHalf(word);
  Type i64 = builder.getI64Type();
  auto widen = [&](Value half) {
    return spirv::UConvertOp::create(builder, i64, half);
  };
  return spirv::BitwiseOrOp::create(
      builder, i64,
      spirv::ShiftLeftLogicalOp::create(builder, i64, widen(upper),
                                        number(32, i64)),
      widen(lower));
}

void KernelEmitter::placeParameters() {
  int64_t count = words.getParameters().size();
  int64_t before = words.getHeadWords();
  bool inMemory = before + count > maxPushed;
  // If narrow, a word consists of two halves, the lower one first.
  int64_t parts = isNarrow ? 2 : 1;
  SmallVector<Type> types(parts * (before + (inMemory ? 1 : count)),
                          indexType());
  SmallVector<spirv::StructType::OffsetInfo> offsets;
  for (size_t i = 0; i < types.size(); ++i)
    offsets.push_back(8 / parts * i);
  auto block = spirv::StructType::get(
      types, offsets, {},
      spirv::StructType::StructDecorationInfo(spirv::Decoration::Block,
                                              builder.getUnitAttr()));
  auto pushed = spirv::StorageClass::PushConstant;
  if (words.isEmpty())
    return;
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  Value all = global("parameters", spirv::PointerType::get(block, pushed));
  auto readPushed = [&](int64_t number, int64_t part = 0) -> Value {
    auto pointer = spirv::PointerType::get(indexType(), pushed);
    return read(spirv::AccessChainOp::create(
        builder, pointer, all, ValueRange(word(parts * number + part))));
  };
  Value memory;
  auto readParameter = [&](int64_t number, int64_t part) -> Value {
    if (!inMemory)
      return readPushed(before + number, part);
    if (isBound) {
      if (!memory)
        memory = multiply(readPushed(before), parts);
      int64_t last = words.getNumBindings();
      return read(boundElement(last, add(memory, index(parts * number + part)),
                               indexType()));
    }
    if (!memory)
      memory = readPushed(before);
    auto pointer = spirv::PointerType::get(
        builder.getI64Type(), spirv::StorageClass::PhysicalStorageBuffer);
    return spirv::LoadOp::create(
        builder,
        spirv::ConvertUToPtrOp::create(builder, pointer,
                                       add(memory, index(8 * number))),
        spirv::MemoryAccessAttr::get(builder.getContext(),
                                     spirv::MemoryAccess::Aligned),
        builder.getI32IntegerAttr(8));
  };
  words.replace([&](int64_t number) { return readPushed(number); },
                readParameter);
}

void KernelEmitter::bindArguments() {
  int64_t next = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    if (auto buffer = dyn_cast<MemRefType>(type)) {
      buffers[argument] = {buffer, Value(), next, Value(), {}, {}, -1};
      next += 3 + 2 * buffer.getRank();
      continue;
    }
    int64_t word = next++;
    if (argument.use_empty())
      continue;
    if (!type.isIntOrIndexOrFloat()) {
      kernel.emitOpError("has a parameter of type ")
          << type << ", which cannot be lowered to SPIR-V";
      hasFailed = true;
      return;
    }
    Type own = typeOf(type);
    if (!type.isIndex())
      words.noteScalar(word);
    Value value = own.getIntOrFloatBitWidth() > 32 ? wholeParameter(word)
                                                   : parameter(word);
    if (own.isInteger())
      value = convertInt(value, own, /*isSigned=*/false);
    else
      value = reinterpret(
          convertInt(value, builder.getIntegerType(own.getIntOrFloatBitWidth()),
                     /*isSigned=*/false),
          own);
    bind(argument, {value});
  }
}

Value KernelEmitter::boundElement(int64_t binding, Value at, Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t bits = element.getIntOrFloatBitWidth(), bytes = bits / 8;
  std::string name = "bound" + std::to_string(binding);
  if (auto vector = dyn_cast<VectorType>(type)) {
    bytes *= vector.getNumElements();
    name += "x" + std::to_string(vector.getNumElements());
  }
  name += (isa<FloatType>(element) ? "f" : "i") + std::to_string(bits);
  auto array = spirv::RuntimeArrayType::get(type, static_cast<unsigned>(bytes));
  auto block = spirv::StructType::get(
      array, spirv::StructType::OffsetInfo(0), {},
      spirv::StructType::StructDecorationInfo(spirv::Decoration::Block,
                                              builder.getUnitAttr()));
  auto storage = spirv::StorageClass::StorageBuffer;
  spirv::GlobalVariableOp &variable = globals[name];
  if (!variable) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    variable = spirv::GlobalVariableOp::create(
        builder, spirv::PointerType::get(block, storage), name,
        /*descriptorSet=*/0, static_cast<unsigned>(binding));
    // Other variables are views of the same buffer.
    variable->setAttr("aliased", builder.getUnitAttr());
  }
  Value all = spirv::AddressOfOp::create(builder, variable);
  Value place = convertInt(at, builder.getI32Type(), /*isSigned=*/false);
  return spirv::AccessChainOp::create(builder,
                                      spirv::PointerType::get(type, storage),
                                      all, ValueRange{word(0), place});
}
