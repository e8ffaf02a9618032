//===- HostBuilder.h - building blocks of host code -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of host code and helpers to build it: runtime calls
// (lib/Runtime/Core/RelaxRuntime.h), checks that fail with a message, and
// tensors assembled from a storage and sizes.
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

/// The device types in DLPack.
constexpr int64_t kCUDA = 2, kVulkan = 7;

/// Appends the host types for a relax type; fails if it has none.
LogicalResult flattenType(Type type, SmallVectorImpl<Type> &flat);

/// The number of host values for a relax type that has them.
size_t countHostValues(Type type);

/// The memref type for a tensor; null if the rank is unknown.
MemRefType getHostTensor(Type type);

/// "file:line:column" of the first file position in a location; empty if there
/// is none.
std::string describeLocation(Location loc);

/// The parameter's name in the program; empty if it has none.
StringRef getArgumentName(BlockArgument argument);
/// "argument 0 'x'".
std::string describeArgument(BlockArgument argument);

/// Builds host code at an insertion point, along with the globals and
/// declarations that it needs in the module.
class HostBuilder : public ImplicitLocOpBuilder {
public:
  /// `device`: DLPack type of the device that holds the tensors; 0 for the CPU.
  explicit HostBuilder(ModuleOp module, int64_t device = 0);

  const int64_t device;

  LLVM::LLVMPointerType pointer() {
    return LLVM::LLVMPointerType::get(getContext());
  }
  Value index(int64_t value);
  Value word(int64_t value);
  /// Converts between index and i64.
  Value toWord(Value index);
  Value toIndex(Value word);

  /// The address of a NUL-terminated constant string.
  Value string(StringRef text);
  /// The address of a constant array of words.
  Value words(ArrayRef<int64_t> values);
  /// Creates a private global of any type; `fill` builds its initial value.
  LLVM::GlobalOp global(StringRef name, Type type, Attribute value,
                        bool constant);
  Value addressOf(LLVM::GlobalOp global);
  /// Creates a global structure for the runtime; its values are known at
  /// program start.
  LLVM::GlobalOp record(StringRef name, ArrayRef<Type> types,
                        function_ref<SmallVector<Value>()> values);
  /// Makes `relax_unload` release what the runtime keeps for a record, in its
  /// third field.
  void unload(LLVM::GlobalOp record);
  /// Creates the record by which the runtime uploads a constant
  /// (RelaxDeviceConstant).
  LLVM::GlobalOp deviceConstant(LLVM::GlobalOp data, int64_t bytes);
  /// Exports `relax_unload`, which releases what the runtime keeps on devices
  /// for the module.
  void exportUnload();

  Value addressOfFunction(func::FuncOp function);
  /// An array of words on the stack of the enclosing function.
  Value allocateWords(int64_t count);

  /// Calls a runtime function, which has these attributes of LLVM.
  Value call(StringRef name, Type result, ValueRange args,
             ArrayRef<StringRef> attributes = {});

  /// Fails at run time unless `condition` holds. `%0` and `%1` in the message
  /// stand for the values.
  void check(Value context, Value condition, StringRef kind,
             const Twine &message, Value first = {}, Value second = {});

  /// Builds a contiguous tensor at `data`, kept alive by `storage`.
  Value makeTensor(MemRefType type, Value storage, Value data,
                   ValueRange sizes);
  /// The storage of a reference-counted host value, which may be null at run
  /// time; no value for other host values.
  Value storageOf(Value host);
  /// The data pointer of a storage.
  Value storageData(Value storage);
  Value dataOf(Value tensor);
  Value null();
  Value dim(Value tensor, int64_t axis);
  /// Casts a tensor to `type`, which must match at run time.
  Value castTensor(Value tensor, Type type);

private:
  Value descriptorOf(Value tensor);

  ModuleOp module;
  LLVMTypeConverter converter;
  llvm::StringMap<LLVM::GlobalOp> strings;
  unsigned nextGlobal = 0;
  SmallVector<LLVM::GlobalOp> deviceConstants;
};

/// Caches the values of symbols and expressions by scope. An expression is
/// computed where it is first needed and reused in code that this point
/// dominates. Overflow of 64 bits and division by zero end the call with an
/// error.
class SymbolValues {
public:
  SymbolValues(HostBuilder &builder, Value context, StringRef function)
      : builder(builder), context(context), function(function) {
    enter();
  }

  void enter() { scopes.emplace_back(); }
  void leave() { scopes.pop_back(); }

  /// Defines a symbol; returns whether it is new.
  bool define(SymExprAttr symbol, Value value);
  Value lookup(SymExprAttr expr) const;
  /// Evaluates to an `index`; null if a symbol has no value.
  Value evaluate(SymExprAttr expr);
  /// The checked product of sizes; `what` names it in the message.
  Value product(ValueRange factors, const Twine &what);

private:
  /// Arithmetic that records overflow and checks divisors.
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
  /// Ends the call with an error if anything has overflowed since the last
  /// check.
  void checkOverflow(const Twine &what);

  HostBuilder &builder;
  Value context;
  std::string function;
  SmallVector<llvm::DenseMap<Attribute, Value>> scopes;
  /// Whether anything has overflowed since the last check.
  Value overflow;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_HOSTBUILDER_H
