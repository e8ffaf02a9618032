//===- FuseOps.cpp - group kernel calls that become one kernel ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups.h finds the groups; here each is outlined. The function keeps the
// caller's names of symbols, so that types and expressions are copied as they
// are; those that no parameter defines come as integers.
//
//===----------------------------------------------------------------------===//

#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/SymbolScope.h"
#include "Transforms/Fusion/Groups.h"
#include "Transforms/Fusion/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FUSEOPSPASS
#include "Transforms/Fusion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Makes functions of groups, one for all that are equal.
class Outliner {
public:
  explicit Outliner(SymbolTable &table) : table(table) {}

  void outline(ArrayRef<CallTIROp> group);

private:
  void collectInputs(ArrayRef<CallTIROp> group);
  FuncOp makeFunction(ArrayRef<CallTIROp> group);
  FuncOp share(FuncOp function);

  SymbolTable &table;
  llvm::StringMap<FuncOp> known;
  // Of the group at hand.
  llvm::SetVector<Value> inputs;
  llvm::SetVector<StringAttr> symbols; // all that are used
  llvm::SetVector<StringAttr> passed;  // those that come as integers
};

void Outliner::collectInputs(ArrayRef<CallTIROp> group) {
  inputs.clear();
  symbols.clear();
  passed.clear();
  DenseSet<Operation *> members(group.begin(), group.end());
  auto use = [&](StringAttr name) { symbols.insert(name); };
  for (CallTIROp call : group) {
    walkMentionedSymbols(call, use);
    for (Value operand : call.getOperands())
      if (!members.contains(operand.getDefiningOp()) && inputs.insert(operand))
        walkSymbols(operand.getType(), use);
  }
  passed = symbols;
  for (Value input : inputs)
    walkDefinedSymbols(input.getType(),
                       [&](StringAttr name) { passed.remove(name); });
}

/// `fused_` and what is fused, cut to a readable length.
std::string makeName(ArrayRef<CallTIROp> group) {
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
  auto function =
      FuncOp::create(builder, loc, makeName(group),
                     FunctionType::get(context, types, sink.getResultTypes()));
  function.setPrivate();
  function.setPure(true);
  function->setAttr(notes::kPrimitive, builder.getUnitAttr());
  for (auto [index, symbol] : llvm::enumerate(passed))
    function.setArgAttr(inputs.size() + index, RelaxDialect::kSymbolAttr,
                        symbol);
  // What the caller declares of the symbols holds here too.
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
                   llvm::map_to_vector(sink.getResults(), [&](Value result) {
                     return mapping.lookup(result);
                   }));
  return function;
}

/// An equal function that is in the module already, or this one, now in it.
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

void Outliner::outline(ArrayRef<CallTIROp> group) {
  collectInputs(group);
  FuncOp function = share(makeFunction(group));
  CallTIROp sink = group.back();
  OpBuilder builder(sink);
  SmallVector<Value> operands(inputs.begin(), inputs.end());
  for (StringAttr symbol : passed)
    operands.push_back(SymOp::create(
        builder, sink.getLoc(), builder.getIndexType(),
        SymExprAttr::getSymbol(sink.getContext(), symbol.getValue())));
  auto call = CallOp::create(builder, function.getLoc(), sink.getResultTypes(),
                             function.getName(), operands,
                             /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr,
                             /*pure=*/true);
  sink->replaceAllUsesWith(call);
  for (CallTIROp member : llvm::reverse(group))
    member->erase();
}

struct FuseOps : relax::impl::FuseOpsPassBase<FuseOps> {
  using FuseOpsPassBase::FuseOpsPassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    KernelFacts facts(table);
    Outliner outliner(table);
    SmallVector<FuncOp> functions;
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function->hasAttr(notes::kPrimitive))
        functions.push_back(function);
    for (FuncOp function : functions)
      function.walk([&](Block *block) {
        for (ArrayRef<CallTIROp> group :
             findGroups(*block, facts, maxGroupSize))
          outliner.outline(group);
      });
  }
};

} // namespace
