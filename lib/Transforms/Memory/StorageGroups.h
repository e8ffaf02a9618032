//===- StorageGroups.h - sharing of symbolic sizes --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storages with symbolic sizes share memory as a whole: they reuse a free group
// that is proved to be large enough, or one that grows to the maximum of the
// sizes. A group is allocated at its first member, or before an op that
// contains it but not the others, or before a loop; the symbols of its size
// must be visible there.
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
  SymExprAttr bytes; // the planned size
};

/// Moves the tensors of `from` into `target` and removes `from`.
void moveStorage(AllocStorageOp from, Value target, SymExprAttr offset);

class StorageGroups {
public:
  StorageGroups(FuncOp function, const Prover &prover);

  /// Adds the first group: storages that already have offsets in an arena,
  /// which is allocated on entry of the function. Other storages are in the
  /// group if they share the arena.
  void addArena(AllocStorageOp arena, ArrayRef<Storage> storages,
                bool isShared);
  /// The order in which storages look for a group. Largest first: a large group
  /// is free when it is needed. Longest-lived first: they do not end up where
  /// nothing else fits.
  enum class Order { Program, Largest, Longest };

  /// Adds storages, each to the best-fitting group.
  void add(MutableArrayRef<Storage> storages, Order order);
  /// Merges groups that are never live at the same time.
  void merge();
  /// Estimates the peak of live groups, together with storages that live to the
  /// end of the function, and the total of all groups, by typical sizes.
  std::pair<uint64_t, uint64_t> estimate(ArrayRef<Storage> kept) const;
  /// Allocates each group and moves its members there.
  void allocate();

private:
  struct Group {
    SmallVector<Storage> members;
    SymExprAttr bytes;
    Operation *position; // the allocation is inserted before it
    int64_t alignment;

    bool overlaps(const Lifetime &lifetime) const;
    bool overlaps(const Group &other) const;
    /// From the first member to the last.
    Lifetime getSpan() const;
    /// The position of the allocation if another member joins.
    Operation *getPositionWith(const Storage &storage) const;
  };
  /// How well a group fits a storage, from worst to best.
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
  /// The number of leading groups that are an arena (0 or 1), and whether other
  /// storages share it.
  size_t arenas = 0;
  bool isArenaShared = false;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_STORAGEGROUPS_H
