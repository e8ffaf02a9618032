//===- PlanMemory.cpp - share memory between tensors ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. number all ops in program order; a storage lives from its allocation to
//      the end of the op of its block that uses it last. Branches of one `if`
//      have disjoint numbers, so their storages may share memory; storages
//      from outside that a loop body uses live to the end of the loop.
//   2. constant and bounded sizes: offsets in one arena (Arena.h)
//   3. other sizes: groups of storages that share memory (StorageGroups.h), of
//      which the arena is one; the best of a few greedy orders
//
// The host and the device are planned separately, by steps 2 and 3 for each.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement.h"
#include "Relax/Notes.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"
#include "Transforms/Memory/StorageGroups.h"

namespace mlir::relax {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Upper bounds of sizes, from the declared ranges of symbols. Bounds beyond
/// `limit` are ignored: they are too large to be allocated.
class Bounds {
public:
  Bounds(const Prover &prover, SymBuilder &math, int64_t limit)
      : prover(prover), math(math), limit(limit) {}

  /// Whether all constants in `expr` are within the limit.
  bool isReasonable(SymExprAttr expr) const {
    auto isSmall = [&](int64_t value) {
      return value <= limit && value >= -limit;
    };
    if (expr.isConstant())
      return isSmall(expr.getValue());
    if (expr.getKind() == SymKind::Sum &&
        !(isSmall(expr.getValue()) &&
          llvm::all_of(expr.getCoefficients(), isSmall)))
      return false;
    return llvm::all_of(expr.getOperands(), [&](SymExprAttr operand) {
      return isReasonable(operand);
    });
  }

  /// An upper bound of `expr`, in fewer symbols if possible.
  SymExprAttr raise(SymExprAttr expr) {
    if (std::optional<int64_t> upper = prover.interval(expr).upper;
        upper && *upper <= limit)
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
  int64_t limit;
};

class FunctionPlanner {
public:
  FunctionPlanner(FuncOp function, bool useBounds, int64_t maxArenaBytes)
      : function(function), useBounds(useBounds), maxArenaBytes(maxArenaBytes),
        prover(function.getContext(), SymbolFacts::at(function)),
        math(function.getContext()), bounds(prover, math, maxArenaBytes) {}

  void run() {
    unsigned next = 0;
    number(function.getBody(), next);
    SmallVector<SymExprAttr> before, after;
    function.walk<WalkOrder::PreOrder>([&](AllocStorageOp op) {
      before.push_back(op.getBytes());
      collect(op);
    });
    SymExprAttr peak = getPeak();
    for (Side &side : sides) {
      AllocStorageOp arena = planArena(side);
      std::unique_ptr<StorageGroups> best;
      auto attempt = [&](StorageGroups::Order order, bool isArenaShared) {
        auto groups = std::make_unique<StorageGroups>(function, prover);
        if (arena)
          groups->addArena(arena, side.fixed, isArenaShared);
        groups->add(side.pooled, order);
        groups->merge();
        if (!best || groups->estimate(side.kept) < best->estimate(side.kept))
          best = std::move(groups);
      };
      for (auto order :
           {StorageGroups::Order::Program, StorageGroups::Order::Largest,
            StorageGroups::Order::Longest})
        for (bool isArenaShared : {false, true})
          if (arena || !isArenaShared)
            attempt(order, isArenaShared);
      best->allocate();
    }
    function.walk([&](AllocStorageOp op) { after.push_back(op.getBytes()); });
    report(before, after, peak);
  }

private:
  /// Storages that may share memory.
  struct Side {
    SmallVector<Storage> fixed, pooled;
    /// Storages that outlive their last use.
    SmallVector<Storage> kept;
  };

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

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
    Side &side = sides[isStorageOnHost(op)];
    if (outlives) {
      side.kept.push_back(storage);
      return;
    }
    if (useBounds)
      raise(storage);
    (storage.bytes.isConstant() ? side.fixed : side.pooled).push_back(storage);
  }

  /// Replaces the size by its bound, unless that is too large.
  void raise(Storage &storage) {
    SymExprAttr raised = bounds.raise(storage.bytes);
    if (bounds.isReasonable(raised))
      storage.bytes = raised;
  }

  //===--------------------------------------------------------------------===//
  // The arena of storages of constant size
  //===--------------------------------------------------------------------===//

  /// Returns null if there is none.
  AllocStorageOp planArena(Side &side) {
    SmallVector<Storage> &fixed = side.fixed, &pooled = side.pooled;
    int64_t bytes = packFixed(fixed);
    if (bytes > maxArenaBytes) {
      // If the bounds are too large in total, keep only constant sizes.
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
      bytes = packFixed(fixed);
    }
    // Leave sizes beyond 64 bits alone.
    if (fixed.empty() || bytes == INT64_MAX)
      return {};
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    auto arena = AllocStorageOp::create(builder, function.getLoc(),
                                        StorageType::get(function.getContext()),
                                        math.constant(bytes), alignment);
    if (Attribute place = fixed.front().op->getAttr(notes::kDevice))
      arena->setAttr(notes::kDevice, place);
    for (auto [storage, buffer] : llvm::zip(fixed, buffers))
      moveStorage(storage.op, arena, math.constant(buffer.offset));
    return arena;
  }

  /// Finds offsets for `fixed`, in `buffers`; returns the size of the arena.
  int64_t packFixed(SmallVector<Storage> &fixed) {
    buffers.clear();
    alignment = 1;
    uint64_t total = 0;
    for (Storage &storage : fixed) {
      alignment = std::max<int64_t>(alignment, storage.op.getAlignment());
      uint64_t bytes = *storage.bytes.getConstantValue();
      buffers.push_back({storage.lifetime, bytes});
      total = llvm::SaturatingAdd(total, bytes, storage.op.getAlignment());
    }
    return total >= INT64_MAX / 2 ? INT64_MAX : packArena(buffers, alignment);
  }

  //===--------------------------------------------------------------------===//
  // Report
  //===--------------------------------------------------------------------===//

  /// The maximum of live bytes; null if the expression gets too long.
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
      auto isAtMost = [&](SymExprAttr lhs, SymExprAttr rhs) {
        return prover.lessEqual(lhs, rhs) == Truth::Yes;
      };
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
  int64_t maxArenaBytes;
  Prover prover;
  SymBuilder math;
  Bounds bounds;
  DenseMap<Operation *, unsigned> starts, ends;
  SmallVector<Storage> all;
  Side sides[2];                    // the device's and the host's
  SmallVector<ArenaBuffer> buffers; // fixed-size storages
  int64_t alignment = 1;
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
      FunctionPlanner(function, useBounds,
                      std::min<uint64_t>(maxArenaBytes, INT64_MAX))
          .run();
      if (hadKills)
        insertKills(function);
    }
  }
};

} // namespace
