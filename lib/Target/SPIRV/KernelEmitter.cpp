//===- KernelEmitter.cpp - emits a kernel as a SPIR-V module --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "Target/GPU/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type KernelEmitter::typeOf(Type element) {
  if (element.isIndex())
    return indexType();
  if (auto real = dyn_cast<FloatType>(element))
    if (!isa<Float16Type, Float32Type, Float64Type>(real))
      return builder.getIntegerType(real.getWidth());
  return element;
}

Type KernelEmitter::memoryType(Type element) {
  return element.isInteger(1) ? builder.getI8Type() : typeOf(element);
}

void KernelEmitter::appendTypes(Type type, SmallVectorImpl<Type> &types) {
  auto vector = dyn_cast<VectorType>(type);
  types.append(vector ? vector.getNumElements() : 1,
               typeOf(vector ? vector.getElementType() : type));
}

Value KernelEmitter::number(int64_t value, Type type) {
  return spirv::ConstantOp::create(
      builder, type,
      type.isInteger(1) ? Attribute(builder.getBoolAttr(value != 0))
                        : builder.getIntegerAttr(type, value));
}

Value KernelEmitter::add(Value lhs, Value rhs) {
  if (!lhs || matchPattern(lhs, m_Zero()))
    return rhs;
  if (!rhs || matchPattern(rhs, m_Zero()))
    return lhs;
  return builder.createOrFold<spirv::IAddOp>(lhs.getType(), lhs, rhs);
}

Value KernelEmitter::multiply(Value lhs, int64_t rhs) {
  if (rhs == 1)
    return lhs;
  return builder.createOrFold<spirv::IMulOp>(lhs.getType(), lhs, index(rhs));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelEmitter::makeVariables(TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types)
    appendTypes(type, flat);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return llvm::map_to_vector(flat, [&](Type type) -> Value {
    auto pointer = spirv::PointerType::get(type, spirv::StorageClass::Function);
    return spirv::VariableOp::create(builder, pointer,
                                     spirv::StorageClass::Function, Value());
  });
}

void KernelEmitter::assign(ArrayRef<Value> variables, ValueRange values) {
  for (Value value : values)
    for (Value element : elementsOf(value)) {
      spirv::StoreOp::create(builder, variables.front(), element);
      variables = variables.drop_front();
    }
}

Value KernelEmitter::read(Value variable) {
  return spirv::LoadOp::create(builder, variable);
}

void KernelEmitter::bindLoaded(ValueRange results, ArrayRef<Value> variables) {
  for (Value result : results) {
    SmallVector<Type> types;
    appendTypes(result.getType(), types);
    Values elements;
    for (Value variable : variables.take_front(types.size()))
      elements.push_back(read(variable));
    variables = variables.drop_front(types.size());
    bind(result, std::move(elements));
  }
}

Value KernelEmitter::global(StringRef name, spirv::PointerType type,
                            std::optional<spirv::BuiltIn> which) {
  spirv::GlobalVariableOp &variable = globals[name];
  if (!variable) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    variable =
        which ? spirv::GlobalVariableOp::create(builder, type, name, *which)
              : spirv::GlobalVariableOp::create(builder, type, name);
  }
  return spirv::AddressOfOp::create(builder, variable);
}

Value KernelEmitter::builtinWord(spirv::BuiltIn which, unsigned component) {
  auto three = VectorType::get(3, builder.getI32Type());
  Value all = read(global(
      spirv::stringifyBuiltIn(which),
      spirv::PointerType::get(three, spirv::StorageClass::Input), which));
  return spirv::CompositeExtractOp::create(
      builder, all, ArrayRef<int32_t>{static_cast<int32_t>(component)});
}

