//===- Groups.cpp - fusion groups of kernel calls -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Fusion/Groups.h"

#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/SymDirectives.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

std::optional<SymSubstitution> relax::solveProvedCall(CallTIROp call,
                                                      func::FuncOp kernel) {
  Signature signature = Signature::of(kernel);
  SymbolFacts kernelFacts(signature.ranges);
  Prover prover(call.getContext(), SymbolFacts::at(call));
  Unifier unifier(prover, call.getContext(), &kernelFacts);
  if (failed(unifyKernelCall(call, signature, call.getOperandTypes(),
                             call->getResultTypes(), call.getSymArgs(),
                             unifier)) ||
      !unifier.getUndecided().empty())
    return std::nullopt;
  return unifier.getBindings();
}

bool relax::isFinal(func::FuncOp kernel) {
  return kernel->hasAttr(notes::kPrimitive);
}

func::FuncOp KernelFacts::getFusibleKernel(CallTIROp call) {
  auto kernel = table.lookup<func::FuncOp>(call.getCallee());
  if (!kernel || call->getNumResults() == 0 || isFinal(kernel) ||
      getPattern(kernel) == KernelPattern::Opaque)
    return {};
  for (Type type : call->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || llvm::is_contained(getSymDims(tensor), SymExprAttr()))
      return {};
  }
  return solveProvedCall(call, kernel) ? kernel : nullptr;
}

KernelPattern KernelFacts::getPattern(func::FuncOp kernel) {
  auto [it, inserted] = patterns.try_emplace(kernel, KernelPattern::Opaque);
  if (inserted)
    it->second = classifyKernel(kernel);
  return it->second;
}

static bool shareOperand(CallTIROp one, CallTIROp other) {
  return llvm::any_of(one.getOperands(), [&](Value operand) {
    return llvm::is_contained(other.getOperands(), operand);
  });
}

namespace {

constexpr int kNone = -1;

/// A call that may join a group.
struct Node {
  CallTIROp call;
  func::FuncOp kernel;
  KernelPattern pattern;
  /// Calls of the same stretch that read a result; all are later nodes.
  llvm::SmallSetVector<int, 4> consumers;
  /// Whether a result is used outside of these calls.
  bool usedElsewhere = false;
  /// A stretch of code within which calls may move.
  unsigned stretch;
  int postDominator = kNone;
  unsigned depth = 0;
  int parent; // union-find

  bool isHeavy() const {
    return pattern == KernelPattern::Reduction ||
           pattern == KernelPattern::OutEwiseFusible;
  }
};

class GroupFinder {
public:
  GroupFinder(Block &block, KernelFacts &facts, unsigned maxGroupSize,
              bool shareOperands)
      : maxGroupSize(maxGroupSize), shareOperands(shareOperands),
        prover(block.getParentOp()->getContext(),
               SymbolFacts::at(block.getParentOp())),
        math(block.getParentOp()->getContext()) {
    collect(block, facts);
    findPostDominators();
  }

  SmallVector<SmallVector<CallTIROp>> run() {
    for (int node = 0; node < size(); ++node)
      if (getHeavy(find(node)) != kNone)
        addEpilogue(node);
    for (int node = 0; node < size(); ++node)
      if (nodes[node].pattern <= KernelPattern::Injective)
        addToConsumer(node);
    for (int node = 0; node < size(); ++node)
      if (nodes[node].pattern <= KernelPattern::Injective)
        addDecoder(node);
    llvm::MapVector<int, SmallVector<CallTIROp>> groups;
    for (int node = 0; node < size(); ++node)
      groups[find(node)].push_back(nodes[node].call);
    SmallVector<SmallVector<CallTIROp>> result;
    for (auto &[root, calls] : groups)
      if (calls.size() > 1)
        result.push_back(std::move(calls));
    return result;
  }

private:
  int size() const { return nodes.size(); }

  void collect(Block &block, KernelFacts &facts) {
    DenseMap<Operation *, int> indices;
    unsigned stretch = 0;
    for (Operation &op : block) {
      if (facts.mayWrite(&op))
        ++stretch;
      auto call = dyn_cast<CallTIROp>(op);
      func::FuncOp kernel = call ? facts.getFusibleKernel(call) : nullptr;
      if (!kernel)
        continue;
      int index = indices[call] = size();
      Node node{call, kernel, facts.getPattern(kernel)};
      node.stretch = stretch;
      node.parent = index;
      nodes.push_back(std::move(node));
    }
    for (Node &node : nodes)
      for (Operation *user : node.call->getUsers()) {
        auto found = indices.find(user);
        if (found != indices.end() &&
            nodes[found->second].stretch == node.stretch)
          node.consumers.insert(found->second);
        else
          node.usedElsewhere = true;
      }
  }

