//===- MergeKernels.cpp - merge the kernels of a group --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The merged kernel uses the symbols of the primitive function, so that types
// of that function give the dimensions here. Each expression becomes one value:
// a dimension of the first parameter that has it, or a computation.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Fusion/MergeKernels.h"

#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/SymDirectives.h"
#include "Relax/Symbolic/SymBuilder.h"
#include "Transforms/Fusion/Groups.h"
#include "Transforms/SymArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

class KernelMerger {
public:
  KernelMerger(FuncOp primitive, SymbolTable &table, MergeFailure &why)
      : primitive(primitive), table(table), why(why), loc(primitive.getLoc()),
        builder(primitive.getContext()), sizes(builder, loc),
        math(primitive.getContext()) {}

  FailureOr<MergedKernel> run();

private:
  LogicalResult fail(Operation *op, const Twine &reason) {
    why = {reason.str(), op};
    return failure();
  }
  LogicalResult collectCalls();
  LogicalResult unifyElementType(CallTIROp call, Value value, Type elementType);
  void makeSignature();
  void inlineCall(CallTIROp call, func::FuncOp kernel);

  /// The type that a value of the primitive function has in the kernel.
  RankedTensorType getKernelType(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return RankedTensorType::get(type.getShape(), elementTypes.lookup(value));
  }
  Value castTo(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return tensor::CastOp::create(builder, loc, type, value);
  }
  Value makeDestination(Value result);

  FuncOp primitive;
  SymbolTable &table;
  MergeFailure &why;
  Location loc;
  OpBuilder builder;
  SizeBuilder sizes;
  SymBuilder math;

  SmallVector<std::pair<CallTIROp, func::FuncOp>> calls;
  /// Element types as kernels have them: signed and unsigned become signless.
  DenseMap<Value, Type> elementTypes;
  DenseMap<Value, Value> destinations; // of the returned values
  IRMapping values;
  /// Sizes that the kernels compute unchecked, in symbols of the primitive
  /// function.
  SmallVector<SymExprAttr> computed;
  MergedKernel merged;
};

LogicalResult KernelMerger::unifyElementType(CallTIROp call, Value value,
                                             Type elementType) {
  Type &known = elementTypes[value];
  if (known && known != elementType)
    return fail(call, "two kernels see a tensor with different element types");
  known = elementType;
  return success();
}

LogicalResult KernelMerger::collectCalls() {
  auto returned = cast<ReturnOp>(primitive.getBody().front().getTerminator());
  for (Operation &op : primitive.getBody().front().without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    auto call = dyn_cast<CallTIROp>(op);
    if (!call)
      return fail(&op, "it holds " + op.getName().getStringRef() +
                           ", not only calls of kernels");
    auto kernel = table.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || kernel.isExternal() || !kernel.getBody().hasOneBlock())
      return fail(call, "kernel @" + call.getCallee() + " has no single block");
    if (isInBufferForm(kernel))
      return fail(call,
                  "kernel @" + call.getCallee() + " is on buffers already");
    std::optional<SymSubstitution> bindings = solveProvedCall(call, kernel);
    if (!bindings)
      return fail(call, "conditions of kernel @" + call.getCallee() +
                            " on shapes are only checked at run time");
    if (auto exprs = kernel->getAttrOfType<ArrayAttr>(notes::kComputedSizes))
      for (SymExprAttr expr : getSymExprs(exprs))
        computed.push_back(math.substitute(expr, *bindings));
    calls.push_back({call, kernel});
    unsigned next = 0;
    for (ValueRange tensors :
         {ValueRange(call.getOperands()), ValueRange(call.getResults())})
      for (Value value : tensors) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (!type || llvm::is_contained(getSymDims(type), SymExprAttr()))
          return fail(call, "a tensor has an unknown dimension");
        auto parameter =
            cast<RankedTensorType>(kernel.getArgumentTypes()[next++]);
        if (failed(unifyElementType(call, value, parameter.getElementType())))
          return failure();
      }
  }
  DenseSet<Value> seen;
  for (Value value : returned.getOperands())
    if (!value.getDefiningOp<CallTIROp>() || !seen.insert(value).second)
      return fail(returned,
                  "it returns a parameter, a constant, or a value twice");
  return success();
}

