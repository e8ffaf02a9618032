//===- KernelEmitter.h - emits a kernel as a SPIR-V module ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a GPU kernel (gpu.func) in the form that Vulkan accepts. Shaders have
// neither memrefs nor vectors of more than four elements, and support for bf16
// and booleans in memory is optional, so
//
//   a vector      is a list of its elements, each a separate value
//   a buffer      is a 64-bit address to which offsets are added
//   a reference   is a pointer computed from that address for each access, of
//                 16 bytes at a time if the access is aligned
//   bf16, f8      are integers with the same bits; i1 in memory is a byte
//   index         is i64, or i32 on devices without 64-bit integers
//   a matrix      (cooperative) is one value
//   a loop        carries its values in variables, which drivers keep in
//                 registers
//
// A kernel gets those argument words of a launch (relax_rt_device_launch) that
// it reads, 8 bytes each:
//
//   word 0        the index of the first block, if a launch is split
//   word 1 ...    `parameters`, in order
//
// as push constants. If there are too many, word 1 is the address of a block of
// memory that starts with the first parameter. Kernels that wait for other
// launches have additional words before these (VulkanImage.h).
//
// On devices without buffer addresses, buffers are bound as descriptors: the
// descriptor with the index of the buffer's pointer in `bindings` contains the
// buffer, and the pointer word is its offset. If the parameters are in memory,
// they are in the last descriptor, at the offset in word 1.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_KERNELEMITTER_H
#define RELAX_TARGET_SPIRV_KERNELEMITTER_H

#include "Target/SPIRV/LaunchWords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>

