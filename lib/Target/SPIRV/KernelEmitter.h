//===- KernelEmitter.h - a GPU kernel as a SPIR-V module --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of the shared middle (gpu.func) in the form that Vulkan takes.
// Shaders know neither vectors of more than four elements nor memrefs, and
// leave bf16 and narrow booleans to others; so here
//
//   a vector      is the list of its elements, each a value of its own
//   a buffer      is an address, 64 bits wide, to which offsets are added
//   a reference   is a pointer made of that where memory is touched, by 16
//   bytes
//                 at once where the access is aligned so
//   bf16, f8      are integers of their bits, i1 in memory a byte
//   index         is i64; i32 for devices without longer integers
//   a matrix      of a subgroup is one value
//   a loop        carries its values in variables, which drivers put into
//                 registers
//
// Of the words that a launch has for its arguments (relax_rt_device_launch) a
// kernel is given those that it reads, 8 bytes each:
//
//   word 0        the number of the first block, where a launch is split
//   word 1 ...    `parameters`, in their order
//
// as push constants; where they are too many for those, word 1 is the address
// of a block of memory that begins with the first parameter. What waits for
// other launches has more words before those (VulkanImage.h).
//
// Devices without addresses of buffers have them bound: a buffer is then where
// it begins in what is bound to the number of its pointer among `bindings`, and
// the parameters in memory are where word 1 says in what is bound last.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_KERNELEMITTER_H
#define RELAX_TARGET_SPIRV_KERNELEMITTER_H

#include "Runtime/Vulkan/VulkanImage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace mlir::relax {

/// Bytes that a scalar occupies in memory.
inline int64_t bytesOf(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

class KernelEmitter {
public:
  /// What is narrow has an index of 32 bits, and buffers that are bound.
  KernelEmitter(gpu::GPUFuncOp kernel, bool isBound, bool isNarrow,
                int64_t maxPushed)
      : isBound(isBound || isNarrow), isNarrow(isNarrow), maxPushed(maxPushed),
        kernel(kernel), builder(kernel.getLoc(), kernel.getContext()) {}

  /// Builds a `spirv.module` named `name` at the end of a module's body.
  FailureOr<spirv::ModuleOp> emit(Block *body, StringRef name);

  /// The words of the launch that the kernel reads.
  ArrayRef<int64_t> getParameters() const { return parameters; }
  /// Which of the parameters are pointers of what is bound.
  SmallVector<int64_t> getBindings() const;
  /// Which of them are neither that nor the bits of a number.
  SmallVector<int64_t> getNarrow() const;
  /// Bytes of memory that a block shares.
  int64_t getSharedBytes() const { return sharedBytes; }
  /// The threads of a block, and how many of them exchange values, or 0.
  int64_t getThreads();
  int64_t getSubgroup() const { return subgroup; }
  /// Words that are pushed before the parameters.
  int64_t getHeadWords() const { return waits ? relax_rt::kWaitingWords : 1; }

private:
  using Values = SmallVector<Value, 1>;

  /// A memref. Sizes, strides and the offset that its type does not have are
  /// values, or words of the launch.
  struct Buffer {
    MemRefType type;
    /// An address; or the pointer to an array of the block or of the thread,
    /// whose elements may be vectors of several elements of the buffer.
    Value base;
    /// The word of the allocated pointer of a parameter; -1 of others.
    int64_t word = -1;
    Value offset;
    SmallVector<Value> sizes, strides;
    /// What it is bound as, where the base is no array; -1 of arrays.
    int64_t binding = -1;
    int64_t perVector = 1;
    /// Of a part of the memory of the block: its first element in there.
    int64_t first = 0;
  };

  // KernelControl.cpp
  void emitSelection(Value condition, function_ref<void()> then,
                     function_ref<void()> otherwise = nullptr);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  /// The blocks of a loop: entry and header branch on, the header to the one
  /// that this returns.
  Block *beginLoop(spirv::LoopOp loop, Block *&merge, Block *&next);

  // KernelWaits.cpp: launches that wait for one another.
  Value isFirstThread();
  Value wordAt(Value address);
  LogicalResult emitWait(Operation *op);
  void countBlock();

  // KernelEmitter.cpp: functions, variables.
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation &op);
  LogicalResult emitGPU(Operation &op);
  /// What the threads of a block have written is seen by each of them.
  void waitForThreads();
  Value builtinWord(spirv::BuiltIn which, unsigned component);
  Value builtin(spirv::BuiltIn which, unsigned component);
  /// Variables of the thread, one for each value of these types.
  SmallVector<Value> makeVariables(TypeRange types);
  void assign(ArrayRef<Value> variables, ValueRange values);
  void bindLoaded(ValueRange results, ArrayRef<Value> variables);
  Value read(Value variable);
  Value global(StringRef name, spirv::PointerType type,
               std::optional<spirv::BuiltIn> which = std::nullopt);

  // KernelParameters.cpp
  void bindArguments();
  Value parameter(int64_t word);
  /// All 64 bits of a word.
  Value wholeParameter(int64_t word);
  Operation *makePlace();
  void placeParameters();
  /// The pointer to an element of what is bound, seen as an array.
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
  /// The number of an element, from `base` on.
  Value linearize(const Buffer &buffer, ValueRange indices);
  Value pointerTo(Buffer &buffer, Value at, Type type);
  Value loadElement(Buffer &buffer, Value at);
  void storeElement(Buffer &buffer, Value at, Value value);
  Values loadVector(Buffer &buffer, Value at, int64_t count, int64_t align);
  void storeVector(Buffer &buffer, Value at, ArrayRef<Value> values,
                   int64_t align);
  /// Bytes that are touched at once, of elements that lie together.
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
  /// What a number of 64 bits is made of that has no more than 32; or null.
  Value narrowOf(Value value);
  /// Of numbers of 64 bits.
  Division divideUnsigned(Value lhs, Value rhs);
  Division divideSigned(Value lhs, Value rhs);
  Value divide(Value lhs, Value rhs, bool isSigned, bool wantsRemainder);
  /// `divisor`: what `rhs` is made of.
  Value divideReals(Value lhs, Value rhs, Value divisor);

  // KernelArithmetic.cpp: an op on elements.
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
  /// Those of all elements of a value.
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
  /// Parameters, and what stands for each until all are known; and for the
  /// number of the first block, if that is used.
  SmallVector<int64_t> parameters;
  /// Of what is bound, the words of the pointers.
  SmallVector<int64_t> bindings;
  SmallVector<Operation *> places;
  /// Words that are the bits of numbers.
  DenseSet<int64_t> numbers;
  /// What is narrow has the upper halves of some as well, by their words.
  llvm::MapVector<int64_t, Operation *> upperPlaces;
  Operation *firstBlock = nullptr;
  /// Of a kernel that waits, the words before its parameters.
  Operation *head[relax_rt::kWaitingWords] = {};
  llvm::StringMap<spirv::GlobalVariableOp> globals;
  /// The last division of 64 bits, as quotients and remainders are often of the
  /// same numbers: in which block, of what, and whether these have signs.
  std::tuple<Block *, Value, Value, bool> lastDivided;
  Division lastDivision;
  /// The memory of a block that the launch asks for, where all of it is made of
  /// vectors of words.
  Value words;
  std::optional<bool> isOfWords;
  /// Parts of it, where they are arrays of their own.
  std::map<std::pair<int64_t, const void *>, Buffer> views;
  int64_t sharedBytes = 0, subgroup = 0;
  bool hasFailed = false, hasMatrices = false, waits = false;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_KERNELEMITTER_H
