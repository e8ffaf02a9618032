//===- StorageGroups.cpp - sharing of symbolic sizes ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/StorageGroups.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"

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

/// The op before which something is before both, `first` being the earlier.
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

void StorageGroups::add(Storage &storage) {
  Fit bestFit = Fit::None;
  Group *best = nullptr;
  for (Group &group : groups) {
    if (group.overlaps(storage.lifetime))
      continue;
    Fit fit = getFit(group, storage);
    // Of those that are too large the smallest serves best.
    bool better = fit > bestFit || (fit == Fit::Large && bestFit == fit &&
                                    isAtMost(group.bytes, best->bytes) &&
                                    !isAtMost(best->bytes, group.bytes));
    if (!better || !isVisible(fit == Fit::Grow ? storage.bytes : group.bytes,
                              getCommonPosition(group.position, storage.op)))
      continue;
    best = &group;
    bestFit = fit;
  }
  auto alignment = static_cast<int64_t>(storage.op.getAlignment());
  if (!best) {
    groups.push_back({{storage}, storage.bytes, storage.op, alignment});
    return;
  }
  best->position = getCommonPosition(best->position, storage.op);
  if (bestFit == Fit::Grow)
    best->bytes = storage.bytes;
  best->alignment = std::max(best->alignment, alignment);
  best->members.push_back(storage);
}

void StorageGroups::merge() {
  constexpr size_t kMaxGroups = 256;
  if (groups.size() > kMaxGroups)
    return;
  for (size_t first = 0; first < groups.size(); ++first)
    for (size_t second = first + 1; second < groups.size();) {
      if (merge(groups[first], groups[second]))
        groups.erase(groups.begin() + second);
      else
        ++second;
    }
}

/// The maximum of two sizes is never more than both, as long as neither is
/// moved to where it may not be needed.
bool StorageGroups::merge(Group &into, Group &from) {
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

void StorageGroups::hoistFromLoops(Group &group) const {
  for (Operation *parent = group.position->getParentOp();
       parent != function && isVisible(group.bytes, parent);
       parent = parent->getParentOp())
    if (isa<WhileOp>(parent))
      group.position = parent;
}

void StorageGroups::allocate(Group &group) {
  AllocStorageOp first = group.members.front().op;
  if (group.members.size() == 1 && group.position == first &&
      group.bytes == first.getBytes())
    return;
  OpBuilder builder(group.position);
  auto shared = AllocStorageOp::create(builder, first.getLoc(),
                                       first.getStorage().getType(),
                                       group.bytes, group.alignment);
  shared->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  for (Storage &member : group.members)
    moveStorage(member.op, shared, math.constant(0));
}

void StorageGroups::allocate() {
  for (Group &group : groups)
    hoistFromLoops(group);
  for (Group &group : groups)
    allocate(group);
}