namespace mlir::relax {

/// The bytes that a scalar occupies in memory.
inline int64_t bytesOf(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

class KernelEmitter {
public:
  /// `isNarrow` implies 32-bit indices and bound buffers.
  KernelEmitter(gpu::GPUFuncOp kernel, bool isBound, bool isNarrow,
                int64_t maxPushed)
      : isBound(isBound || isNarrow), isNarrow(isNarrow), maxPushed(maxPushed),
        kernel(kernel), builder(kernel.getLoc(), kernel.getContext()) {}

  /// Builds a `spirv.module` named `name` at the end of a module's body.
  FailureOr<spirv::ModuleOp> emit(Block *body, StringRef name);

  /// The words of the launch that the kernel reads.
  const LaunchWords &getWords() const { return words; }
  /// Shared memory per block, in bytes.
  int64_t getSharedBytes() const { return sharedBytes; }
  /// Threads per block, and the subgroup size (0: unused).
  int64_t getThreads();
  int64_t getSubgroup() const { return subgroup; }

private:
  using Values = SmallVector<Value, 1>;

  /// A memref. Sizes, strides and an offset that its type does not specify are
  /// values, or words of the launch.
  struct Buffer {
    MemRefType type;
    /// An address, or a pointer to an array in shared or thread-local memory,
    /// whose elements may be vectors of several buffer elements.
    Value base;
    /// For parameters, the word of the allocated pointer; -1 for others.
    int64_t word = -1;
    Value offset;
    SmallVector<Value> sizes, strides;
    /// The descriptor, if the base is not an array; -1 for arrays.
    int64_t binding = -1;
    int64_t perVector = 1;
    /// In shared memory, the index of the first element.
    int64_t first = 0;
  };

  // KernelControl.cpp
  void emitSelection(Value condition, function_ref<void()> then,
                     function_ref<void()> otherwise = nullptr);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  /// Creates the blocks of a loop. The entry and the header branch on; the
  /// header to the returned block.
  Block *beginLoop(spirv::LoopOp loop, Block *&merge, Block *&next);

  // KernelWaits.cpp: kernels that wait for other launches.
  Value isFirstThread();
  Value wordAt(Value address);
  LogicalResult emitWait(Operation *op);
  void countBlock();

  // KernelEmitter.cpp: ops and variables.
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation &op);
  LogicalResult emitGPU(Operation &op);
  /// Barrier: makes writes of all threads of a block visible to each other.
  void waitForThreads();
  Value builtinWord(spirv::BuiltIn which, unsigned component);
  Value builtin(spirv::BuiltIn which, unsigned component);
  /// Creates thread-local variables, one for each value of these types.
  SmallVector<Value> makeVariables(TypeRange types);
  void assign(ArrayRef<Value> variables, ValueRange values);
  void bindLoaded(ValueRange results, ArrayRef<Value> variables);
  Value read(Value variable);
  Value global(StringRef name, spirv::PointerType type,
               std::optional<spirv::BuiltIn> which = std::nullopt);

  // KernelParameters.cpp
  void bindArguments();
  Value parameter(int64_t word) { return words.parameter(word); }
  /// All 64 bits of a parameter.
  Value wholeParameter(int64_t word);
  void placeParameters();
  /// A pointer to an element of a bound buffer, viewed as an array.
  Value boundElement(int64_t binding, Value at, Type type);

  // KernelModule.cpp
  void finish(StringRef entry);

  // KernelArrays.cpp
  FailureOr<Buffer> allocateArray(MemRefType type, spirv::StorageClass where,
                                  bool asVectors = false);
  bool isReadAsVectors(memref::ViewOp view);
  FailureOr<Buffer> viewWords(memref::ViewOp view, int64_t byte);
  FailureOr<Buffer> viewShared(memref::ViewOp view);

  // KernelMemory.cpp
  LogicalResult emitMemory(Operation &op, bool &isKnown);
  LogicalResult emitMetadata(memref::ExtractStridedMetadataOp op);
  LogicalResult emitReinterpret(memref::ReinterpretCastOp op);
  LogicalResult emitGather(vector::GatherOp op);
  LogicalResult emitMaskedLoad(vector::MaskedLoadOp op);
  Value baseOf(Buffer &buffer);
  Value sizeOf(const Buffer &buffer, unsigned dim);
  Value strideOf(const Buffer &buffer, unsigned dim);
  Value offsetOf(const Buffer &buffer);
  /// The linear index of an element, relative to `base`.
  Value linearize(const Buffer &buffer, ValueRange indices);
  Value pointerTo(Buffer &buffer, Value at, Type type);
  Value loadElement(Buffer &buffer, Value at);
  void storeElement(Buffer &buffer, Value at, Value value);
  Values loadVector(Buffer &buffer, Value at, int64_t count, int64_t align);
  void storeVector(Buffer &buffer, Value at, ArrayRef<Value> values,
                   int64_t align);
  /// Bytes per access for `count` contiguous elements.
  int64_t chooseChunk(const Buffer &buffer, int64_t count, int64_t align);

  // KernelMatrices.cpp
  LogicalResult emitMatrix(Operation &op);
  FailureOr<std::pair<Value, Value>> matrixPlace(Operation *op, Value pointer,
                                                 Value pitch);

  // KernelVectors.cpp
  Value wordOf(ArrayRef<Value> parts);
  LogicalResult emitVector(Operation &op, bool &isKnown);
  LogicalResult emitReduction(vector::ReductionOp op);
  LogicalResult emitBitcast(vector::BitCastOp op);
  Value combine(vector::CombiningKind kind, Value lhs, Value rhs);

  // KernelDivision.cpp
  struct Division {
    Value quotient, remainder;
  };
  Value subtractProduct(Value from, Value lhs, Value rhs);
  void divideLong(Value lhs, Value rhs, Value quotient, Value remainder);
  /// The 32-bit value that a 64-bit value was extended from; null if unknown.
  Value narrowOf(Value value);
  /// Divisions of 64-bit integers.
  Division divideUnsigned(Value lhs, Value rhs);
  Division divideSigned(Value lhs, Value rhs);
  Value divide(Value lhs, Value rhs, bool isSigned, bool wantsRemainder);
  /// `divisor`: the operand that `rhs` was computed from.
  Value divideReals(Value lhs, Value rhs, Value divisor);

  // KernelArithmetic.cpp: scalar ops.
  FailureOr<Value> emitScalar(Operation &op, ValueRange operands, Type type);
  void emitExtended(Operation &op);
  FailureOr<Value> emitCast(Operation &op, Value value, Type type);
  FailureOr<Value> emitMath(Operation &op, ValueRange operands, Type type);
  Value compareInts(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  Value compareFloats(arith::CmpFPredicate predicate, Value lhs, Value rhs);
  Value convertInt(Value value, Type type, bool isSigned);
  Value extendSigned(Value value, Type type);
  Value reinterpret(Value value, Type type);
  Value emitConstant(Attribute value, Type type);
  Value shiftLeft(Value lhs, Value rhs, Type type);

  Value number(int64_t value, Type type);
  Type indexType() {
    return isNarrow ? builder.getI32Type() : builder.getI64Type();
  }
  Value index(int64_t value) { return number(value, indexType()); }
  Value word(int64_t value) { return number(value, builder.getI32Type()); }
  Value add(Value lhs, Value rhs);
  Value multiply(Value lhs, int64_t rhs);

  /// The type of an element as a value, and in memory.
  Type typeOf(Type element);
  Type memoryType(Type element);
  /// Appends the types of all elements of a value.
  void appendTypes(Type type, SmallVectorImpl<Type> &types);
  /// The elements of a value.
  ArrayRef<Value> elementsOf(Value value) { return values[value]; }
  Value scalarOf(Value value) { return values[value].front(); }
  void bind(Value value, Values elements) {
    values[value] = std::move(elements);
  }

  const bool isBound, isNarrow;
  const int64_t maxPushed;
  gpu::GPUFuncOp kernel;
  ImplicitLocOpBuilder builder;
  spirv::ModuleOp module;
  spirv::FuncOp function;
  DenseMap<Value, Values> values;
  DenseMap<Value, Buffer> buffers;
  LaunchWords words{builder, function, indexType()};
  llvm::StringMap<spirv::GlobalVariableOp> globals;
  /// The last 64-bit division, since quotient and remainder are often needed
  /// for the same operands: block, operands, signedness.
  std::tuple<Block *, Value, Value, bool> lastDivided;
  Division lastDivision;
  /// The shared memory of the launch, if it is one array of vectors of words.
  Value sharedWords;
  std::optional<bool> isOfWords;
  /// The parts of shared memory that are separate arrays.
  std::map<std::pair<int64_t, const void *>, Buffer> views;
  int64_t sharedBytes = 0, subgroup = 0;
  bool hasFailed = false, hasMatrices = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_KERNELEMITTER_H
