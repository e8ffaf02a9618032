//===- SymbolScope.cpp - definitions and uses of symbols ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass over a function in program order, which maintains the set of visible
// symbols.
//
//===----------------------------------------------------------------------===//

#include "Relax/SymbolScope.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"

using namespace mlir;
using namespace mlir::relax;

void relax::walkParameterSymbols(FunctionOpInterface function,
                                 function_ref<void(StringAttr)> fn) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    walkDefinedSymbols(type, fn);
    if (auto shape = function.getArgAttrOfType<ShapeAttr>(
            index, RelaxDialect::kShapeAttr))
      walkDefinedSymbols(ShapeType::get(type.getContext(), shape.getDims()),
                         fn);
    if (auto symbol = function.getArgAttrOfType<StringAttr>(
            index, RelaxDialect::kSymbolAttr))
      fn(symbol);
  }
}

void relax::walkMentionedSymbols(Operation *op,
                                 function_ref<void(StringAttr)> fn) {
  for (Type type : op->getResultTypes())
    walkSymbols(type, fn);
  walkSymbols(op->getAttrDictionary(), fn);
}

namespace {

class ScopeVerifier {
public:
  explicit ScopeVerifier(FunctionOpInterface function) : function(function) {}

  LogicalResult run() {
    walkParameterSymbols(function, [&](StringAttr name) { define(name); });
    if (failed(verifySignature()))
      return failure();
    for (Block &block : function.getFunctionBody())
      if (failed(verifyBlock(block)))
        return failure();
    return verifyRanges();
  }

private:
  void define(StringAttr name) {
    visible.define(name);
    everDefined.insert(name);
  }

  /// The symbols of a type, cached because few distinct types occur.
  ArrayRef<StringAttr> symbolsOf(Type type) {
    auto [it, inserted] = typeSymbols.try_emplace(type);
    if (inserted)
      walkSymbols(type, [&](StringAttr name) { it->second.push_back(name); });
    return it->second;
  }

  LogicalResult check(StringAttr name,
                      function_ref<InFlightDiagnostic()> emitError) {
    if (visible.contains(name))
      return success();
    return emitError()
           << "uses symbol '" << name.getValue()
           << "', which is not defined here; a symbol is defined by a plain "
              "dimension of a parameter, by an integer parameter with "
              "relax.symbol, or by relax.match_cast";
  }

  LogicalResult checkType(Type type,
                          function_ref<InFlightDiagnostic()> emitError) {
    for (StringAttr name : symbolsOf(type))
      if (failed(check(name, emitError)))
        return failure();
    return success();
  }

  LogicalResult verifySignature() {
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      unsigned position = index;
      if (failed(checkType(type, [&] {
            return function.emitOpError() << "parameter " << position << " ";
          })))
        return failure();
      if (auto shape = function.getArgAttrOfType<ShapeAttr>(
              index, RelaxDialect::kShapeAttr))
        if (failed(checkType(ShapeType::get(type.getContext(), shape.getDims()),
                             [&] {
                               return function.emitOpError()
                                      << "parameter " << position << " ";
                             })))
          return failure();
    }
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      for (StringAttr name : symbolsOf(type))
        if (!visible.contains(name))
          return function.emitOpError()
                 << "result " << index << " uses symbol '" << name.getValue()
                 << "', which no parameter defines; callers cannot know it: "
                    "write '?'";
    return success();
  }

  LogicalResult verifyBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      if (failed(checkType(argument.getType(), [&] {
            return block.getParentOp()->emitOpError()
                   << "block argument " << argument.getArgNumber() << " ";
          })))
        return failure();
    for (Operation &op : block)
      if (failed(verifyOp(op)))
        return failure();
    return success();
  }

  LogicalResult verifyOp(Operation &op) {
    for (Region &region : op.getRegions()) {
      size_t outer = visible.enter();
      for (Block &block : region)
        if (failed(verifyBlock(block)))
          return failure();
      if (!isa<DataflowOp>(op))
        visible.leave(outer);
    }
    if (auto cast = dyn_cast<MatchCastOp>(op))
      walkDefinedSymbols(cast.getType(),
                         [&](StringAttr name) { define(name); });
    auto emitError = [&] { return op.emitOpError(); };
    for (Type type : op.getResultTypes())
      if (failed(checkType(type, emitError)))
        return failure();
    LogicalResult result = success();
    walkSymbols(op.getAttrDictionary(), [&](StringAttr name) {
      if (succeeded(result))
        result = check(name, emitError);
    });
    return result;
  }

  LogicalResult verifyRanges() {
    auto ranges =
        function->getAttrOfType<DictionaryAttr>(RelaxDialect::kSymbolsAttr);
    if (!ranges)
      return success();
    for (NamedAttribute range : ranges)
      if (!everDefined.contains(range.getName()))
        return function.emitOpError()
               << "declares a range for symbol '" << range.getName().getValue()
               << "', which it never defines";
    return success();
  }

  FunctionOpInterface function;
  VisibleSymbols visible;
  llvm::DenseSet<StringAttr> everDefined;
  llvm::DenseMap<Type, SmallVector<StringAttr, 2>> typeSymbols;
};

} // namespace

LogicalResult relax::verifySymbolScope(FunctionOpInterface function) {
  return ScopeVerifier(function).run();
}
