//===- StorageGroups.cpp - sharing of symbolic sizes ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/StorageGroups.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

void relax::moveStorage(AllocStorageOp from, Value target, SymExprAttr offset) {
  SymBuilder math(target.getContext());
  for (Operation *user :
       llvm::make_early_inc_range(from.getStorage().getUsers())) {
    auto place = cast<TensorFromStorageOp>(user);
    place.getStorageMutable().assign(target);
    place.setOffsetAttr(math.add(place.getOffset(), offset));
  }
  from.erase();
}

bool StorageGroups::Group::overlaps(const Lifetime &lifetime) const {
  return llvm::any_of(members, [&](const Storage &member) {
    return member.lifetime.overlaps(lifetime);
  });
}

bool StorageGroups::Group::overlaps(const Group &other) const {
  return llvm::any_of(other.members, [&](const Storage &member) {
    return overlaps(member.lifetime);
  });
}

StorageGroups::StorageGroups(FuncOp function, const Prover &prover)
    : function(function), prover(prover), math(function.getContext()),
      dominance(function) {
  function.walkParameterSymbols(
      [&](StringAttr name) { parameterSymbols.insert(name); });
  function.walk([&](MatchCastOp cast) {
    walkDefinedSymbols(cast.getType(),
                       [&](StringAttr name) { casts[name].push_back(cast); });
  });
}

bool StorageGroups::isVisible(SymExprAttr expr, Operation *position) const {
  bool visible = true;
  expr.walkSymbols([&](StringAttr name) {
    if (parameterSymbols.contains(name))
      return;
    auto found = casts.find(name);
    visible &= found != casts.end() &&
               llvm::any_of(found->second, [&](Operation *cast) {
                 return dominance.properlyDominates(cast, position);
               });
  });
  return visible;
}

/// A position before both ops; `first` comes first.
static Operation *getCommonPosition(Operation *first, Operation *second) {
  for (Operation *op = first; op; op = op->getParentOp())
    if (op->getBlock()->findAncestorOpInBlock(*second))
      return op;
  return first;
}

StorageGroups::Fit StorageGroups::getFit(const Group &group,
                                         const Storage &storage) const {
  if (prover.provedEqual(group.bytes, storage.bytes))
    return Fit::Same;
  if (isAtMost(storage.bytes, group.bytes))
    return Fit::Large;
  return isAtMost(group.bytes, storage.bytes) ? Fit::Grow : Fit::None;
}

void StorageGroups::addArena(AllocStorageOp arena, ArrayRef<Storage> storages,
                             bool isShared) {
  auto alignment = static_cast<int64_t>(arena.getAlignment());
  Group &group =
      groups.emplace_back(Group{{}, arena.getBytes(), arena, alignment});
  for (const Storage &storage : storages)
    group.members.push_back({arena, storage.lifetime, arena.getBytes()});
  arenas = 1;
  isArenaShared = isShared;
}

Operation *StorageGroups::Group::getPositionWith(const Storage &storage) const {
  bool isFirst = llvm::all_of(members, [&](const Storage &member) {
    return storage.lifetime.start < member.lifetime.start;
  });
  return isFirst ? getCommonPosition(storage.op, position)
                 : getCommonPosition(position, storage.op);
}

/// Estimates a size by giving all symbols the same value, such that products of
/// two are in the thousands.
static int64_t estimateBytes(SymExprAttr bytes) {
  constexpr int64_t kTypical = 64;
  SymAssignment sizes;
  bytes.walkSymbols([&](StringAttr name) { sizes[name] = kTypical; });
  return evaluate(bytes, sizes).value_or(INT32_MAX);
}

Lifetime StorageGroups::Group::getSpan() const {
  Lifetime span = members.front().lifetime;
  for (const Storage &member : members) {
    span.start = std::min(span.start, member.lifetime.start);
    span.end = std::max(span.end, member.lifetime.end);
  }
  return span;
}

std::pair<uint64_t, uint64_t>
StorageGroups::estimate(ArrayRef<Storage> kept) const {
  // The lifetime and size of each group.
  SmallVector<std::pair<Lifetime, uint64_t>> spans;
  uint64_t total = 0, peak = 0;
  for (const Group &group : groups) {
    spans.emplace_back(group.getSpan(), estimateBytes(group.bytes));
    total = llvm::SaturatingAdd(total, spans.back().second);
  }
  for (const Storage &storage : kept)
    spans.emplace_back(Lifetime{storage.lifetime.start, UINT_MAX},
                       estimateBytes(storage.bytes));
  for (auto &[latest, _] : spans) {
    uint64_t sum = 0;
    for (auto &[span, bytes] : spans)
      if (span.overlaps({latest.start, latest.start}))
        sum = llvm::SaturatingAdd(sum, bytes);
    peak = std::max(peak, sum);
  }
  return {peak, total};
}