Value KernelEmitter::builtin(spirv::BuiltIn which, unsigned component) {
  return convertInt(builtinWord(which, component), indexType(),
                    /*isSigned=*/false);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void KernelEmitter::waitForThreads() {
  spirv::ControlBarrierOp::create(builder, spirv::Scope::Workgroup,
                                  spirv::Scope::Workgroup,
                                  spirv::MemorySemantics::AcquireRelease |
                                      spirv::MemorySemantics::WorkgroupMemory |
                                      spirv::MemorySemantics::UniformMemory);
}

LogicalResult KernelEmitter::emitGPU(Operation &op) {
  auto dimension = [](auto id) {
    return static_cast<unsigned>(id.getDimension());
  };
  if (op.use_empty() && isMemoryEffectFree(&op))
    return success();
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    bind(id, {builtin(spirv::BuiltIn::LocalInvocationId, dimension(id))});
    return success();
  }
  if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
    Value number = builtinWord(spirv::BuiltIn::WorkgroupId, dimension(id));
    if (dimension(id) == 0)
      number = add(number, convertInt(words.firstBlock(), number.getType(),
                                      /*isSigned=*/false));
    bind(id, {convertInt(number, indexType(), /*isSigned=*/false)});
    return success();
  }
  // The grids of other kernels may be split into several dispatches.
  if (auto size = dyn_cast<gpu::GridDimOp>(op);
      size && (dimension(size) || kernel->hasAttr(kGridStrideAttr))) {
    bind(size, {builtin(spirv::BuiltIn::NumWorkgroups, dimension(size))});
    return success();
  }
  if (auto size = dyn_cast<gpu::BlockDimOp>(op)) {
    bind(size, {index(kernel.getKnownBlockSizeAttr()[dimension(size)])});
    return success();
  }
  if (isa<gpu::BarrierOp>(op)) {
    waitForThreads();
    return success();
  }
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    if (!shuffle.getValid().use_empty())
      return op.emitOpError(
          "cannot be lowered to SPIR-V: its result `valid` is used");
    std::optional<int64_t> width = getConstantIntValue(shuffle.getWidth());
    if (!width || (subgroup && subgroup != *width))
      return op.emitOpError(
          "must have a constant width, the same in all of the kernel");
    subgroup = *width;
    Value value = scalarOf(shuffle.getValue());
    Value which = scalarOf(shuffle.getOffset());
    auto scope = spirv::Scope::Subgroup;
    Value result;
    if (shuffle.getMode() == gpu::ShuffleMode::XOR)
      result = spirv::GroupNonUniformShuffleXorOp::create(
          builder, value.getType(), scope, value, which);
    else if (shuffle.getMode() == gpu::ShuffleMode::IDX)
      result = spirv::GroupNonUniformShuffleOp::create(builder, value.getType(),
                                                       scope, value, which);
    else
      return op.emitOpError(
                 "must have mode xor or idx to be lowered to SPIR-V, got ")
             << gpu::stringifyShuffleMode(shuffle.getMode());
    bind(shuffle.getShuffleResult(), {result});
    return success();
  }
  if (isa<gpu::DynamicSharedMemoryOp>(op))
    return success(); // handled along with its views
  return op.emitOpError("cannot be lowered to SPIR-V");
}

