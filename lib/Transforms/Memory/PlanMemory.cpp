//===- PlanMemory.cpp - share memory between tensors ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. number all ops in program order; a storage lives from its allocation to
//      the end of the op of its block that uses it last. Branches of one `if`
//      have disjoint numbers, so what is in them may share; what a loop body
//      uses of outside lives to the end of the loop.
//   2. constant and bounded sizes: offsets in one arena (Arena.h)
//   3. other sizes: the first group of storages that fits, by proof; then
//   groups
//      that are never alive together, with the maximum of their sizes
//   4. allocate what was planned, before the loops that it does not depend on
//
// A group is allocated where its first member was, or before what holds that
// and not the others. The symbols of its size must be visible there.
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/SymDirectives.h"
#include "Transforms/Memory/Arena.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"
#include "mlir/IR/Dominance.h"

namespace mlir::relax {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct Storage {
  AllocStorageOp op;
  Lifetime lifetime;
  SymExprAttr bytes; // what it is planned with
};

/// Storages that share memory.
struct Group {
  SmallVector<Storage> members;
  SymExprAttr bytes;
  Operation *position; // the allocation goes before it
  int64_t alignment;

  bool overlaps(const Lifetime &lifetime) const {
    return llvm::any_of(members, [&](const Storage &member) {
      return member.lifetime.overlaps(lifetime);
    });
  }
  bool overlaps(const Group &other) const {
    return llvm::any_of(other.members, [&](const Storage &member) {
      return overlaps(member.lifetime);
    });
  }
};

/// Upper bounds of sizes, from the declared ranges of symbols.
class Bounds {
public:
  Bounds(const Prover &prover, SymBuilder &math) : prover(prover), math(math) {}

  /// An expression that is at least `expr`, in fewer symbols where it can be.
  SymExprAttr raise(SymExprAttr expr) {
    if (std::optional<int64_t> upper = prover.interval(expr).upper)
      return math.constant(*upper);
    SmallVector<SymExprAttr> operands(expr.getOperands());
    switch (expr.getKind()) {
    case SymKind::Sum:
      for (auto [operand, coefficient] :
           llvm::zip(operands, expr.getCoefficients()))
        if (coefficient > 0)
          operand = raise(operand);
      break;
    case SymKind::Product:
      if (!llvm::all_of(operands, [&](SymExprAttr factor) {
            std::optional<int64_t> lower = prover.interval(factor).lower;
            return lower && *lower >= 0;
          }))
        return expr;
      [[fallthrough]];
    case SymKind::Min:
    case SymKind::Max:
      for (SymExprAttr &operand : operands)
        operand = raise(operand);
      break;
    case SymKind::FloorDiv:
    case SymKind::CeilDiv:
      if (operands[1].getConstantValue().value_or(0) > 0)
        operands[0] = raise(operands[0]);
      break;
    default:
      return expr;
    }
    SymExprAttr raised = rebuildSymExpr(math, expr, operands);
    return raised ? raised : expr;
  }

private:
  const Prover &prover;
  SymBuilder &math;
};

class FunctionPlanner {
public:
  FunctionPlanner(FuncOp function, bool useBounds, uint64_t maxArenaBytes)
      : function(function), useBounds(useBounds), maxArenaBytes(maxArenaBytes),
        prover(function.getContext(), SymbolFacts::at(function)),
        math(function.getContext()), bounds(prover, math), dominance(function) {
  }

  void run() {
    collectSymbols();
    unsigned next = 0;
    number(function.getBody(), next);
    SmallVector<SymExprAttr> before, after;
    function.walk<WalkOrder::PreOrder>([&](AllocStorageOp op) {
      before.push_back(op.getBytes());
      collect(op);
    });
    SymExprAttr peak = getPeak();
    planArena();
    for (Storage &storage : pooled)
      addToGroup(storage);
    mergeGroups();
    for (Group &group : groups)
      hoistFromLoops(group);
    for (Group &group : groups)
      allocate(group);
    function.walk([&](AllocStorageOp op) { after.push_back(op.getBytes()); });
    report(before, after, peak);
  }

private:
  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  void collectSymbols() {
    function.walkParameterSymbols(
        [&](StringAttr name) { parameterSymbols.insert(name); });
    function.walk([&](MatchCastOp cast) {
      walkDefinedSymbols(cast.getType(),
                         [&](StringAttr name) { casts[name].push_back(cast); });
    });
  }

  bool isVisible(SymExprAttr expr, Operation *position) {
    bool visible = true;
    expr.walkSymbols([&](StringAttr name) {
      visible &= parameterSymbols.contains(name) ||
                 llvm::any_of(casts[name], [&](Operation *cast) {
                   return dominance.properlyDominates(cast, position);
                 });
    });
    return visible;
  }

  void number(Region &region, unsigned &next) {
    for (Operation &op : region.getOps()) {
      starts[&op] = next++;
      for (Region &nested : op.getRegions())
        number(nested, next);
      ends[&op] = next++;
    }
  }

