//===- LaterUse.cpp - uses of overwritten tensors -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A write into `%v` is traced back to all values from which `%v` may get its
// memory, and from there forward to all that may share it, but not through the
// write itself: its result is the new version. None of these values may be used
// after the write.
//
//     %x ──reshape──> %v ──write──> %new        %new may be used,
//      └───if yield──> %r                       %x, %v and %r may not
//
// If a loop carries `%v`, the write happens in each iteration:
//
//   - the loop overwrites the initial value, which nothing in it may use;
//   - the yielded value is overwritten in the next iteration, so it must not
//     come from outside, nor be yielded twice.
//
// The condition runs before each iteration and once more at the end. If it
// writes, it overwrites the values that the body and the loop results see.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Memory.h"
#include "Transforms/Memory/Writes.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

class LaterUse {
public:
  explicit LaterUse(const Aliases &aliases) : aliases(aliases) {}

  /// Returns an op that uses the memory again after `written` overwrites it, or
  /// null.
  Operation *find(OpOperand &written);

private:
  /// A value and, for a tuple, one of its members; kAll for the whole value.
  using Place = std::pair<Value, int64_t>;
  static constexpr int64_t kAll = -1;
  /// A loop and the index of one of its carried values.
  using Carried = std::pair<WhileOp, unsigned>;

  /// Calls `fn` on `value`, which `user` uses, and on all values from which it
  /// may get its memory. Stops at values carried by a loop around `user`.
  void walkSources(Value value, Operation *user,
                   function_ref<void(Place)> fn) const;
  /// Calls `fn` on each place that may get its memory from `use` of `place`.
  void walkTargets(OpOperand &use, Place place,
                   function_ref<void(Place)> fn) const;
  Operation *findUser(Place source, OpOperand &written) const;
  Operation *findAround(Carried carried);
  /// The carried value that `value` is, if a loop around `user` carries it.
  static std::optional<Carried> getCarried(Value value, Operation *user);

  const Aliases &aliases;
  DenseSet<std::pair<Operation *, unsigned>> seen, seenAround;
};

} // namespace

std::optional<LaterUse::Carried> LaterUse::getCarried(Value value,
                                                      Operation *user) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<WhileOp>(argument.getOwner()->getParentOp())
                       : WhileOp();
  // A loop that does not contain `user` has ended: its initial values matter.
  if (!loop || !loop->isProperAncestor(user))
    return std::nullopt;
  return Carried{loop, argument.getArgNumber()};
}

void LaterUse::walkSources(Value value, Operation *user,
                           function_ref<void(Place)> fn) const {
  llvm::SetVector<Place> sources;
  sources.insert({value, kAll});
  for (unsigned next = 0; next < sources.size(); ++next) {
    Place place = sources[next];
    Value source = place.first;
    int64_t member = place.second;
    fn(place);
    if (getCarried(source, user))
      continue;
    if (auto get = source.getDefiningOp<GetOp>()) {
      bool isAll = member == kAll;
      sources.insert({get.getInput(), isAll ? get.getIndex() : kAll});
      continue;
    }
    if (auto tuple = source.getDefiningOp<TupleOp>(); tuple && member != kAll) {
      sources.insert({tuple->getOperand(member), kAll});
      continue;
    }
    aliases.walkSources(source, [&](OpOperand &use) {
      bool isSame = isa<WhileOp, YieldOp, OutputOp>(use.getOwner());
      sources.insert({use.get(), isSame ? member : kAll});
    });
  }
}

void LaterUse::walkTargets(OpOperand &use, Place place,
                           function_ref<void(Place)> fn) const {
  Operation *op = use.getOwner();
  int64_t member = place.second;
  if (isa<TupleOp>(op)) {
    fn({op->getResult(0), use.getOperandNumber()});
  } else if (auto get = dyn_cast<GetOp>(op)) {
    fn({get.getResult(), kAll});
  } else {
    bool isSame = isa<WhileOp, YieldOp, OutputOp>(op);
    aliases.walkTargets(
        use, [&](Value target) { fn({target, isSame ? member : kAll}); });
  }
}

/// The innermost block that contains both, directly or nested.
static Block *getCommonBlock(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  while (!block->findAncestorOpInBlock(*op))
    block = block->getParentOp()->getBlock();
  return block;
}

/// Whether `user` may run after `writer` within one execution of `scope`.
static bool mayFollowWriter(Operation *user, Operation *writer, Block *scope) {
  for (Operation *at = writer;; at = at->getParentOp()) {
    Block *block = at->getBlock();
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && at->isBeforeInBlock(ancestor))
      return true;
    if (block == scope)
      return false;
  }
}

