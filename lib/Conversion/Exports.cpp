//===- Exports.cpp - exported interface of a module -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Exports.h"

#include "Conversion/Slots.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Runtime/Core/RelaxRuntime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Signatures as words
//===----------------------------------------------------------------------===//

/// The DLPack type code.
static int64_t getTypeCode(Type element) {
  if (element.isInteger(1))
    return 6;
  if (element.isBF16())
    return 4;
  if (isa<Float8E4M3FNType>(element))
    return 10;
  if (isa<Float8E5M2Type>(element))
    return 12;
  if (isa<FloatType>(element))
    return 2;
  return element.isUnsignedInteger() ? 1 : 0;
}

void relax::appendWords(Type type, int64_t flags,
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
  } else if (auto function = dyn_cast<FunctionType>(type)) {
    int64_t device = flags >> RelaxDeviceShift;
    SmallVector<int64_t> all(function.getNumInputs() + function.getNumResults(),
                             device << RelaxDeviceShift);
    SmallVector<int64_t> own = getSignatureWords(
        function.getInputs(), function.getResults(), device, all);
    words.append({RelaxCallable, static_cast<int64_t>(own.size())});
    words.append(own);
  } else {
    words.append(
        {RelaxInteger, type.isIndex() ? 64 : type.getIntOrFloatBitWidth()});
  }
}

static int64_t countSlots(TypeRange types) {
  int64_t count = 0;
  for (Type type : types) {
    SmallVector<Type> flat;
    (void)flattenType(type, flat);
    count += Slots::count(TypeRange(flat));
  }
  return count;
}

SmallVector<int64_t> relax::getSignatureWords(TypeRange parameters,
                                              TypeRange results, int64_t device,
                                              ArrayRef<int64_t> flags) {
  SmallVector<int64_t> words = {static_cast<int64_t>(parameters.size()),
                                static_cast<int64_t>(results.size()),
                                countSlots(parameters), countSlots(results),
                                device};
  for (auto [type, own] :
       llvm::zip_equal(llvm::concat<const Type>(SmallVector<Type>(parameters),
                                                SmallVector<Type>(results)),
                       flags))
    appendWords(type, own, words);
  return words;
}

/// Formats a type for messages: "tensor f32 [n, 4]".
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
    int64_t device =
        runsOnHost(op->getParentOfType<FuncOp>()) ? 0 : builder.device;
    auto [it, isNew] = result.types.insert({{weight.getName(), device}, type});
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
  for (auto [key, type] : result.types) {
    appendWords(type, key.second << RelaxDeviceShift, words);
    for (const std::string &text : {key.first.str(), describeType(type)})
      (names += text).push_back('\0');
  }
  auto arrayOf = [](Type element, int64_t size) {
    return LLVM::LLVMArrayType::get(element, size);
  };
  Type i64 = builder.getI64Type();
  // The runtime's table of bound weights.
  result.table = builder.global("relax.weights", arrayOf(builder.pointer(), 1),
                                LLVM::ZeroAttr::get(builder.getContext()),
                                /*constant=*/false);
  result.words = builder.global(
      "relax.weight_types", arrayOf(i64, words.size()),
      DenseIntElementsAttr::get(RankedTensorType::get(words.size(), i64),
                                ArrayRef<int64_t>(words)),
      /*constant=*/true);
  result.names = builder.global(
      "relax.weight_names", arrayOf(builder.getI8Type(), names.size()),
      builder.getStringAttr(names), /*constant=*/true);
  return result;
}

Value WeightTable::getAddresses(HostBuilder &builder, Value context) const {
  return builder.call("relax_rt_weights", builder.pointer(),
                      {context, builder.addressOf(words),
                       builder.addressOf(names), builder.addressOf(table)});
}

Value WeightTable::load(HostBuilder &builder, Value addresses, StringAttr name,
                        int64_t device) const {
  int64_t slot = std::distance(types.begin(), types.find({name, device}));
  auto address =
      LLVM::GEPOp::create(builder, builder.pointer(), builder.pointer(),
                          addresses, ArrayRef<LLVM::GEPArg>{int32_t(slot)});
  return LLVM::LoadOp::create(builder, builder.pointer(), address);
}

