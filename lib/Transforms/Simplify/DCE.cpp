//===- DCE.cpp - dead code elimination ------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three steps in each function that is reached:
//
//   scan    one walk in program order finds, for each value and each op, the
//           match_casts that define the symbols it names
//   mark    from side effects and returns, along operands, symbols and parents
//   sweep   in reverse order, so that users go before what they use
//
// Upstream's DCE does not suffice: it sees only values, so it must keep every
// match_cast for the symbol that it may define.
//
//===----------------------------------------------------------------------===//

#include "Relax/SymbolScope.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_DCEPASS
#include "Transforms/Simplify/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

class FunctionDCE {
public:
  explicit FunctionDCE(FuncOp function) : function(function) {}

  /// Returns whether anything was removed.
  bool run() {
    function.walkParameterSymbols(
        [&](StringAttr name) { visible.define(name); });
    Block &body = function.getBody().front();
    scan(body);
    markRoots(body);
    while (!worklist.empty())
      visit(worklist.pop_back_val());
    sweep(body);
    if (changed)
      dropUnusedRanges(function);
    return changed;
  }

private:
  using Definers = SmallVector<Operation *, 2>;

  void scan(Block &block);
  void collect(ArrayRef<StringAttr> names, Operation *user, Definers &definers);
  template <typename Element>
  ArrayRef<StringAttr> symbolsOf(Element element);

  void markRoots(Block &block);
  void mark(Operation *op) {
    if (op && op != function && live.insert(op).second)
      worklist.push_back(op);
  }
  void mark(Value value);
  void visit(Operation *op);

  void sweep(Block &block);
  template <typename Op>
  Operation *dropDeadResults(Op op);

  FuncOp function;
  VisibleSymbols visible;
  /// The match_cast that defines each visible symbol, unless a parameter does.
  DenseMap<StringAttr, Operation *> definer;
  DenseMap<Value, Definers> valueNeeds;
  DenseMap<Operation *, Definers> opNeeds;
  DenseMap<const void *, SmallVector<StringAttr, 2>> symbols;

  DenseSet<Operation *> live;
  DenseSet<Value> liveValues;
  SmallVector<Operation *> worklist;
  bool changed = false;
};

/// Ops whose results are removed individually.
bool hasSeparateResults(Operation *op) { return isa<DataflowOp, IfOp>(op); }

