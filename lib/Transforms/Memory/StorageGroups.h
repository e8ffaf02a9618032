//===- StorageGroups.h - sharing of symbolic sizes --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storages whose sizes are expressions share memory as wholes: where one proved
// to be large enough is free, else with the maximum of the sizes. A group is
// allocated where its first member was, or before what holds that and not the
// others, or before a loop; the symbols of its size must be visible there.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_STORAGEGROUPS_H
#define RELAX_TRANSFORMS_MEMORY_STORAGEGROUPS_H

#include "Transforms/Memory/Arena.h"
#include "Transforms/Memory/Lifetimes.h"
#include "mlir/IR/Dominance.h"

namespace mlir::relax {

struct Storage {
  AllocStorageOp op;
  Lifetime lifetime;
  SymExprAttr bytes; // what it is planned with
};

/// Puts what is in `from` into `target`, and removes `from`.
void moveStorage(AllocStorageOp from, Value target, SymExprAttr offset);

class StorageGroups {
public:
  StorageGroups(FuncOp function, const Prover &prover);

  /// The first group: storages that have offsets in one already, which is
  /// allocated when the function is entered. Others are in it where it is
  /// shared.
  void addArena(AllocStorageOp arena, ArrayRef<Storage> storages,
                bool isShared);
  /// In which order storages look for a place. The largest first: so a large
  /// one is free where it is needed. Those that live longest first: so they do
  /// not end up where nothing else fits.
  enum class Order { Program, Largest, Longest };

  /// Adds storages, each to the group that fits best.
  void add(MutableArrayRef<Storage> storages, Order order);
  /// Merges groups that are never alive together.
  void merge();
  /// The most that groups take at once, together with storages that live to the
  /// end of the function, and what all groups take; by sizes that are typical.
  std::pair<uint64_t, uint64_t> estimate(ArrayRef<Storage> kept) const;
  /// Allocates each group, and moves its members there.
  void allocate();

private:
  struct Group {
    SmallVector<Storage> members;
    SymExprAttr bytes;
    Operation *position; // the allocation goes before it
    int64_t alignment;

    bool overlaps(const Lifetime &lifetime) const;
    bool overlaps(const Group &other) const;
    /// From its first member to its last.
    Lifetime getSpan() const;
    /// Where it would be allocated with another member.
    Operation *getPositionWith(const Storage &storage) const;
  };
  /// How a group serves a storage, from bad to good.
  enum class Fit { None, Grow, Large, Same };

  Fit getFit(const Group &group, const Storage &storage) const;
  bool isAtMost(SymExprAttr lhs, SymExprAttr rhs) const {
    return prover.lessEqual(lhs, rhs) == Truth::Yes;
  }
  bool isVisible(SymExprAttr expr, Operation *position) const;
  bool canMerge(const Group &into, const Group &from) const;
  bool merge(Group &into, Group &from);
  void mergeArena();
  void add(Storage &storage);
  void hoistFromLoops(Group &group) const;
  void allocate(Group &group);

  FuncOp function;
  const Prover &prover;
  SymBuilder math;
  DominanceInfo dominance;
  DenseSet<StringAttr> parameterSymbols;
  DenseMap<StringAttr, SmallVector<Operation *, 1>> casts;
  SmallVector<Group> groups;
  /// How many groups at the front are an arena, and whether others share it.
  size_t arenas = 0;
  bool isArenaShared = false;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_STORAGEGROUPS_H