  void findPostDominators() {
    for (Node &node : llvm::reverse(nodes)) {
      if (node.usedElsewhere || node.consumers.empty())
        continue;
      int common = node.consumers.front();
      for (int consumer : node.consumers)
        common = meet(common, consumer);
      node.postDominator = common;
      node.depth = common == kNone ? 0 : nodes[common].depth + 1;
    }
  }

  int meet(int lhs, int rhs) {
    while (lhs != rhs) {
      if (lhs == kNone || rhs == kNone)
        return kNone;
      int &deeper = nodes[lhs].depth >= nodes[rhs].depth ? lhs : rhs;
      deeper = nodes[deeper].postDominator;
    }
    return lhs;
  }

  int find(int node) {
    while (nodes[node].parent != node)
      node = nodes[node].parent = nodes[nodes[node].parent].parent;
    return node;
  }

  SmallVector<int> getMembers(int root) {
    SmallVector<int> members;
    for (int node = 0; node < size(); ++node)
      if (find(node) == root)
        members.push_back(node);
    return members;
  }

  /// The contraction or reduction of a group.
  int getHeavy(int root) {
    for (int member : getMembers(root))
      if (nodes[member].isHeavy())
        return member;
    return kNone;
  }

  /// The calls from `node` (included) to its post-dominator (excluded).
  SmallVector<int> getPath(int node) {
    llvm::SetVector<int> path;
    path.insert(node);
    for (unsigned next = 0; next < path.size(); ++next)
      for (int consumer : nodes[path[next]].consumers)
        if (consumer != nodes[node].postDominator)
          path.insert(consumer);
    return path.takeVector();
  }

  /// Whether `test` holds for each use of `producer` by `consumer`.
  bool allReads(int producer, int consumer,
                function_ref<bool(KernelPattern)> test) {
    return llvm::all_of(
        nodes[consumer].call->getOpOperands(), [&](OpOperand &operand) {
          return operand.get().getDefiningOp() != nodes[producer].call ||
                 test(classifyRead(nodes[consumer].kernel,
                                   operand.getOperandNumber()));
        });
  }

  /// Whether `test` holds for each use within the group that the path and its
  /// post-dominator would form.
  bool allReads(ArrayRef<int> path,
                function_ref<bool(int producer, KernelPattern)> test) {
    return llvm::all_of(path, [&](int producer) {
      return llvm::all_of(nodes[producer].consumers, [&](int consumer) {
        return allReads(producer, consumer, [&](KernelPattern read) {
          return test(producer, read);
        });
      });
    });
  }

  /// Whether contractions share an operand and have results of equal shape.
  bool areAlike(ArrayRef<int> contractions) {
    CallTIROp first = nodes[contractions.front()].call;
    return llvm::all_of(contractions, [&](int node) {
      CallTIROp call = nodes[node].call;
      return nodes[node].pattern == KernelPattern::OutEwiseFusible &&
             call->getResultTypes() == first->getResultTypes() &&
             shareOperand(call, first);
    });
  }

  /// Forms one group, unless it would be too large or contain two reductions.
  void unite(ArrayRef<int> path, int sink) {
    llvm::SmallSetVector<int, 8> roots;
    roots.insert(find(sink));
    for (int node : path)
      roots.insert(find(node));
    unsigned count = 0;
    SmallVector<int> heavy;
    for (int root : roots)
      for (int member : getMembers(root)) {
        ++count;
        if (nodes[member].isHeavy())
          heavy.push_back(member);
      }
    if (roots.size() == 1 || count > maxGroupSize ||
        (heavy.size() > 1 && !(shareOperands && areAlike(heavy))))
      return;
    for (int root : roots)
      nodes[root].parent = roots.front();
  }

  /// Adds element-wise calls on the result of `node`, which is a reduction or
  /// follows one.
  void addEpilogue(int node) {
    int sink = nodes[node].postDominator;
    if (sink == kNone)
      return;
    SmallVector<int> path = getPath(node);
    auto isElementWise = [&](int member) {
      return nodes[member].pattern == KernelPattern::ElementWise;
    };
    if (isElementWise(sink) &&
        llvm::all_of(ArrayRef(path).drop_front(), isElementWise) &&
        allReads(path, [](int, KernelPattern read) {
          return read == KernelPattern::ElementWise;
        }))
      unite(path, sink);
  }

