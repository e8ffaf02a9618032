//===- CSE.cpp - common subexpression elimination -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's CSE is correct for this dialect, since a value only dominates
// places where the symbols of its type mean the same. It misses two cases:
//
//   - a match_cast writes the symbols, so upstream never merges two;
//   - ops that differ only in the precision of their result types.
//
//===----------------------------------------------------------------------===//

#include "Relax/Forwarding.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CSEPASS
#include "Transforms/Simplify/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Compares computations regardless of their result types.
struct SameComputation : DenseMapInfo<Operation *> {
  static SmallVector<Value, 4> getOperands(Operation *op) {
    SmallVector<Value, 4> operands(op->getOperands());
    if (op->hasTrait<OpTrait::IsCommutative>())
      llvm::sort(operands, [](Value a, Value b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      });
    return operands;
  }
  static unsigned getHashValue(const Operation *opC) {
    auto *op = const_cast<Operation *>(opC);
    SmallVector<Value, 4> operands = getOperands(op);
    return llvm::hash_combine(
        op->getName(), op->getDiscardableAttrDictionary(), op->hashProperties(),
        llvm::hash_combine_range(operands.begin(), operands.end()));
  }
  static bool isEqual(const Operation *lhsC, const Operation *rhsC) {
    if (lhsC == rhsC)
      return true;
    auto *lhs = const_cast<Operation *>(lhsC);
    auto *rhs = const_cast<Operation *>(rhsC);
    if (lhs == getTombstoneKey() || lhs == getEmptyKey() ||
        rhs == getTombstoneKey() || rhs == getEmptyKey())
      return false;
    return lhs->getName() == rhs->getName() &&
           lhs->getNumResults() == rhs->getNumResults() &&
           lhs->getDiscardableAttrDictionary() ==
               rhs->getDiscardableAttrDictionary() &&
           lhs->getName().compareOpProperties(lhs->getPropertiesStorage(),
                                              rhs->getPropertiesStorage()) &&
           getOperands(lhs) == getOperands(rhs);
  }
};

class FunctionCSE {
public:
  explicit FunctionCSE(FuncOp function)
      : prover(function.getContext(), SymbolFacts::at(function)) {}

  bool run(Block &block) {
    Table::ScopeTy scope(known);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          run(nested);
      visit(op);
    }
    return changed;
  }

private:
  using Table =
      llvm::ScopedHashTable<Operation *, Operation *, SameComputation>;

  void visit(Operation &op) {
    if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() ||
        !(isa<MatchCastOp>(op) || isMemoryEffectFree(&op)))
      return;
    Operation *first = known.lookup(&op);
    if (!first)
      return known.insert(&op, &op);
    // Do not merge two tensors with their own memory, as either may be
    // overwritten.
    if (!canReplace(op, *first) ||
        !llvm::all_of(first->getResults(),
                      [&](Value result) { return canForward(result, &op); }))
      return;
    op.replaceAllUsesWith(first);
    op.erase();
    changed = true;
  }

  /// Whether the result types of `first` are at least as fine.
  bool canReplace(Operation &op, Operation &first) {
    for (auto [from, to] : llvm::zip(op.getResults(), first.getResults())) {
      if (from.getType() == to.getType())
        continue;
      if (implies(to.getType(), from.getType(), prover) != Truth::Yes ||
          isTypePinned(from))
        return false;
    }
    return true;
  }

  Prover prover;
  Table known;
  bool changed = false;
};

struct CSE : relax::impl::CSEPassBase<CSE> {
  void runOnOperation() override {
    bool changed = false;
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function.isExternal())
        changed |= FunctionCSE(function).run(function.getBody().front());
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