/// Whether `use` yields from the branch that does not contain `writer`.
static bool isOtherBranch(OpOperand &use, Operation *writer) {
  auto branch = dyn_cast<IfOp>(use.getOwner()->getParentOp());
  return branch && isa<YieldOp>(use.getOwner()) &&
         branch->isProperAncestor(writer) &&
         !use.getOwner()->getParentRegion()->isAncestor(
             writer->getParentRegion());
}

/// Whether `use` reads elements or passes the tensor on.
static bool usesElements(OpOperand &use) {
  return !isa<KillOp, ShapeOfOp, DimOp>(use.getOwner());
}

/// Whether `use` takes another member of a tuple.
static bool isOtherMember(OpOperand &use, int64_t member) {
  auto get = dyn_cast<GetOp>(use.getOwner());
  return get && member >= 0 && get.getIndex() != member;
}

/// A user of memory that the condition of a loop overwrites, if `source` is
/// carried there: the body and the results see it although they are not targets
/// of `source`.
static Operation *findUserOfCondition(Value source) {
  auto argument = dyn_cast<BlockArgument>(source);
  auto loop = argument ? dyn_cast<WhileOp>(argument.getOwner()->getParentOp())
                       : WhileOp();
  if (!loop || argument.getParentRegion() != &loop.getConditionRegion())
    return nullptr;
  unsigned index = argument.getArgNumber();
  for (Value same : {Value(loop.getBody().getArgument(index)),
                     Value(loop->getResult(index))})
    for (OpOperand &use : same.getUses())
      if (usesElements(use))
        return use.getOwner();
  return nullptr;
}

/// Finds a user of the memory of `source` after the write.
Operation *LaterUse::findUser(Place source, OpOperand &written) const {
  Operation *writer = written.getOwner();
  Block *scope = getCommonBlock(source.first, writer);
  // Each iteration writes again.
  for (Operation *at = writer; at->getBlock() != scope; at = at->getParentOp())
    if (isa<WhileOp>(at->getParentOp()))
      return writer;
  llvm::SetVector<Place> targets;
  targets.insert(source);
  for (unsigned next = 0; next < targets.size(); ++next) {
    Place target = targets[next];
    for (OpOperand &use : target.first.getUses()) {
      Operation *user = use.getOwner();
      if (&use == &written || !usesElements(use) ||
          isOtherMember(use, target.second))
        continue;
      // If the writer is a loop, ops in it run after the write of an earlier
      // iteration.
      if (writer->isAncestor(user) || mayFollowWriter(user, writer, scope))
        return user;
      if (!isOtherBranch(use, writer))
        walkTargets(use, target, [&](Place place) { targets.insert(place); });
    }
  }
  return nullptr;
}

Operation *LaterUse::find(OpOperand &written) {
  if (!seen.insert({written.getOwner(), written.getOperandNumber()}).second)
    return nullptr;
  Operation *user = nullptr;
  SmallVector<Carried> around;
  walkSources(written.get(), written.getOwner(), [&](Place source) {
    if (!user)
      user = findUser(source, written);
    std::optional<Carried> carried =
        getCarried(source.first, written.getOwner());
    if (!carried)
      return;
    around.push_back(*carried);
    if (!user)
      user = findUserOfCondition(source.first);
  });
  for (Carried carried : around)
    user = user ? user : findAround(carried);
  return user;
}

Operation *LaterUse::findAround(Carried carried) {
  WhileOp loop = carried.first;
  unsigned index = carried.second;
  if (!seenAround.insert({loop, index}).second)
    return nullptr;
  if (Operation *user = find(loop->getOpOperand(index)))
    return user;
  Operation *yield = loop.getBody().front().getTerminator();
  DenseSet<Value> yielded;
  SmallVector<Carried> others;
  bool isOutside = false;
  walkSources(yield->getOperand(index), yield, [&](Place place) {
    Value source = place.first;
    yielded.insert(source);
    isOutside |= !loop.getBody().isAncestor(source.getParentRegion());
    if (std::optional<Carried> other = getCarried(source, yield))
      others.push_back(*other);
  });
  if (isOutside)
    return yield;
  for (OpOperand &operand : yield->getOpOperands()) {
    bool isTwice = false;
    if (operand.getOperandNumber() != index)
      walkSources(operand.get(), yield, [&](Place place) {
        isTwice |= yielded.contains(place.first);
      });
    if (isTwice)
      return yield;
  }
  for (Carried other : others)
    if (Operation *user = findAround(other))
      return user;
  return nullptr;
}

Operation *Writes::findLaterUse(OpOperand &written) const {
  return LaterUse(aliases).find(written);
}
