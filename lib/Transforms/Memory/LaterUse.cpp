//===- LaterUse.cpp - uses of what is written over ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A write into `%v` is followed back to all that `%v` may have its memory from,
// and from there forward to all that may have the same memory, but not through
// the write itself: its result is the new version. None of these may be used
// where the write has been.
//
//     %x ──reshape──> %v ──write──> %new        %new may be used,
//      └───if yield──> %r                       %x, %v and %r may not
//
// Where a loop carries `%v`, the write is in each round of it:
//
//   - the loop writes over the initial value, which nothing in it may use;
//   - what the body yields is written over in the next round, so it must not
//     be of outside, nor be yielded twice.
//
// The condition runs before each round and once more at the end. What it writes
// over are the values that the body and the result of the loop have.
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

  /// The op that uses again what `written` writes over; null where there is
  /// none.
  Operation *find(OpOperand &written);

private:
  /// A value, and which member of it if that is a tuple; kAll for all of it.
  using Place = std::pair<Value, int64_t>;
  static constexpr int64_t kAll = -1;
  /// What a loop carries at one place.
  using Carried = std::pair<WhileOp, unsigned>;

  /// Calls `fn` on `value`, which `user` uses, and all that it may have its
  /// memory from; what a loop around `user` carries is where that ends.
  void walkSources(Value value, Operation *user,
                   function_ref<void(Place)> fn) const;
  /// Calls `fn` on each place that may have its memory from `use` of `place`.
  void walkTargets(OpOperand &use, Place place,
                   function_ref<void(Place)> fn) const;
  Operation *findUser(Place source, OpOperand &written) const;
  Operation *findAround(Carried carried);
  /// What `value` is of what a loop around `user` carries.
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
  // Of a loop that ends before, what it carries comes from its initial values.
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

/// The innermost block that holds both, at whatever depth.
static Block *getCommonBlock(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  while (!block->findAncestorOpInBlock(*op))
    block = block->getParentOp()->getBlock();
  return block;
}

/// Whether `user` may run after `writer` within one run of `scope`.
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

/// Whether `use` yields from the branch that `writer` is not in.
static bool isOtherBranch(OpOperand &use, Operation *writer) {
  auto branch = dyn_cast<IfOp>(use.getOwner()->getParentOp());
  return branch && isa<YieldOp>(use.getOwner()) &&
         branch->isProperAncestor(writer) &&
         !use.getOwner()->getParentRegion()->isAncestor(
             writer->getParentRegion());
}

/// Whether `use` reads an element, or passes it on.
static bool usesElements(OpOperand &use) {
  return !isa<KillOp, ShapeOfOp, DimOp>(use.getOwner());
}

/// Whether `use` takes another member of a tuple.
static bool isOtherMember(OpOperand &use, int64_t member) {
  auto get = dyn_cast<GetOp>(use.getOwner());
  return get && member >= 0 && get.getIndex() != member;
}

/// A user of what the condition of a loop writes over, if `source` is carried
/// there: the body and the result have it without being targets of `source`.
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

/// A user of the memory of `source` after the write.
Operation *LaterUse::findUser(Place source, OpOperand &written) const {
  Operation *writer = written.getOwner();
  Block *scope = getCommonBlock(source.first, writer);
  // Each round writes into it again.
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
      // A loop that writes holds what runs after the write of a round before.
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
