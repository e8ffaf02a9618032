//===- HostBuilder.cpp - building blocks of host code ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/HostBuilder.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

MemRefType relax::getHostTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  Type element = tensor.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(type.getContext(), integer.getWidth());
  return MemRefType::get(tensor.getShape(), element);
}

LogicalResult relax::flattenType(Type type, SmallVectorImpl<Type> &flat) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type member : tuple.getTypes())
      if (failed(flattenType(member, flat)))
        return failure();
    return success();
  }
  if (auto shape = dyn_cast<ShapeType>(type)) {
    if (!shape.getRanked())
      return failure();
    flat.append(shape.getRank(), IndexType::get(type.getContext()));
    return success();
  }
  if (MemRefType tensor = getHostTensor(type)) {
    flat.push_back(tensor);
    return success();
  }
  if (isa<StorageType, FunctionType>(type)) {
    flat.push_back(LLVM::LLVMPointerType::get(type.getContext()));
    return success();
  }
  if (!type.isIntOrIndexOrFloat())
    return failure();
  flat.push_back(type);
  return success();
}

size_t relax::countHostValues(Type type) {
  SmallVector<Type> flat;
  (void)flattenType(type, flat);
  return flat.size();
}

StringRef relax::getArgumentName(BlockArgument argument) {
  auto named = dyn_cast<NameLoc>(argument.getLoc());
  return named ? named.getName().getValue() : StringRef();
}

std::string relax::describeArgument(BlockArgument argument) {
  std::string text = "argument " + std::to_string(argument.getArgNumber());
  if (StringRef name = getArgumentName(argument); !name.empty())
    text += (" '" + name + "'").str();
  return text;
}

std::string relax::describeLocation(Location loc) {
  std::string text;
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

//===----------------------------------------------------------------------===//
// HostBuilder
//===----------------------------------------------------------------------===//

HostBuilder::HostBuilder(ModuleOp module, int64_t device)
    : ImplicitLocOpBuilder(module.getLoc(), module.getContext()),
      device(device), module(module), converter(module.getContext()) {}

Value HostBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value HostBuilder::word(int64_t value) {
  return LLVM::ConstantOp::create(*this, getI64Type(), value);
}

Value HostBuilder::toWord(Value index) {
  return arith::IndexCastOp::create(*this, getI64Type(), index);
}

Value HostBuilder::toIndex(Value word) {
  return arith::IndexCastOp::create(*this, getIndexType(), word);
}

LLVM::GlobalOp HostBuilder::global(StringRef name, Type type, Attribute value,
                                   bool constant) {
  InsertionGuard guard(*this);
  setInsertionPointToStart(module.getBody());
  std::string unique = name.str();
  while (module.lookupSymbol(unique))
    unique = (name + "." + Twine(nextGlobal++)).str();
  return LLVM::GlobalOp::create(*this, type, constant, LLVM::Linkage::Internal,
                                unique, value);
}

Value HostBuilder::addressOf(LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(*this, pointer(), global.getSymName());
}

LLVM::GlobalOp HostBuilder::record(StringRef name, ArrayRef<Type> types,
                                   function_ref<SmallVector<Value>()> values) {
  InsertionGuard guard(*this);
  auto type = LLVM::LLVMStructType::getLiteral(getContext(), types);
  LLVM::GlobalOp record = global(name, type, {}, /*constant=*/false);
  createBlock(&record.getInitializerRegion());
  Value all = LLVM::PoisonOp::create(*this, type);
  SmallVector<Value> parts = values();
  for (auto [index, value] : llvm::enumerate(parts))
    all = LLVM::InsertValueOp::create(*this, all, value,
                                      static_cast<int64_t>(index));
  LLVM::ReturnOp::create(*this, all);
  return record;
}

void HostBuilder::unload(LLVM::GlobalOp record) {
  Value loaded =
      LLVM::GEPOp::create(*this, pointer(), getI64Type(), addressOf(record),
                          ArrayRef<LLVM::GEPArg>{2});
  call("relax_rt_device_unload", {}, {loaded});
}

LLVM::GlobalOp HostBuilder::deviceConstant(LLVM::GlobalOp data, int64_t bytes) {
  deviceConstants.push_back(record(
      "relax.device_constant", {pointer(), getI64Type(), pointer()}, [&] {
        return SmallVector<Value>{addressOf(data), word(bytes), null()};
      }));
  return deviceConstants.back();
}

void HostBuilder::exportUnload() {
  InsertionGuard guard(*this);
  setInsertionPointToEnd(module.getBody());
  auto none = LLVM::LLVMVoidType::get(getContext());
  auto function = LLVM::LLVMFuncOp::create(
      *this, "relax_unload", LLVM::LLVMFunctionType::get(none, {}));
  setInsertionPointToStart(function.addEntryBlock(*this));
  llvm::for_each(deviceConstants,
                 [&](LLVM::GlobalOp record) { unload(record); });
  LLVM::ReturnOp::create(*this, ValueRange());
}

Value HostBuilder::addressOfFunction(func::FuncOp function) {
  // Lowered to an address together with the function.
  Value constant = func::ConstantOp::create(*this, function.getFunctionType(),
                                            function.getSymName());
  return UnrealizedConversionCastOp::create(*this, TypeRange(pointer()),
                                            ValueRange(constant))
      .getResult(0);
}

Value HostBuilder::allocateWords(int64_t count) {
  InsertionGuard guard(*this);
  Operation *function = getInsertionBlock()->getParentOp();
  if (!isa<func::FuncOp>(function))
    function = function->getParentOfType<func::FuncOp>();
  setInsertionPointToStart(&function->getRegion(0).front());
  return LLVM::AllocaOp::create(*this, pointer(), getI64Type(),
                                word(std::max<int64_t>(count, 1)),
                                /*alignment=*/8);
}

Value HostBuilder::string(StringRef text) {
  LLVM::GlobalOp &known = strings[text];
  if (!known) {
    std::string data = text.str();
    data.push_back('\0');
    known = global("relax.string",
                   LLVM::LLVMArrayType::get(getI8Type(), data.size()),
                   getStringAttr(data), /*constant=*/true);
  }
  return addressOf(known);
}

Value HostBuilder::words(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(values.size(), getI64Type());
  return addressOf(global(
      "relax.words", LLVM::LLVMArrayType::get(getI64Type(), values.size()),
      DenseIntElementsAttr::get(type, values), /*constant=*/true));
}

Value HostBuilder::call(StringRef name, Type result, ValueRange args,
                        ArrayRef<StringRef> attributes) {
  Type resultType = result ? result : LLVM::LLVMVoidType::get(getContext());
  if (!module.lookupSymbol(name)) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(resultType,
                                            llvm::to_vector(args.getTypes()));
    auto function = LLVM::LLVMFuncOp::create(*this, name, type);
    if (!attributes.empty())
      function.setPassthroughAttr(getStrArrayAttr(attributes));
  }
  auto call = LLVM::CallOp::create(
      *this, result ? TypeRange(resultType) : TypeRange(), name, args);
  return result ? call.getResult() : Value();
}

