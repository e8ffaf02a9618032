//===- Outliner.cpp - outline groups of calls -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Fusion/Outliner.h"

#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Core.h"
#include "Relax/SymbolScope.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::relax;

void Outliner::collectBoundary(ArrayRef<CallTIROp> group) {
  inputs.clear();
  symbols.clear();
  passed.clear();
  outputs.clear();
  DenseSet<Operation *> members(group.begin(), group.end());
  auto use = [&](StringAttr name) { symbols.insert(name); };
  for (CallTIROp call : group) {
    walkMentionedSymbols(call, use);
    for (Value operand : call.getOperands())
      if (!members.contains(operand.getDefiningOp()) && inputs.insert(operand))
        walkSymbols(operand.getType(), use);
    for (Value result : call->getResults())
      if (call == group.back() ||
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.push_back(result);
  }
  passed = symbols;
  for (Value input : inputs)
    walkDefinedSymbols(input.getType(),
                       [&](StringAttr name) { passed.remove(name); });
}

/// `fused_` plus the names of the kernels, cut to a readable length.
static std::string makeName(ArrayRef<CallTIROp> group) {
  constexpr size_t kMaxLength = 64;
  std::string name = "fused";
  for (CallTIROp call : group)
    if (name.size() + call.getCallee().size() < kMaxLength)
      name += ("_" + call.getCallee()).str();
  return name;
}

FuncOp Outliner::makeFunction(ArrayRef<CallTIROp> group) {
  MLIRContext *context = group.front()->getContext();
  CallTIROp sink = group.back();
  SmallVector<Type> types =
      llvm::map_to_vector(inputs, [](Value input) { return input.getType(); });
  types.append(passed.size(), IndexType::get(context));
  Location loc = FusedLoc::get(
      context, llvm::map_to_vector(group, [](CallTIROp call) -> Location {
        return call.getLoc();
      }));
  OpBuilder builder(context);
  auto function = FuncOp::create(
      builder, loc, makeName(group),
      FunctionType::get(context, types, TypeRange(ValueRange(outputs))));
  function.setPrivate();
  function.setPure(true);
  function->setAttr(notes::kPrimitive, builder.getUnitAttr());
  for (auto [index, symbol] : llvm::enumerate(passed))
    function.setArgAttr(inputs.size() + index, RelaxDialect::kSymbolAttr,
                        symbol);
  // Ranges that the caller declares hold here, too.
  if (DictionaryAttr ranges =
          sink->getParentOfType<FuncOp>().getSymbolRanges()) {
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute range : ranges)
      if (symbols.contains(range.getName()))
        kept.push_back(range);
    if (!kept.empty())
      function->setAttr(RelaxDialect::kSymbolsAttr,
                        builder.getDictionaryAttr(kept));
  }

  Block *body = builder.createBlock(&function.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
    mapping.map(input, argument);
  for (CallTIROp call : group)
    builder.clone(*call, mapping);
  ReturnOp::create(builder, loc,
                   llvm::map_to_vector(outputs, [&](Value result) {
                     return mapping.lookup(result);
                   }));
  return function;
}

/// Returns an equal function of the module, or inserts this one.
FuncOp Outliner::share(FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, OpPrintingFlags().useLocalScope());
  FuncOp &shared = known[text];
  if (shared) {
    function.erase();
    return shared;
  }
  table.insert(function);
  return shared = function;
}

void Outliner::outline(ArrayRef<CallTIROp> group, Operation *place) {
  collectBoundary(group);
  FuncOp function = share(makeFunction(group));
  OpBuilder builder(place);
  SmallVector<Value> operands(inputs.begin(), inputs.end());
  for (StringAttr symbol : passed)
    operands.push_back(SymOp::create(
        builder, function.getLoc(), builder.getIndexType(),
        SymExprAttr::getSymbol(function.getContext(), symbol.getValue())));
  auto call =
      CallOp::create(builder, function.getLoc(), TypeRange(ValueRange(outputs)),
                     function.getName(), operands,
                     /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr,
                     /*pure=*/true);
  for (auto [output, result] : llvm::zip(outputs, call.getResults()))
    output.replaceAllUsesWith(result);
  for (CallTIROp member : llvm::reverse(group))
    member->erase();
}
