//===- Workspace.cpp - temporaries of kernels -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Workspace.h"

#include "Transforms/Memory/Lifetimes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The dealloc of an allocation, if it is unique and in the same block.
memref::DeallocOp findDealloc(memref::AllocOp alloc) {
  memref::DeallocOp only;
  for (Operation *user : alloc->getUsers())
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
      if (only || dealloc->getBlock() != alloc->getBlock())
        return {};
      only = dealloc;
    }
  return only;
}

/// Whether at most one instance of `op` runs at a time in a call of its kernel.
bool isSequential(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp())
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp>(parent))
      return false;
  return true;
}

/// Finds the allocations that can be lifted, ordered by first use.
class TemporaryFinder {
public:
  TemporaryFinder(func::FuncOp kernel, KernelSizes &sizes)
      : kernel(kernel), sizes(sizes) {
    unsigned next = 0;
    for (Operation &op : kernel.getBody().front())
      positions[&op] = next++;
  }

  SmallVector<Temporary> find() {
    SmallVector<Temporary> found;
    kernel.walk([&](memref::AllocOp alloc) {
      memref::DeallocOp dealloc = findDealloc(alloc);
      SymExprAttr bytes = getBytes(alloc);
      if (!dealloc || !bytes || !isSequential(alloc) ||
          alloc.getAlignment().value_or(1) > kStorageAlignment)
        return;
      found.push_back({alloc, dealloc, getLifetime(alloc, dealloc), bytes, {}});
    });
    llvm::stable_sort(found, [](const Temporary &lhs, const Temporary &rhs) {
      return lhs.lifetime.start < rhs.lifetime.start;
    });
    return found;
  }

private:
  /// The size of an allocation; null if callers cannot compute it.
  SymExprAttr getBytes(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
        !type.getElementType().isIntOrIndexOrFloat())
      return {};
    SymBuilder &math = sizes.getMath();
    Type element = type.getElementType();
    SmallVector<SymExprAttr> factors = {
        math.constant(element.isIndex() ? 8 : getElementBytes(element))};
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      SymExprAttr dim = sizes.getDim(alloc, axis);
      if (!dim)
        return {};
      // Under a condition that never holds, a size may be negative.
      if (sizes.getProver().interval(dim).lower.value_or(-1) < 0)
        dim = math.max({dim, math.constant(0)});
      factors.push_back(dim);
    }
    return math.product(factors);
  }

  /// Starts at the first use rather than at the allocation.
  Lifetime getLifetime(memref::AllocOp alloc, memref::DeallocOp dealloc) {
    Block &body = kernel.getBody().front();
    auto position = [&](Operation *op) {
      return positions.lookup(body.findAncestorOpInBlock(*op));
    };
    Lifetime lifetime{position(dealloc), position(dealloc)};
    for (Operation *user : alloc->getUsers())
      lifetime.start = std::min(lifetime.start, position(user));
    return lifetime;
  }

  func::FuncOp kernel;
  KernelSizes &sizes;
  DenseMap<Operation *, unsigned> positions;
};

/// Assigns an offset to each temporary.
class Layout {
public:
  explicit Layout(KernelSizes &sizes)
      : math(sizes.getMath()), prover(sizes.getProver()) {}

  /// The size of the workspace; null if it exceeds 64 bits.
  SymExprAttr run(MutableArrayRef<Temporary> temporaries) {
    SymExprAttr end = placeConstant(temporaries);
    for (Temporary &temporary : temporaries)
      if (!temporary.offset)
        addToSlot(temporary);
    for (Slot &slot : slots) {
      SymExprAttr offset = end ? align(end) : SymExprAttr();
      if (!offset)
        return {};
      for (Temporary *member : slot.members)
        member->offset = offset;
      end = math.add(offset, slot.bytes);
    }
    return end;
  }

private:
  struct Slot {
    SymExprAttr bytes;
    SmallVector<Temporary *> members;
  };

  SymExprAttr placeConstant(MutableArrayRef<Temporary> temporaries) {
    SmallVector<Temporary *> fixed;
    SmallVector<ArenaBuffer> buffers;
    for (Temporary &temporary : temporaries)
      if (std::optional<int64_t> bytes = temporary.bytes.getConstantValue()) {
        fixed.push_back(&temporary);
        buffers.push_back({temporary.lifetime, static_cast<uint64_t>(*bytes)});
      }
    uint64_t height = packArena(buffers, kStorageAlignment);
    for (auto [temporary, buffer] : llvm::zip(fixed, buffers))
      temporary->offset = math.constant(buffer.offset);
    return height > INT64_MAX ? SymExprAttr() : math.constant(height);
  }

  void addToSlot(Temporary &temporary) {
    auto isComparable = [&](const Slot &slot) {
      return prover.lessEqual(slot.bytes, temporary.bytes) == Truth::Yes ||
             prover.lessEqual(temporary.bytes, slot.bytes) == Truth::Yes;
    };
    Slot *best = nullptr;
    for (Slot &slot : slots)
      if (llvm::none_of(slot.members,
                        [&](Temporary *member) {
                          return member->lifetime.overlaps(temporary.lifetime);
                        }) &&
          (!best || (!isComparable(*best) && isComparable(slot))))
        best = &slot;
    if (!best) {
      slots.push_back({temporary.bytes, {&temporary}});
      return;
    }
    best->members.push_back(&temporary);
    if (SymExprAttr larger = math.max({best->bytes, temporary.bytes}))
      best->bytes = prover.simplify(larger);
  }

  SymExprAttr align(SymExprAttr bytes) {
    SymExprAttr alignment = math.constant(kStorageAlignment);
    if (prover.divisible(bytes, alignment) == Truth::Yes)
      return bytes;
    return math.mul(math.ceildiv(bytes, alignment), alignment);
  }

  SymBuilder &math;
  const Prover &prover;
  SmallVector<Slot> slots;
};

} // namespace

SmallVector<Temporary> relax::findTemporaries(func::FuncOp kernel,
                                              KernelSizes &sizes) {
  return TemporaryFinder(kernel, sizes).find();
}

SymExprAttr relax::layOutWorkspace(MutableArrayRef<Temporary> temporaries,
                                   KernelSizes &sizes) {
  return Layout(sizes).run(temporaries);
}
