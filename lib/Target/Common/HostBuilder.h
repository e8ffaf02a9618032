//===- HostBuilder.h - pieces of host code ----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of host code, and the few shapes of code it is made of: calls of the
// runtime (lib/Runtime/Core/RelaxRuntime.h), checks that fail with a message,
// and tensors put together from a storage and sizes.
//
//   relax                         host
//   tensor<?x4xf32, [n, 4]>       memref<?x4xf32>; allocated pointer = storage
//   !relax.storage                !llvm.ptr
//   !relax.shape<[n, 4]>          index, index
//   tuple<A, B>                   what A and B become
//   (A) -> B                      !llvm.ptr, the storage of a closure
//   integers, reals, index        the same
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_HOSTBUILDER_H
#define RELAX_TARGET_COMMON_HOSTBUILDER_H

#include "Relax/ShapeUtils.h"
#include "Transforms/SymArithmetic.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::relax {

/// Appends the host types of a value of type `type`; fails where there are
/// none.
LogicalResult flattenType(Type type, SmallVectorImpl<Type> &flat);

/// How many host values a value of a type that has them becomes.
size_t countHostValues(Type type);

/// The memref of a tensor; null where the rank is unknown.
MemRefType getHostTensor(Type type);

/// "file:line:column" of the first file position in a location; else empty.
std::string describeLocation(Location loc);

/// The name that the program gives to a parameter; empty where it has none.
StringRef getArgumentName(BlockArgument argument);
/// "argument 0 'x'".
std::string describeArgument(BlockArgument argument);

/// Builds host code at one insertion point, and what it needs in the module.
class HostBuilder : public ImplicitLocOpBuilder {
public:
  /// `device`: DLPack's type of the device that has the tensors; 0 for the CPU.
  explicit HostBuilder(ModuleOp module, int64_t device = 0);

  const int64_t device;

  LLVM::LLVMPointerType pointer() {
    return LLVM::LLVMPointerType::get(getContext());
  }
  Value index(int64_t value);
  Value word(int64_t value);
  /// index to i64 and back.
  Value toWord(Value index);
  Value toIndex(Value word);

  /// The address of a constant string, that ends in zero.
  Value string(StringRef text);
  /// The address of a constant array of words.
  Value words(ArrayRef<int64_t> values);
  /// A private global of any type; `fill` gives its initial value.
  LLVM::GlobalOp global(StringRef name, Type type, Attribute value,
                        bool constant);
  Value addressOf(LLVM::GlobalOp global);
  /// A global structure for the runtime, of values that are known when the
  /// program starts.
  LLVM::GlobalOp record(StringRef name, ArrayRef<Type> types,
                        function_ref<SmallVector<Value>()> values);
  /// Gives back what the runtime keeps for a record, in its third field.
  void unload(LLVM::GlobalOp record);
  /// A constant's record for the runtime, which uploads it
  /// (RelaxDeviceConstant).
  LLVM::GlobalOp deviceConstant(LLVM::GlobalOp data, int64_t bytes);
  /// `relax_unload`, which gives back what the runtime keeps for the module on
  /// devices.
  void exportUnload();

  Value addressOfFunction(func::FuncOp function);
  /// An array of words on the stack of the function around.
  Value allocateWords(int64_t count);

  /// Calls a function of the runtime.
  Value call(StringRef name, Type result, ValueRange args,
             bool noreturn = false);

  /// Fails unless `condition` holds. `%0` and `%1` in the message are the
  /// values.
  void check(Value context, Value condition, StringRef kind,
             const Twine &message, Value first = {}, Value second = {});

  /// A contiguous tensor at `data`, kept alive by `storage`.
  Value makeTensor(MemRefType type, Value storage, Value data,
                   ValueRange sizes);
  /// The storage of a host value that is counted, which may be null at run
  /// time; no value for others.
  Value storageOf(Value host);
  /// The data of a storage.
  Value storageData(Value storage);
  Value dataOf(Value tensor);
  Value null();
  Value dim(Value tensor, int64_t axis);
  /// The same tensor as `type`, which agrees with it at run time.
  Value castTensor(Value tensor, Type type);

private:
  Value descriptorOf(Value tensor);

  ModuleOp module;
  LLVMTypeConverter converter;
  llvm::StringMap<LLVM::GlobalOp> strings;
  unsigned nextGlobal = 0;
  SmallVector<LLVM::GlobalOp> deviceConstants;
};

/// Values of symbols and expressions, by scope. An expression is computed once
/// where it is first needed, and seen by what that point dominates. A value
/// beyond 64 bits and a division by zero end the call with an error.
class SymbolValues {
public:
  SymbolValues(HostBuilder &builder, Value context, StringRef function)
      : builder(builder), context(context), function(function) {
    enter();
  }

  void enter() { scopes.emplace_back(); }
  void leave() { scopes.pop_back(); }

  /// Whether the symbol is new here.
  bool define(SymExprAttr symbol, Value value);
  Value lookup(SymExprAttr expr) const;
  /// The value as `index`; null where a symbol has no value.
  Value evaluate(SymExprAttr expr);
  /// The product of sizes, checked as well; `what` is for the message.
  Value product(ValueRange factors, const Twine &what);

private:
  /// Arithmetic that notes what overflows, and checks what divides.
  class Checked : public SymArithmetic {
  public:
    explicit Checked(SymbolValues &values)
        : SymArithmetic(values.builder, values.builder.getLoc()),
          values(values) {}

  private:
    Value add(Value lhs, Value rhs) override;
    Value multiply(Value lhs, Value rhs) override;
    Value checkDivisor(SymExprAttr expr, Value divisor) override;

    SymbolValues &values;
  };

  Value compute(SymExprAttr expr);
  template <typename Op>
  Value checked(Value lhs, Value rhs);
  /// Ends the call where something has overflowed since the last time.
  void checkOverflow(const Twine &what);

  HostBuilder &builder;
  Value context;
  std::string function;
  SmallVector<llvm::DenseMap<Attribute, Value>> scopes;
  /// Whether what was computed so far is beyond 64 bits.
  Value overflow;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_HOSTBUILDER_H