  void collect(AllocStorageOp op) {
    bool outlives = llvm::any_of(op->getUses(), [](OpOperand &use) {
      return !isa<TensorFromStorageOp>(use.getOwner());
    });
    walkUses(op.getStorage(),
             [&](OpOperand &use) { outlives |= mayOutlive(use); });
    Operation *last = getLastUser(op.getStorage());
    Storage storage{op, {starts[op], ends[last ? last : op]}, op.getBytes()};
    all.push_back(storage);
    if (outlives)
      return;
    if (useBounds)
      storage.bytes = bounds.raise(storage.bytes);
    (storage.bytes.isConstant() ? fixed : pooled).push_back(storage);
  }

  //===--------------------------------------------------------------------===//
  // One arena for what has a constant size
  //===--------------------------------------------------------------------===//

  void planArena() {
    int64_t alignment = 1;
    auto pack = [&](SmallVector<ArenaBuffer> &buffers) {
      buffers.clear();
      for (Storage &storage : fixed) {
        alignment = std::max<int64_t>(alignment, storage.op.getAlignment());
        buffers.push_back(
            {storage.lifetime,
             static_cast<uint64_t>(*storage.bytes.getConstantValue())});
      }
      return packArena(buffers, alignment);
    };
    SmallVector<ArenaBuffer> buffers;
    uint64_t bytes = pack(buffers);
    if (bytes > maxArenaBytes) {
      // Bounds that are too generous: only what has a constant size as it is.
      llvm::erase_if(fixed, [&](Storage &storage) {
        if (storage.op.getBytes().isConstant())
          return false;
        storage.bytes = storage.op.getBytes();
        pooled.push_back(storage);
        return true;
      });
      llvm::sort(pooled, [](const Storage &lhs, const Storage &rhs) {
        return lhs.lifetime.start < rhs.lifetime.start;
      });
      bytes = pack(buffers);
    }
    if (fixed.empty() || bytes > INT64_MAX)
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Value arena = AllocStorageOp::create(
        builder, function.getLoc(), StorageType::get(function.getContext()),
        math.constant(bytes), alignment);
    for (auto [storage, buffer] : llvm::zip(fixed, buffers))
      moveTo(arena, storage.op, math.constant(buffer.offset));
  }

  void moveTo(Value target, AllocStorageOp from, SymExprAttr offset) {
    for (Operation *user :
         llvm::make_early_inc_range(from.getStorage().getUsers())) {
      auto place = cast<TensorFromStorageOp>(user);
      place.getStorageMutable().assign(target);
      place.setOffsetAttr(math.add(place.getOffset(), offset));
    }
    from.erase();
  }

  //===--------------------------------------------------------------------===//
  // Groups for what has a symbolic size
  //===--------------------------------------------------------------------===//

  /// The op of the block around both before which something is before both.
  static Operation *getCommonPosition(Operation *first, Operation *second) {
    for (Operation *op = first; op; op = op->getParentOp())
      if (op->getBlock()->findAncestorOpInBlock(*second))
        return op;
    return first;
  }

  static int64_t joinAlignment(const Group &group, Storage &storage) {
    return std::max<int64_t>(group.alignment, storage.op.getAlignment());
  }

  void addToGroup(Storage &storage) {
    enum Fit { None, Grow, Large, Same } bestFit = None;
    Group *best = nullptr;
    for (Group &group : groups) {
      if (group.overlaps(storage.lifetime))
        continue;
      Operation *position = getCommonPosition(group.position, storage.op);
      Fit fit = prover.provedEqual(group.bytes, storage.bytes) ? Same
                : isAtMost(storage.bytes, group.bytes)         ? Large
                : isAtMost(group.bytes, storage.bytes)         ? Grow
                                                               : None;
      SymExprAttr bytes = fit == Grow ? storage.bytes : group.bytes;
      if (fit <= bestFit && !(best && fit == bestFit && fit != Same &&
                              isCloser(fit, bytes, *best)))
        continue;
      if (!isVisible(bytes, position))
        continue;
      best = &group;
      bestFit = fit;
    }
    if (!best) {
      groups.push_back({{storage},
                        storage.bytes,
                        storage.op,
                        static_cast<int64_t>(storage.op.getAlignment())});
      return;
    }
    best->position = getCommonPosition(best->position, storage.op);
    if (bestFit == Grow)
      best->bytes = storage.bytes;
    best->alignment = joinAlignment(*best, storage);
    best->members.push_back(storage);
  }

  /// Of two that are too large the smaller is better, of two that are too small
  /// the larger.
  bool isCloser(int fit, SymExprAttr bytes, const Group &best) {
    constexpr int kLarge = 2;
    return fit == kLarge && isAtMost(bytes, best.bytes) &&
           !prover.provedEqual(bytes, best.bytes);
  }