void StorageGroups::add(MutableArrayRef<Storage> storages, Order order) {
  SmallVector<std::pair<int64_t, Storage *>> sorted;
  for (Storage &storage : storages) {
    const Lifetime &lifetime = storage.lifetime;
    int64_t key = 0;
    if (order == Order::Largest)
      key = -estimateBytes(storage.bytes);
    else if (order == Order::Longest)
      key = static_cast<int64_t>(lifetime.start) - lifetime.end;
    sorted.emplace_back(key, &storage);
  }
  llvm::stable_sort(sorted, llvm::less_first());
  for (auto [_, storage] : sorted)
    add(*storage);
}

void StorageGroups::add(Storage &storage) {
  Fit bestFit = Fit::None;
  Group *best = nullptr;
  auto open = MutableArrayRef(groups).drop_front(isArenaShared ? 0 : arenas);
  for (Group &group : open) {
    if (group.overlaps(storage.lifetime))
      continue;
    Fit fit = getFit(group, storage);
    // Among groups that are too large, prefer the smallest.
    bool better = fit > bestFit || (fit == Fit::Large && bestFit == fit &&
                                    isAtMost(group.bytes, best->bytes) &&
                                    !isAtMost(best->bytes, group.bytes));
    if (!better || !isVisible(fit == Fit::Grow ? storage.bytes : group.bytes,
                              group.getPositionWith(storage)))
      continue;
    best = &group;
    bestFit = fit;
  }
  auto alignment = static_cast<int64_t>(storage.op.getAlignment());
  if (!best) {
    groups.push_back({{storage}, storage.bytes, storage.op, alignment});
    return;
  }
  best->position = best->getPositionWith(storage);
  if (bestFit == Fit::Grow)
    best->bytes = storage.bytes;
  best->alignment = std::max(best->alignment, alignment);
  best->members.push_back(storage);
}

void StorageGroups::merge() {
  constexpr size_t kMaxGroups = 256;
  if (groups.size() > kMaxGroups)
    return;
  if (arenas && isArenaShared)
    mergeArena();
  for (size_t first = isArenaShared ? 0 : arenas; first < groups.size();
       ++first)
    for (size_t second = first + 1; second < groups.size();) {
      if (merge(groups[first], groups[second]))
        groups.erase(groups.begin() + second);
      else
        ++second;
    }
}

/// Merges the arena with the group where it saves most.
void StorageGroups::mergeArena() {
  Group *best = nullptr;
  for (Group &group : MutableArrayRef(groups).drop_front())
    if (canMerge(groups.front(), group) &&
        (!best || estimateBytes(group.bytes) > estimateBytes(best->bytes)))
      best = &group;
  if (best && merge(groups.front(), *best))
    groups.erase(best);
}

bool StorageGroups::canMerge(const Group &into, const Group &from) const {
  return into.position->getBlock() == from.position->getBlock() &&
         !into.overlaps(from);
}

/// The maximum of two sizes never exceeds their sum, so merging never costs
/// memory as long as neither allocation moves to a place where it may not be
/// needed.
bool StorageGroups::merge(Group &into, Group &from) {
  if (!canMerge(into, from))
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

void StorageGroups::hoistFromLoops(Group &group) const {
  for (Operation *parent = group.position->getParentOp();
       parent != function && isVisible(group.bytes, parent);
       parent = parent->getParentOp())
    if (isa<WhileOp>(parent))
      group.position = parent;
}

void StorageGroups::allocate(Group &group) {
  AllocStorageOp first = group.members.front().op;
  SetVector<Operation *> ops; // the op of an arena has many storages
  for (Storage &member : group.members)
    ops.insert(member.op);
  if (ops.size() == 1 && group.position == first &&
      group.bytes == first.getBytes())
    return;
  OpBuilder builder(group.position);
  auto shared = AllocStorageOp::create(builder, first.getLoc(),
                                       first.getStorage().getType(),
                                       group.bytes, group.alignment);
  shared->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  for (Operation *op : ops)
    moveStorage(cast<AllocStorageOp>(op), shared, math.constant(0));
}

void StorageGroups::allocate() {
  for (Group &group : groups)
    hoistFromLoops(group);
  for (Group &group : groups)
    allocate(group);
}