LogicalResult KernelEmitter::emitOp(Operation &op) {
  builder.setLoc(op.getLoc());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (isa_and_nonnull<gpu::GPUDialect>(op.getDialect()))
    return emitGPU(op);
  if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op))
    return control.getKind() == NVVM::GridDepActionKind::wait ? emitWait(&op)
                                                              : success();
  if (isa_and_nonnull<spirv::SPIRVDialect>(op.getDialect()))
    return emitMatrix(op);
  bool isKnown = true;
  if (isa_and_nonnull<memref::MemRefDialect, vector::VectorDialect>(
          op.getDialect())) {
    LogicalResult memory = emitMemory(op, isKnown);
    if (isKnown)
      return memory;
    isKnown = true;
    LogicalResult vector = emitVector(op, isKnown);
    return isKnown ? vector : op.emitOpError("cannot be lowered to SPIR-V");
  }
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
      cast && cast->getNumOperands() == 1 &&
      buffers.count(cast->getOperand(0)) &&
      isa<MemRefType>(cast->getResult(0).getType())) {
    // View booleans as bytes.
    Buffer buffer = buffers[cast->getOperand(0)];
    buffer.base = baseOf(buffer);
    buffer.type = llvm::cast<MemRefType>(cast->getResult(0).getType());
    buffers[cast->getResult(0)] = buffer;
    return success();
  }
  if (isa<UnrealizedConversionCastOp>(op) && op.getNumOperands() == 2)
    return success(); // a matrix position, handled at its use
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp,
          arith::AddUIExtendedOp>(op)) {
    emitExtended(op);
    return success();
  }
  if (op.getNumResults() != 1)
    return op.emitOpError("cannot be lowered to SPIR-V");
  Value result = op.getResult(0);
  SmallVector<Type> types;
  appendTypes(result.getType(), types);
  Values elements;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      for (auto [value, type] : llvm::zip(dense.getValues<Attribute>(), types))
        elements.push_back(emitConstant(value, type));
    else
      elements.push_back(emitConstant(constant.getValue(), types.front()));
    bind(result, std::move(elements));
    return success();
  }
  if (isa<ub::PoisonOp>(op)) {
    for (Type type : types)
      elements.push_back(spirv::UndefOp::create(builder, type));
    bind(result, std::move(elements));
    return success();
  }
  Type element = getElementTypeOrSelf(result.getType());
  for (size_t lane = 0; lane < types.size(); ++lane) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      ArrayRef<Value> all = elementsOf(operand);
      if (all.empty())
        return op.emitOpError("cannot be lowered to SPIR-V");
      operands.push_back(all.size() == 1 ? all.front() : all[lane]);
    }
    FailureOr<Value> value = emitScalar(op, operands, element);
    if (failed(value))
      return failure();
    elements.push_back(*value);
  }
  bind(result, std::move(elements));
  return success();
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)) || hasFailed)
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

int64_t KernelEmitter::getThreads() {
  int64_t threads = 1;
  for (int32_t size : kernel.getKnownBlockSizeAttr().asArrayRef())
    threads *= size;
  return threads;
}

FailureOr<spirv::ModuleOp> KernelEmitter::emit(Block *body, StringRef name) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError("must have one block");
  if (!kernel.getKnownBlockSizeAttr())
    return kernel.emitOpError("must have a known block size");
  builder.setInsertionPointToEnd(body);
  module = spirv::ModuleOp::create(
      builder,
      isBound ? spirv::AddressingModel::Logical
              : spirv::AddressingModel::PhysicalStorageBuffer64,
      spirv::MemoryModel::GLSL450, std::nullopt, name);
  builder.setInsertionPointToEnd(module.getBody());
  function =
      spirv::FuncOp::create(builder, "main", builder.getFunctionType({}, {}));
  // The entry block is for variables and parameters; all other code comes after
  // it.
  Block *entry = function.addEntryBlock();
  Block *rest = new Block();
  function.getBody().push_back(rest);
  builder.setInsertionPointToEnd(entry);
  spirv::BranchOp::create(builder, rest);
  builder.setInsertionPointToEnd(rest);
  bindArguments();
  for (BlockArgument shared : kernel.getWorkgroupAttributions()) {
    FailureOr<Buffer> array = allocateArray(cast<MemRefType>(shared.getType()),
                                            spirv::StorageClass::Workgroup);
    if (failed(array))
      return failure();
    buffers[shared] = *array;
  }
  if (hasFailed || failed(emitBlock(kernel.getBody().front()))) {
    module.erase();
    return failure();
  }
  if (words.waits())
    countBlock();
  spirv::ReturnOp::create(builder);
  placeParameters();
  finish(name);
  return module;
}