void HostBuilder::check(Value context, Value condition, StringRef kind,
                        const Twine &message, Value first, Value second) {
  Value failed = arith::XOrIOp::create(
      *this, condition, arith::ConstantIntOp::create(*this, getI1Type(), 1));
  auto guard = scf::IfOp::create(*this, failed, /*withElseRegion=*/false);
  InsertionGuard insertion(*this);
  setInsertionPointToStart(guard.thenBlock());
  auto value = [&](Value given) { return given ? toWord(given) : word(0); };
  call("relax_rt_fail", {},
       {context, string(kind), string(message.str()),
        string(describeLocation(getLoc())), value(first), value(second)},
       {"noreturn", "cold"});
}

Value HostBuilder::makeTensor(MemRefType type, Value storage, Value data,
                              ValueRange sizes) {
  auto descriptor =
      MemRefDescriptor::poison(*this, getLoc(), converter.convertType(type));
  descriptor.setAllocatedPtr(*this, getLoc(), storage);
  descriptor.setAlignedPtr(*this, getLoc(), data);
  descriptor.setConstantOffset(*this, getLoc(), 0);
  Value stride = word(1);
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    Value size = type.isDynamicDim(axis) ? toWord(sizes[axis])
                                         : word(type.getDimSize(axis));
    descriptor.setSize(*this, getLoc(), axis, size);
    descriptor.setStride(*this, getLoc(), axis, stride);
    if (axis)
      stride = LLVM::MulOp::create(*this, stride, size);
  }
  return UnrealizedConversionCastOp::create(*this, TypeRange(type),
                                            ValueRange(Value(descriptor)))
      .getResult(0);
}

