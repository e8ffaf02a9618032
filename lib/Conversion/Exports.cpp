//===- Exports.cpp - the outside of a lowered module ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Exports.h"

#include "Runtime/RelaxRuntime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Signatures in words
//===----------------------------------------------------------------------===//

/// DLPack's type code.
static int64_t getTypeCode(Type element) {
  if (element.isInteger(1))
    return 6;
  if (element.isBF16())
    return 4;
  if (isa<FloatType>(element))
    return 2;
  return element.isUnsignedInteger() ? 1 : 0;
}

static void appendWords(Type type, int64_t flags,
                        SmallVectorImpl<int64_t> &words) {
  auto known = [](SymExprAttr dim) {
    return dim ? dim.getConstantValue().value_or(-1) : -1;
  };
  if (auto tuple = dyn_cast<TupleType>(type)) {
    words.append({RelaxTuple, static_cast<int64_t>(tuple.size())});
    for (Type member : tuple.getTypes())
      appendWords(member, flags, words);
  } else if (auto shape = dyn_cast<ShapeType>(type)) {
    words.append({RelaxShape, shape.getRank()});
    for (SymExprAttr dim : shape.getDims())
      words.push_back(known(dim));
  } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = tensor.getElementType();
    int64_t width = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
    words.append(
        {RelaxTensor, getTypeCode(element), width, flags, tensor.getRank()});
    for (int64_t dim : tensor.getShape())
      words.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  } else if (isa<FloatType>(type)) {
    words.append({RelaxReal, type.getIntOrFloatBitWidth()});
  } else if (type.isInteger(1)) {
    words.push_back(RelaxBoolean);
  } else {
    words.append({RelaxInteger,
                  type.isIndex() ? 64 : type.getIntOrFloatBitWidth()});
  }
}