  void addToConsumer(int node) {
    int sink = nodes[node].postDominator;
    if (sink == kNone || find(sink) == find(node) ||
        nodes[sink].pattern > KernelPattern::Reduction ||
        getHeavy(find(node)) != kNone)
      return;
    SmallVector<int> path = getPath(node);
    if (llvm::all_of(path,
                     [&](int member) {
                       return nodes[member].pattern <= KernelPattern::Injective;
                     }) &&
        allReads(path, [&](int producer, KernelPattern read) {
          return read <= KernelPattern::Injective &&
                 (read != KernelPattern::Broadcast ||
                  isCheap(nodes[producer].kernel));
        }))
      unite(path, sink);
  }

  /// Lets the group that ends in `node` join a contraction if it decodes (e.g.
  /// dequantizes) an operand of it.
  void addDecoder(int node) {
    int sink = nodes[node].postDominator;
    if (sink == kNone || find(sink) == find(node) ||
        nodes[sink].pattern != KernelPattern::OutEwiseFusible ||
        nodes[node].consumers.size() != 1 || getHeavy(find(node)) != kNone)
      return;
    if (allReads(node, sink,
                 [](KernelPattern read) {
                   return read <= KernelPattern::Injective;
                 }) &&
        readsLessThanItWrites(node))
      unite({node}, sink);
  }

  /// Whether the group that ends in `node` reads fewer bytes from outside than
  /// it produces.
  bool readsLessThanItWrites(int node) {
    SmallVector<SymExprAttr> read, written;
    llvm::SmallSetVector<Value, 8> seen;
    for (int member : getMembers(find(node)))
      for (Value operand : nodes[member].call.getOperands()) {
        auto producer = operand.getDefiningOp();
        if (producer && llvm::any_of(getMembers(find(node)), [&](int other) {
              return nodes[other].call == producer;
            }))
          continue;
        if (seen.insert(operand))
          read.push_back(getBits(operand.getType()));
      }
    for (Type type : nodes[node].call->getResultTypes())
      written.push_back(getBits(type));
    return prover.less(math.sum(read), math.sum(written)) == Truth::Yes;
  }

  SymExprAttr getBits(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<SymExprAttr> factors(getSymDims(tensor));
    factors.push_back(
        math.constant(tensor.getElementType().getIntOrFloatBitWidth()));
    return math.product(factors);
  }

  unsigned maxGroupSize;
  bool shareOperands;
  Prover prover;
  SymBuilder math;
  SmallVector<Node> nodes;
};

} // namespace

SmallVector<SmallVector<CallTIROp>> relax::findGroups(Block &block,
                                                      KernelFacts &facts,
                                                      unsigned maxGroupSize,
                                                      bool shareOperands) {
  return GroupFinder(block, facts, maxGroupSize, shareOperands).run();
}

SmallVector<SmallVector<CallTIROp>> relax::findSiblings(Block &block,
                                                        KernelFacts &facts) {
  SmallVector<SmallVector<CallTIROp>> groups;
  size_t firstOpen = 0; // earlier groups have ended
  for (Operation &op : block) {
    auto call = dyn_cast<CallTIROp>(op);
    // Nothing may move across a write or an op that defines a symbol.
    if (!call && !isMemoryEffectFree(&op))
      firstOpen = groups.size();
    func::FuncOp kernel = call ? facts.getFusibleKernel(call) : nullptr;
    if (!kernel || facts.getPattern(kernel) != KernelPattern::OutEwiseFusible)
      continue;
    auto canJoin = [&](ArrayRef<CallTIROp> group) {
      return shareOperand(call, group.front()) &&
             llvm::all_of(call->getOperands(), [&](Value operand) {
               Operation *source = operand.getDefiningOp();
               return !source || source->getBlock() != &block ||
                      source->isBeforeInBlock(group.front());
             });
    };
    auto *found = llvm::find_if(llvm::drop_begin(groups, firstOpen), canJoin);
    if (found != groups.end())
      found->push_back(call);
    else
      groups.push_back({call});
  }
  llvm::erase_if(groups, [](auto &group) { return group.size() == 1; });
  return groups;
}
