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
//   - the loop writes over the initial value;
//   - what the body yields is written over in the next round, so it must not
//     be of outside, nor be yielded twice.
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
  /// What a loop carries at one place.
  using Carried = std::pair<WhileOp, unsigned>;

  /// Calls `fn` on `value` and all that it may have its memory from; what a
  /// loop around it carries is where that ends.
  void walkSources(Value value, function_ref<void(Value)> fn) const;
  Operation *findUser(Value source, OpOperand &written) const;
  Operation *findAround(Carried carried);
  static std::optional<Carried> getCarried(Value value);

  const Aliases &aliases;
  DenseSet<std::pair<Operation *, unsigned>> seen, seenAround;
};

} // namespace

std::optional<LaterUse::Carried> LaterUse::getCarried(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<WhileOp>(argument.getOwner()->getParentOp())
                       : WhileOp();
  if (!loop)
    return std::nullopt;
  return Carried{loop, argument.getArgNumber()};
}

void LaterUse::walkSources(Value value, function_ref<void(Value)> fn) const {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (unsigned next = 0; next < sources.size(); ++next) {
    fn(sources[next]);
    if (!getCarried(sources[next]))
      aliases.walkSources(sources[next], [&](OpOperand &source) {
        sources.insert(source.get());
      });
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

/// A user of the memory of `source` after the write.
Operation *LaterUse::findUser(Value source, OpOperand &written) const {
  Operation *writer = written.getOwner();
  Block *scope = getCommonBlock(source, writer);
  // Each round writes into it again.
  for (Operation *at = writer; at->getBlock() != scope; at = at->getParentOp())
    if (isa<WhileOp>(at->getParentOp()))
      return writer;
  llvm::SetVector<Value> targets;
  targets.insert(source);
  for (unsigned next = 0; next < targets.size(); ++next)
    for (OpOperand &use : targets[next].getUses()) {
      Operation *user = use.getOwner();
      // These read no element.
      if (&use == &written || isa<KillOp, ShapeOfOp, DimOp>(user))
        continue;
      if (user == writer || mayFollowWriter(user, writer, scope))
        return user;
      if (!isOtherBranch(use, writer))
        aliases.walkTargets(use, [&](Value target) { targets.insert(target); });
    }
  return nullptr;
}

Operation *LaterUse::find(OpOperand &written) {
  if (!seen.insert({written.getOwner(), written.getOperandNumber()}).second)
    return nullptr;
  Operation *user = nullptr;
  SmallVector<Carried> around;
  walkSources(written.get(), [&](Value source) {
    if (!user)
      user = findUser(source, written);
    if (std::optional<Carried> carried = getCarried(source))
      around.push_back(*carried);
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
  walkSources(yield->getOperand(index), [&](Value source) {
    yielded.insert(source);
    isOutside |= !loop.getBody().isAncestor(source.getParentRegion());
    if (std::optional<Carried> other = getCarried(source))
      others.push_back(*other);
  });
  if (isOutside)
    return yield;
  for (OpOperand &operand : yield->getOpOperands()) {
    bool isTwice = false;
    if (operand.getOperandNumber() != index)
      walkSources(operand.get(),
                  [&](Value source) { isTwice |= yielded.contains(source); });
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
