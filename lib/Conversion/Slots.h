//===- Slots.h - host values in runtime slots -------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_SLOTS_H
#define RELAX_CONVERSION_SLOTS_H

#include "Target/Common/HostBuilder.h"

namespace mlir::relax {

/// Reads and writes host values as 64-bit words (see RelaxRuntime.h).
class Slots {
public:
  Slots(HostBuilder &builder, Value base) : builder(builder), base(base) {}

  /// Reads a value of a relax type and appends its host values.
  void read(Type type, SmallVectorImpl<Value> &values) {
    if (auto tuple = dyn_cast<TupleType>(type)) {
      for (Type member : tuple.getTypes())
        read(member, values);
    } else if (auto shape = dyn_cast<ShapeType>(type)) {
      for (int64_t i = 0; i < shape.getRank(); ++i)
        values.push_back(builder.toIndex(next()));
    } else if (MemRefType tensor = getHostTensor(type)) {
      Value storage = asPointer(next()), data = asPointer(next());
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < tensor.getRank(); ++i)
        sizes.push_back(builder.toIndex(next()));
      values.push_back(builder.makeTensor(tensor, storage, data, sizes));
    } else {
      values.push_back(toScalar(next(), type));
    }
  }

  void write(ValueRange values) {
    for (Value value : values) {
      auto tensor = dyn_cast<MemRefType>(value.getType());
      if (!tensor) {
        put(toWord(value));
        continue;
      }
      put(fromPointer(builder.storageOf(value)));
      put(fromPointer(builder.dataOf(value)));
      for (int64_t i = 0; i < tensor.getRank(); ++i)
        put(builder.toWord(builder.dim(value, i)));
    }
  }

  /// The number of words that host values of these types take.
  static int64_t count(TypeRange types) {
    int64_t total = 0;
    for (Type type : types) {
      auto tensor = dyn_cast<MemRefType>(type);
      total += tensor ? 2 + tensor.getRank() : 1;
    }
    return total;
  }
  static int64_t count(ValueRange values) { return count(values.getTypes()); }

private:
  Value address() {
    return LLVM::GEPOp::create(builder, builder.pointer(), builder.getI64Type(),
                               base, ArrayRef<LLVM::GEPArg>{position++});
  }
  Value next() {
    return LLVM::LoadOp::create(builder, builder.getI64Type(), address());
  }
  void put(Value word) { LLVM::StoreOp::create(builder, word, address()); }

  Value asPointer(Value word) {
    return LLVM::IntToPtrOp::create(builder, builder.pointer(), word);
  }
  Value fromPointer(Value pointer) {
    return LLVM::PtrToIntOp::create(builder, builder.getI64Type(), pointer);
  }
  Value toScalar(Value word, Type type) {
    if (type.isIndex())
      return builder.toIndex(word);
    if (isa<FunctionType, StorageType>(type))
      return asPointer(word);
    if (auto real = dyn_cast<FloatType>(type)) {
      Value number =
          LLVM::BitcastOp::create(builder, builder.getF64Type(), word);
      return real.isF64() ? number
                          : LLVM::FPTruncOp::create(builder, type, number);
    }
    return type.isInteger(64) ? word
                              : LLVM::TruncOp::create(builder, type, word);
  }
  Value toWord(Value value) {
    Type type = value.getType();
    if (type.isIndex())
      return builder.toWord(value);
    if (isa<LLVM::LLVMPointerType>(type))
      return fromPointer(value);
    if (isa<FloatType>(type)) {
      Value number =
          type.isF64()
              ? value
              : LLVM::FPExtOp::create(builder, builder.getF64Type(), value);
      return LLVM::BitcastOp::create(builder, builder.getI64Type(), number);
    }
    if (type.isInteger(64))
      return value;
    if (type.isInteger(1) || type.isUnsignedInteger())
      return LLVM::ZExtOp::create(builder, builder.getI64Type(), value);
    return LLVM::SExtOp::create(builder, builder.getI64Type(), value);
  }

  HostBuilder &builder;
  Value base;
  int32_t position = 0;
};

} // namespace mlir::relax

#endif // RELAX_CONVERSION_SLOTS_H