/// A type as it is called in messages: "tensor f32 [n, 4]".
static std::string describeType(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printDims = [&](ArrayRef<SymExprAttr> dims) {
    os << "[";
    llvm::interleaveComma(dims, os, [&](SymExprAttr dim) {
      if (dim)
        dim.printExpr(os);
      else
        os << "?";
    });
    os << "]";
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    os << "tensor ";
    if (tensor.getElementType().isInteger(1))
      os << "bool ";
    else
      os << tensor.getElementType() << " ";
    printDims(getSymDims(tensor));
  } else if (auto shape = dyn_cast<ShapeType>(type)) {
    os << "shape ";
    printDims(shape.getDims());
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    os << "tuple of " << tuple.size();
  } else {
    os << type;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

FailureOr<WeightTable> WeightTable::of(ModuleOp module, HostBuilder &builder) {
  WeightTable result;
  WalkResult walk = module.walk([&](ConstantOp op) {
    auto weight = dyn_cast<WeightAttr>(op.getValue());
    if (!weight)
      return WalkResult::advance();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape()) {
      op.emitOpError() << "weight " << weight.getName()
                       << " needs a static shape to be compiled, got "
                       << op.getType();
      return WalkResult::interrupt();
    }
    auto [it, isNew] = result.types.insert({weight.getName(), type});
    if (!isNew && it->second != type) {
      op.emitOpError() << "weight " << weight.getName() << " is " << type
                       << " here and " << it->second << " elsewhere";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (result.empty())
    return result;
  SmallVector<int64_t> words = {static_cast<int64_t>(result.types.size())};
  std::string names;
  for (auto [name, type] : result.types) {
    appendWords(type, 0, words);
    for (const std::string &text : {name.str(), describeType(type)})
      (names += text).push_back('\0');
  }
  auto arrayOf = [](Type element, int64_t size) {
    return LLVM::LLVMArrayType::get(element, size);
  };
  Type i64 = builder.getI64Type();
  result.table = builder.global("relax.weights",
                                arrayOf(builder.pointer(), result.types.size()),
                                LLVM::ZeroAttr::get(builder.getContext()),
                                /*constant=*/false);
  result.words = builder.global(
      "relax.weight_types", arrayOf(i64, words.size()),
      DenseIntElementsAttr::get(RankedTensorType::get(words.size(), i64),
                                ArrayRef<int64_t>(words)),
      /*constant=*/true);
  result.names =
      builder.global("relax.weight_names",
                     arrayOf(builder.getI8Type(), names.size()),
                     builder.getStringAttr(names), /*constant=*/true);
  return result;
}

Value WeightTable::load(HostBuilder &builder, StringAttr name) const {
  int64_t slot = std::distance(types.begin(), types.find(name));
  auto address = LLVM::GEPOp::create(
      builder, builder.pointer(), builder.pointer(),
      builder.addressOf(table), ArrayRef<LLVM::GEPArg>{int32_t(slot)});
  return LLVM::LoadOp::create(builder, builder.pointer(), address);
}

void WeightTable::emitRequire(HostBuilder &builder, Value context) const {
  if (!empty())
    builder.call("relax_rt_require_weights", {},
                 {context, builder.addressOf(words), builder.addressOf(names),
                  builder.addressOf(table)});
}

/// A public function with the signature of TVM FFI, at whose start `builder` is.
static LLVM::LLVMFuncOp makeEntry(HostBuilder &builder, StringRef name) {
  auto module = cast<ModuleOp>(
      builder.getInsertionBlock()->getParentOp());
  builder.setInsertionPointToEnd(module.getBody());
  Type ptr = builder.pointer(), i32 = builder.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(i32, {ptr, ptr, i32, ptr});
  auto entry =
      LLVM::LLVMFuncOp::create(builder, ("__tvm_ffi_" + name).str(), type);
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  return entry;
}

void WeightTable::exportBinding(HostBuilder &builder) const {
  if (empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  LLVM::LLVMFuncOp entry = makeEntry(builder, "bind_weight");
  Value status = builder.call(
      "relax_rt_bind_weight", builder.getI32Type(),
      {builder.addressOf(words), builder.addressOf(names),
       builder.addressOf(table), entry.getArgument(1), entry.getArgument(2),
       entry.getArgument(3)});
  LLVM::ReturnOp::create(builder, status);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Marks the parameters that `value` may share its storage with.
static void markMutable(Value value, llvm::SmallBitVector &marked) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (isa<FuncOp>(argument.getOwner()->getParentOp()))
        marked.set(argument.getArgNumber());
      else
        // A loop's carried value: any of the initial ones.
        llvm::append_range(pending,
                           argument.getOwner()->getParentOp()->getOperands());
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (isa<TensorFromStorageOp, ConstantOp>(op))
      continue;
    llvm::append_range(pending, op->getOperands());
    // What a branch or a body yields.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(pending, block.getTerminator()->getOperands());
  }
}

ExportedFunction ExportedFunction::of(FuncOp function) {
  ExportedFunction result;
  result.name = function.getSymName();
  result.parameters.assign(function.getArgumentTypes().begin(),
                           function.getArgumentTypes().end());
  result.results.assign(function.getResultTypes().begin(),
                        function.getResultTypes().end());
  result.mutableParameters.resize(result.parameters.size());
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string name = "arg" + std::to_string(index);
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      name = named.getName().str();
    result.parameterNames.push_back(name);
  }
  function.walk([&](CallTIRInplaceOp op) {
    for (int64_t index : op.getInplaceIndices())
      if (index >= 0)
        markMutable(op.getOperands()[index], result.mutableParameters);
  });
  return result;
}

namespace {

/// Reads and writes the slots of `relax_rt_call`.
class Slots {
public:
  Slots(HostBuilder &builder, Value base) : builder(builder), base(base) {}

  /// Reads a value of a relax type into its host values.
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

  int64_t getCount() const { return position; }

private:
  Value address() {
    return LLVM::GEPOp::create(builder, builder.pointer(),
                               builder.getI64Type(), base,
                               ArrayRef<LLVM::GEPArg>{position++});
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
    if (isa<FloatType>(type)) {
      Value number = type.isF64() ? value
                                  : LLVM::FPExtOp::create(
                                        builder, builder.getF64Type(), value);
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

} // namespace

void relax::exportFunction(HostBuilder &builder,
                           const ExportedFunction &function, StringRef callee,
                           const WeightTable &weights) {
  OpBuilder::InsertionGuard guard(builder);
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  Type ptr = builder.pointer();
  builder.setInsertionPointToEnd(module.getBody());
  auto thunk = func::FuncOp::create(
      builder, ("relax.thunk." + function.name).str(),
      builder.getFunctionType({ptr, ptr, ptr}, {}));
  thunk.setPrivate();
  thunk->setAttr("llvm.linkage",
                 LLVM::LinkageAttr::get(builder.getContext(),
                                        LLVM::Linkage::Internal));
  builder.setInsertionPointToStart(thunk.addEntryBlock());
  Value context = thunk.getArgument(0);
  weights.emitRequire(builder, context);
  Slots in(builder, thunk.getArgument(1)), out(builder, thunk.getArgument(2));
  SmallVector<Value> args = {context};
  for (Type parameter : function.parameters)
    in.read(parameter, args);
  auto target = module.lookupSymbol<func::FuncOp>(callee);
  auto call = func::CallOp::create(builder, target, args);
  out.write(call.getResults());
  func::ReturnOp::create(builder);

  SmallVector<int64_t> words = {
      static_cast<int64_t>(function.parameters.size()),
      static_cast<int64_t>(function.results.size()), in.getCount(),
      out.getCount()};
  std::string names = function.name.str();
  for (auto [index, type] : llvm::enumerate(function.parameters)) {
    appendWords(type, function.mutableParameters[index] ? RelaxMutable : 0,
                words);
    names.push_back('\0');
    names += function.parameterNames[index];
    names.push_back('\0');
    names += describeType(type);
  }
  for (Type type : function.results)
    appendWords(type, 0, words);

  builder.setInsertionPointToEnd(module.getBody());
  LLVM::LLVMFuncOp entry = makeEntry(builder, function.name);
  // The thunk's address: a function of the func dialect still.
  Value address =
      UnrealizedConversionCastOp::create(
          builder, TypeRange(ptr),
          ValueRange(func::ConstantOp::create(builder, thunk.getFunctionType(),
                                              thunk.getSymName())))
          .getResult(0);
  Value status = builder.call(
      "relax_rt_call", builder.getI32Type(),
      {builder.words(words), builder.string(names), address,
       entry.getArgument(1), entry.getArgument(2), entry.getArgument(3)});
  LLVM::ReturnOp::create(builder, status);
}