/// Creates a public function with the TVM FFI signature and sets `builder` to
/// its start.
static LLVM::LLVMFuncOp makeEntry(HostBuilder &builder, StringRef name) {
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
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
  Value status =
      builder.call("relax_rt_bind_weights", builder.getI32Type(),
                   {builder.addressOf(words), builder.addressOf(names),
                    builder.addressOf(table), entry.getArgument(1),
                    entry.getArgument(2), entry.getArgument(3)});
  LLVM::ReturnOp::create(builder, status);
  auto module = cast<ModuleOp>(entry->getParentOp());
  auto unload = module.lookupSymbol<LLVM::LLVMFuncOp>("relax_unload");
  builder.setInsertionPoint(unload.getBody().back().getTerminator());
  builder.call("relax_rt_unload_weights", {},
               {builder.addressOf(words), builder.addressOf(table)});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Whether a function, directly or through what it references, reads a weight.
static bool reachesWeight(FuncOp function, llvm::DenseSet<Operation *> &seen) {
  if (!seen.insert(function).second)
    return false;
  auto callee = [&](FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<FuncOp>(function, name);
  };
  WalkResult walk = function.walk([&](Operation *op) {
    FuncOp other;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant.isWeight() ? WalkResult::interrupt()
                                 : WalkResult::advance();
    if (auto call = dyn_cast<CallOp>(op))
      other = callee(call.getCalleeAttr());
    else if (auto closure = dyn_cast<MakeClosureOp>(op))
      other = callee(closure.getCalleeAttr());
    return other && reachesWeight(other, seen) ? WalkResult::interrupt()
                                               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

ExportedFunction ExportedFunction::of(FuncOp function, const Writes &writes,
                                      SymbolTableCollection &tables) {
  ExportedFunction result;
  result.name = function.getSymName();
  result.parameters.assign(function.getArgumentTypes().begin(),
                           function.getArgumentTypes().end());
  result.results.assign(function.getResultTypes().begin(),
                        function.getResultTypes().end());
  result.mutableParameters = writes.getParameters(function);
  for (BlockArgument argument : function.getArguments()) {
    StringRef name = getArgumentName(argument);
    result.parameterNames.push_back(
        name.empty() ? "arg" + std::to_string(argument.getArgNumber())
                     : name.str());
  }
  for (unsigned index = 0; index < result.parameters.size(); ++index)
    result.hostParameters.push_back(isParameterOnHost(function, index));
  for (unsigned index = 0; index < result.results.size(); ++index)
    result.hostResults.push_back(isResultOnHost(function, index));
  llvm::DenseSet<Operation *> seen;
  result.readsWeights = reachesWeight(function, seen);
  result.sides = findSides(function, tables);
  return result;
}

void relax::exportFunction(HostBuilder &builder,
                           const ExportedFunction &function, StringRef callee,
                           const WeightTable &weights) {
  OpBuilder::InsertionGuard guard(builder);
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  Type ptr = builder.pointer();
  builder.setInsertionPointToEnd(module.getBody());
  auto thunk =
      func::FuncOp::create(builder, ("relax.thunk." + function.name).str(),
                           builder.getFunctionType({ptr, ptr, ptr}, {}));
  thunk.setPrivate();
  thunk->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  builder.setInsertionPointToStart(thunk.addEntryBlock());
  Value context = thunk.getArgument(0);
  // All weights must be bound, whichever branch uses them.
  if (function.readsWeights)
    weights.getAddresses(builder, context);
  Slots in(builder, thunk.getArgument(1)), out(builder, thunk.getArgument(2));
  SmallVector<Value> args = {context};
  for (Type parameter : function.parameters)
    in.read(parameter, args);
  auto target = module.lookupSymbol<func::FuncOp>(callee);
  auto call = func::CallOp::create(builder, target, args);
  out.write(call.getResults());
  func::ReturnOp::create(builder);

  auto flagsOf = [&](bool isOnHost) {
    return isOnHost ? 0 : builder.device << RelaxDeviceShift;
  };
  SmallVector<int64_t> flags;
  for (unsigned index = 0; index < function.parameters.size(); ++index)
    flags.push_back(flagsOf(function.hostParameters[index]) |
                    (function.mutableParameters[index] ? RelaxMutable : 0));
  for (unsigned index = 0; index < function.results.size(); ++index)
    flags.push_back(flagsOf(function.hostResults[index]));
  int64_t device = function.sides.device ? builder.device : 0;
  if (device && function.sides.host)
    device |= RelaxHostParts;
  SmallVector<int64_t> words =
      getSignatureWords(function.parameters, function.results, device, flags);
  std::string names = function.name.str();
  for (auto [name, type] :
       llvm::zip_equal(function.parameterNames, function.parameters))
    for (const std::string &text : {name, describeType(type)})
      // A NUL character would end the text.
      (names += '\0') += llvm::join(llvm::split(StringRef(text), '\0'), "\\00");

  builder.setInsertionPointToEnd(module.getBody());
  LLVM::LLVMFuncOp entry = makeEntry(builder, function.name);
  SmallVector<int64_t> written(function.mutableParameters.set_bits());
  if (!written.empty())
    entry->setAttr(notes::kWritten, builder.getDenseI64ArrayAttr(written));
  Value address = builder.addressOfFunction(thunk);
  Value status = builder.call("relax_rt_call", builder.getI32Type(),
                              {builder.words(words), builder.string(names),
                               address, entry.getArgument(1),
                               entry.getArgument(2), entry.getArgument(3)});
  LLVM::ReturnOp::create(builder, status);
}