void KernelMerger::makeSignature() {
  SmallVector<Value> outputs(
      primitive.getBody().front().getTerminator()->getOperands());
  SmallVector<Value> tensors;
  for (BlockArgument argument : primitive.getArguments())
    // A parameter that no kernel reads has no kernel type.
    if (elementTypes.contains(argument)) {
      merged.inputs.push_back(argument.getArgNumber());
      tensors.push_back(argument);
    }
  for (auto constant : primitive.getBody().front().getOps<ConstantOp>())
    if (elementTypes.contains(constant)) {
      merged.constants.push_back(constant);
      tensors.push_back(constant);
    }
  size_t numRead = tensors.size();
  llvm::append_range(tensors, outputs);

  llvm::SetVector<StringAttr> symbols;
  for (Value tensor : tensors)
    walkSymbols(tensor.getType(),
                [&](StringAttr name) { symbols.insert(name); });
  for (auto [call, kernel] : calls) {
    auto use = [&](StringAttr name) { symbols.insert(name); };
    walkSymbols(call.getSymArgsAttr(), use);
    for (Type type : call->getResultTypes())
      walkSymbols(type, use);
  }
  for (Value tensor : tensors)
    walkDefinedSymbols(tensor.getType(),
                       [&](StringAttr name) { symbols.remove(name); });
  for (StringAttr symbol : symbols)
    merged.integers.push_back(
        SymExprAttr::getSymbol(symbol.getContext(), symbol.getValue()));

  SmallVector<Type> inputTypes, outputTypes;
  for (Value tensor : tensors)
    inputTypes.push_back(getKernelType(tensor));
  for (Value output : outputs)
    outputTypes.push_back(getKernelType(output));
  inputTypes.append(symbols.size(), builder.getIndexType());
  merged.function =
      func::FuncOp::create(loc, primitive.getName(),
                           builder.getFunctionType(inputTypes, outputTypes));
  merged.function.setPrivate();
  auto getShape = [](Value tensor) -> Attribute {
    return cast<RankedTensorType>(tensor.getType()).getEncoding();
  };
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (Attribute shape = getShape(tensor))
      merged.function.setArgAttr(index, RelaxDialect::kShapeAttr, shape);
  for (auto [index, output] : llvm::enumerate(outputs))
    if (Attribute shape = getShape(output))
      merged.function.setResultAttr(index, RelaxDialect::kShapeAttr, shape);
  for (auto [index, symbol] : llvm::enumerate(symbols))
    merged.function.setArgAttr(tensors.size() + index,
                               RelaxDialect::kSymbolAttr, symbol);
  llvm::DenseSet<StringAttr> defined(symbols.begin(), symbols.end());
  for (Value tensor : tensors)
    walkDefinedSymbols(tensor.getType(),
                       [&](StringAttr name) { defined.insert(name); });
  if (DictionaryAttr ranges = primitive.getSymbolRanges()) {
    SmallVector<NamedAttribute> kept =
        llvm::filter_to_vector(ranges, [&](NamedAttribute range) {
          return defined.contains(range.getName());
        });
    if (!kept.empty())
      merged.function->setAttr(RelaxDialect::kSymbolsAttr,
                               builder.getDictionaryAttr(kept));
  }

  Block *entry = merged.function.addEntryBlock();
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (index < numRead)
      values.map(tensor, entry->getArgument(index));
    else
      destinations[tensor] = entry->getArgument(index);
  builder.setInsertionPointToEnd(entry);
  for (auto [index, expr] : llvm::enumerate(merged.integers))
    sizes.define(expr, entry->getArgument(tensors.size() + index));
  for (auto [index, tensor] : llvm::enumerate(tensors))
    for (auto [dim, expr] :
         llvm::enumerate(getSymDims(cast<RankedTensorType>(tensor.getType()))))
      if (!expr.isConstant() && !sizes.isDefined(expr))
        sizes.define(expr, tensor::DimOp::create(
                               builder, loc, entry->getArgument(index), dim));
}

Value KernelMerger::makeDestination(Value result) {
  if (Value destination = destinations.lookup(result))
    return destination;
  RankedTensorType type = getKernelType(result);
  SmallVector<Value> dynamic;
  for (SymExprAttr dim : getSymDims(cast<RankedTensorType>(result.getType())))
    if (!dim.isConstant())
      dynamic.push_back(sizes.get(dim));
  return tensor::EmptyOp::create(builder, loc, type, dynamic);
}

void KernelMerger::inlineCall(CallTIROp call, func::FuncOp kernel) {
  // For each parameter, its value here and the value in the primitive function
  // that has its type.
  SmallVector<Value> arguments, described;
  for (Value operand : call.getOperands()) {
    arguments.push_back(values.lookup(operand));
    described.push_back(operand);
  }
  for (Value result : call.getResults()) {
    arguments.push_back(makeDestination(result));
    described.push_back(result);
  }
  for (SymExprAttr expr : getSymExprs(call.getSymArgs())) {
    Type type = kernel.getArgumentTypes()[arguments.size()];
    Value value = sizes.get(expr);
    if (!type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    arguments.push_back(value);
  }
  IRMapping mapping;
  for (auto [parameter, argument] : llvm::zip(kernel.getArguments(), arguments))
    mapping.map(parameter, castTo(argument, parameter.getType()));
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator()) {
    // Dimensions of parameters are replaced by their symbols.
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      if (auto parameter = dyn_cast<BlockArgument>(dim.getSource()))
        if (std::optional<int64_t> index = dim.getConstantIndex()) {
          auto type = cast<RankedTensorType>(
              described[parameter.getArgNumber()].getType());
          mapping.map(dim.getResult(), sizes.get(getSymDims(type)[*index]));
          continue;
        }
    builder.clone(op, mapping);
  }
  for (auto [result, returned] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    values.map(result, castTo(mapping.lookup(returned), getKernelType(result)));
}

FailureOr<MergedKernel> KernelMerger::run() {
  if (failed(collectCalls()))
    return failure();
  makeSignature();
  for (auto [call, kernel] : calls)
    inlineCall(call, kernel);
  func::ReturnOp::create(
      builder, loc,
      llvm::map_to_vector(
          primitive.getBody().front().getTerminator()->getOperands(),
          [&](Value value) { return values.lookup(value); }));
  llvm::append_range(computed, sizes.getComputed());
  noteComputedSizes(merged.function, computed);
  return merged;
}

} // namespace

FailureOr<MergedKernel>
relax::mergeKernels(FuncOp primitive, SymbolTable &table, MergeFailure &why) {
  return KernelMerger(primitive, table, why).run();
}