  bool isAtMost(SymExprAttr lhs, SymExprAttr rhs) {
    return prover.lessEqual(lhs, rhs) == Truth::Yes;
  }

  /// The maximum of two sizes is never more than both, as long as neither is
  /// moved to where it may not be needed.
  void mergeGroups() {
    constexpr size_t kMaxGroups = 256;
    if (groups.size() > kMaxGroups)
      return;
    for (size_t first = 0; first < groups.size(); ++first)
      for (size_t second = first + 1; second < groups.size();) {
        if (!merge(groups[first], groups[second]))
          ++second;
        else
          groups.erase(groups.begin() + second);
      }
  }

  bool merge(Group &into, Group &from) {
    if (into.position->getBlock() != from.position->getBlock() ||
        into.overlaps(from))
      return false;
    SymExprAttr bytes = math.max({into.bytes, from.bytes});
    Operation *position = into.position->isBeforeInBlock(from.position)
                              ? into.position
                              : from.position;
    if (!bytes || !isVisible(bytes, position))
      return false;
    llvm::append_range(into.members, from.members);
    into.bytes = bytes;
    into.position = position;
    into.alignment = std::max(into.alignment, from.alignment);
    return true;
  }

  void hoistFromLoops(Group &group) {
    Operation *position = group.position;
    while (Operation *parent = position->getParentOp()) {
      if (parent == function || !isVisible(group.bytes, parent))
        break;
      position = parent;
      if (isa<WhileOp>(parent))
        group.position = parent;
    }
  }

  void allocate(Group &group) {
    if (group.members.size() == 1 &&
        group.position == group.members.front().op &&
        group.bytes == group.members.front().op.getBytes())
      return;
    OpBuilder builder(group.position);
    Value shared = AllocStorageOp::create(
        builder, group.members.front().op.getLoc(),
        StorageType::get(function.getContext()), group.bytes, group.alignment);
    for (Storage &member : group.members)
      moveTo(shared, member.op, math.constant(0));
  }

  //===--------------------------------------------------------------------===//
  // Report
  //===--------------------------------------------------------------------===//

  /// The most bytes that are alive at once; null where that is too long to say.
  SymExprAttr getPeak() {
    constexpr size_t kMaxSums = 64, kMaxOperands = 8;
    SetVector<SymExprAttr> sums;
    for (Storage &storage : all) {
      SmallVector<SymExprAttr> alive;
      for (Storage &other : all)
        if (other.lifetime.overlaps(
                {storage.lifetime.start, storage.lifetime.start}))
          alive.push_back(other.op.getBytes());
      SymExprAttr sum = math.sum(alive);
      if (!sum || (sums.insert(sum) && sums.size() > kMaxSums))
        return {};
    }
    SmallVector<SymExprAttr> largest;
    for (SymExprAttr sum : sums) {
      if (llvm::any_of(largest,
                       [&](SymExprAttr other) { return isAtMost(sum, other); }))
        continue;
      llvm::erase_if(largest,
                     [&](SymExprAttr other) { return isAtMost(other, sum); });
      largest.push_back(sum);
    }
    if (largest.empty())
      return math.constant(0);
    return largest.size() > kMaxOperands ? SymExprAttr() : math.max(largest);
  }

  void report(ArrayRef<SymExprAttr> before, ArrayRef<SymExprAttr> after,
              SymExprAttr peak) {
    Builder builder(function.getContext());
    NamedAttrList plan;
    auto add = [&](StringRef name, Attribute value) {
      if (value)
        plan.append(name, value);
    };
    add("unplanned_bytes", math.sum(before));
    add("planned_bytes", math.sum(after));
    add("peak_bytes", peak);
    add("unplanned_storages", builder.getI64IntegerAttr(before.size()));
    add("planned_storages", builder.getI64IntegerAttr(after.size()));
    function->setAttr(notes::kMemoryPlan,
                      plan.getDictionary(function.getContext()));
  }

  FuncOp function;
  bool useBounds;
  uint64_t maxArenaBytes;
  Prover prover;
  SymBuilder math;
  Bounds bounds;
  DominanceInfo dominance;
  DenseSet<StringAttr> parameterSymbols;
  DenseMap<StringAttr, SmallVector<Operation *, 1>> casts;
  DenseMap<Operation *, unsigned> starts, ends;
  SmallVector<Storage> all, fixed, pooled;
  SmallVector<Group> groups;
};

struct PlanMemory : relax::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (function.isExternal() || function->hasAttr(notes::kMemoryPlan))
        continue;
      if (failed(verifyNoDataflow(function, getArgument())))
        return signalPassFailure();
      bool hadKills = false;
      function.walk([&](KillOp kill) {
        hadKills = true;
        kill.erase();
      });
      FunctionPlanner(function, useBounds, maxArenaBytes).run();
      if (hadKills)
        insertKills(function);
    }
  }
};

} // namespace