Value HostBuilder::descriptorOf(Value tensor) {
  if (auto cast = tensor.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getNumOperands() == 1)
      return cast.getOperand(0);
  return UnrealizedConversionCastOp::create(
             *this, TypeRange(converter.convertType(tensor.getType())),
             ValueRange(tensor))
      .getResult(0);
}

Value HostBuilder::storageData(Value storage) {
  // The data pointer is the second field of RelaxStorage.
  Value field = LLVM::GEPOp::create(*this, pointer(), getI64Type(), storage,
                                    ArrayRef<LLVM::GEPArg>{1});
  return LLVM::LoadOp::create(*this, pointer(), field);
}

Value HostBuilder::storageOf(Value host) {
  if (isa<LLVM::LLVMPointerType>(host.getType()))
    return host;
  if (!isa<MemRefType>(host.getType()))
    return {};
  return MemRefDescriptor(descriptorOf(host)).allocatedPtr(*this, getLoc());
}

Value HostBuilder::dataOf(Value tensor) {
  return MemRefDescriptor(descriptorOf(tensor)).alignedPtr(*this, getLoc());
}

Value HostBuilder::null() { return LLVM::ZeroOp::create(*this, pointer()); }

Value HostBuilder::dim(Value tensor, int64_t axis) {
  auto type = cast<MemRefType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return index(type.getDimSize(axis));
  return memref::DimOp::create(*this, tensor, axis);
}

Value HostBuilder::castTensor(Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  return memref::CastOp::create(*this, type, tensor);
}

//===----------------------------------------------------------------------===//
// SymbolValues
//===----------------------------------------------------------------------===//

Value SymbolValues::lookup(SymExprAttr expr) const {
  for (const auto &scope : llvm::reverse(scopes))
    if (Value value = scope.lookup(expr))
      return value;
  return {};
}

bool SymbolValues::define(SymExprAttr symbol, Value value) {
  return !lookup(symbol) && scopes.back().try_emplace(symbol, value).second;
}

template <typename Op>
Value SymbolValues::checked(Value lhs, Value rhs) {
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i64, i1});
  Value pair =
      Op::create(builder, type, builder.toWord(lhs), builder.toWord(rhs));
  Value flag =
      LLVM::ExtractValueOp::create(builder, pair, ArrayRef<int64_t>{1});
  overflow =
      overflow ? Value(arith::OrIOp::create(builder, overflow, flag)) : flag;
  return builder.toIndex(
      LLVM::ExtractValueOp::create(builder, pair, ArrayRef<int64_t>{0}));
}

void SymbolValues::checkOverflow(const Twine &what) {
  if (!overflow)
    return;
  Value holds = arith::XOrIOp::create(
      builder, overflow,
      arith::ConstantIntOp::create(builder, builder.getI1Type(), 1));
  overflow = {};
  builder.check(context, holds, "ValueError",
                function + ": " + what + " exceeds 64 bits");
}

Value SymbolValues::evaluate(SymExprAttr expr) {
  if (expr.isConstant())
    return builder.index(expr.getValue());
  if (Value value = lookup(expr))
    return value;
  // Subexpressions are checked on their own.
  Value outer = std::exchange(overflow, Value());
  Value value = compute(expr);
  if (value) {
    checkOverflow("'" + expr.str() + "'");
    scopes.back().try_emplace(expr, value);
  }
  overflow = outer;
  return value;
}

Value SymbolValues::product(ValueRange factors, const Twine &what) {
  Value total = builder.index(1);
  for (Value factor : factors)
    total = checked<LLVM::SMulWithOverflowOp>(total, factor);
  checkOverflow(what);
  return total;
}

Value SymbolValues::compute(SymExprAttr expr) {
  SmallVector<Value> operands;
  for (SymExprAttr operand : expr.getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return {};
  }
  return operands.empty() ? Value() : Checked(*this).emit(expr, operands);
}

Value SymbolValues::Checked::add(Value lhs, Value rhs) {
  return values.checked<LLVM::SAddWithOverflowOp>(lhs, rhs);
}

Value SymbolValues::Checked::multiply(Value lhs, Value rhs) {
  return values.checked<LLVM::SMulWithOverflowOp>(lhs, rhs);
}

Value SymbolValues::Checked::checkDivisor(SymExprAttr expr, Value divisor) {
  HostBuilder &builder = values.builder;
  if (!expr.getOperands()[1].isConstant())
    builder.check(values.context,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                        divisor, builder.index(0)),
                  "ValueError",
                  values.function + ": '" + expr.str() + "' divides by zero");
  return divisor;
}