/// Ops that are removed unless something needs them.
bool isRemovable(Operation *op) {
  return isa<MatchCastOp, DataflowOp, IfOp, WhileOp, OutputOp, YieldOp,
             ConditionOp>(op) ||
         wouldOpBeTriviallyDead(op);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// The symbols of a type or attribute; there are few distinct ones.
template <typename Element>
ArrayRef<StringAttr> FunctionDCE::symbolsOf(Element element) {
  auto [it, inserted] = symbols.try_emplace(element.getAsOpaquePointer());
  if (inserted)
    walkSymbols(element, [&](StringAttr name) { it->second.push_back(name); });
  return it->second;
}

void FunctionDCE::collect(ArrayRef<StringAttr> names, Operation *user,
                          Definers &definers) {
  for (StringAttr name : names)
    if (visible.contains(name))
      if (Operation *op = definer.lookup(name); op && op != user)
        definers.push_back(op);
}

void FunctionDCE::scan(Block &block) {
  for (Operation &op : block) {
    for (Region &region : op.getRegions()) {
      size_t outer = visible.enter();
      for (Block &nested : region)
        scan(nested);
      if (!isa<DataflowOp>(op))
        visible.leave(outer);
    }
    if (auto cast = dyn_cast<MatchCastOp>(op))
      walkDefinedSymbols(cast.getType(), [&](StringAttr name) {
        if (visible.define(name))
          definer[name] = cast;
      });
    for (Value result : op.getResults())
      if (ArrayRef<StringAttr> names = symbolsOf(result.getType());
          !names.empty())
        collect(names, &op, valueNeeds[result]);
    if (op.getPropertiesStorageSize() || !op.getRawDictionaryAttrs().empty())
      if (ArrayRef<StringAttr> names =
              symbolsOf(Attribute(op.getAttrDictionary()));
          !names.empty())
        collect(names, &op, opNeeds[&op]);
  }
}

//===----------------------------------------------------------------------===//
// Mark
//===----------------------------------------------------------------------===//

void FunctionDCE::markRoots(Block &block) {
  for (Operation &op : block) {
    if (!isRemovable(&op))
      mark(&op);
    if (isa<DataflowOp, IfOp, WhileOp>(op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          markRoots(nested);
  }
}

void FunctionDCE::mark(Value value) {
  if (!liveValues.insert(value).second)
    return;
  for (Operation *op : valueNeeds.lookup(value))
    mark(op);
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return mark(value.getParentBlock()->getParentOp());
  Operation *op = result.getOwner();
  mark(op);
  if (hasSeparateResults(op))
    for (Region &region : op->getRegions())
      mark(
          region.front().getTerminator()->getOperand(result.getResultNumber()));
}

void FunctionDCE::visit(Operation *op) {
  mark(op->getParentOp());
  for (Operation *needed : opNeeds.lookup(op))
    mark(needed);
  // Operands of such terminators are marked individually with the results.
  if (!isa<OutputOp, YieldOp>(op) || !hasSeparateResults(op->getParentOp()))
    for (Value operand : op->getOperands())
      mark(operand);
  if (!hasSeparateResults(op))
    for (Value result : op->getResults())
      mark(result);
  bool isUnit = !isa<DataflowOp, IfOp, WhileOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        if (isUnit || nested.hasTrait<OpTrait::IsTerminator>())
          mark(&nested);
}

//===----------------------------------------------------------------------===//
// Sweep
//===----------------------------------------------------------------------===//

void FunctionDCE::sweep(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!live.contains(&op)) {
      op.erase();
      changed = true;
      continue;
    }
    Operation *slim = &op;
    if (auto dataflow = dyn_cast<DataflowOp>(op))
      slim = dropDeadResults(dataflow);
    else if (auto branch = dyn_cast<IfOp>(op))
      slim = dropDeadResults(branch);
    for (Region &region : slim->getRegions())
      for (Block &nested : region)
        sweep(nested);
  }
}

/// Replaces `op` by one without its dead results.
template <typename Op>
Operation *FunctionDCE::dropDeadResults(Op op) {
  llvm::BitVector dead(op->getNumResults());
  SmallVector<Type> types;
  SmallVector<Value> kept;
  for (Value result : op->getResults()) {
    if (!liveValues.contains(result)) {
      dead.set(cast<OpResult>(result).getResultNumber());
      continue;
    }
    types.push_back(result.getType());
    kept.push_back(result);
  }
  if (dead.none())
    return op;
  changed = true;
  for (Region &region : op->getRegions())
    region.front().getTerminator()->eraseOperands(dead);
  OpBuilder builder(op);
  OperationState state(op.getLoc(), Op::getOperationName(), op->getOperands(),
                       types, op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *slim = builder.create(state);
  for (auto [to, from] : llvm::zip(slim->getRegions(), op->getRegions()))
    to.takeBody(from);
  for (auto [value, replacement] : llvm::zip(kept, slim->getResults()))
    value.replaceAllUsesWith(replacement);
  op->erase();
  return slim;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct DCE : relax::impl::DCEPassBase<DCE> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable table(module);
    llvm::SetVector<Operation *> reached; // grows during iteration
    for (Operation &op : *module.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (!symbol || !isa<FunctionOpInterface>(op) || !symbol.isPrivate())
        reached.insert(&op);
    }
    auto reach = [&](SymbolRefAttr reference) {
      if (Operation *op = table.lookup(reference.getRootReference()))
        reached.insert(op);
    };
    bool changed = false;
    for (size_t i = 0; i < reached.size(); ++i) {
      if (auto function = dyn_cast<FuncOp>(reached[i]))
        if (!function.isExternal())
          changed |= FunctionDCE(function).run();
      reached[i]->walk([&](Operation *op) {
        for (NamedAttribute attribute : op->getAttrs())
          attribute.getValue().walk(reach);
      });
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (!reached.contains(&op)) {
        op.erase();
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
