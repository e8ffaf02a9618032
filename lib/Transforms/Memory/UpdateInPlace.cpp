//===- UpdateInPlace.cpp - update tensors in place ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scatter kernel copies its data first, then applies the updates:
//
//   @put(%x, %indices, %values, %d):  %0 = copy %x to %d; put %values into %0
//
// If the data dies with the call, and nothing else holds a reference to it, the
// copy is redundant. A version of the kernel without the copy writes into the
// data:
//
//   @put_inplace(%indices, %values, %x):  put %values into %x
//
// Results of kernels in the same function are owned exclusively, and so are
// parameters that callers donate. A loop-carried value is, too, if each yielded
// value is; the initial value is copied before the loop if it is not owned.
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelPattern.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Transforms/Memory/Copies.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"
#include "Transforms/Memory/Writes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::relax {
#define GEN_PASS_DEF_UPDATEINPLACEPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The uses of a tensor, also through casts, except for its sizes.
static SmallVector<OpOperand *> getElementUses(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()))
      llvm::append_range(uses, getElementUses(cast));
    else if (!isa<tensor::DimOp>(use.getOwner()))
      uses.push_back(&use);
  return uses;
}

/// Whether `op` only copies a tensor into another.
static bool isPlainCopy(Operation *op) {
  if (isa<linalg::CopyOp>(op))
    return true;
  auto nest = dyn_cast<linalg::GenericOp>(op);
  return nest && nest.getNumDpsInputs() == 1 && nest.getNumDpsInits() == 1 &&
         llvm::all_of(nest.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         nest.getBody()->getTerminator()->getOperand(0) ==
             nest.getBody()->getArgument(0);
}

namespace {

/// A kernel that copies parameter `data` into its destination and then works
/// only on that.
struct UpdateKernel {
  unsigned data, destination;
  Operation *copy;

  static std::optional<UpdateKernel> match(func::FuncOp kernel) {
    if (kernel.isExternal() || !kernel.getBody().hasOneBlock() ||
        kernel.getNumResults() != 1)
      return std::nullopt;
    for (Operation &op : kernel.getBody().front()) {
      if (!isPlainCopy(&op))
        continue;
      auto data = dyn_cast<BlockArgument>(lookThroughCasts(op.getOperand(0)));
      auto target = dyn_cast<BlockArgument>(lookThroughCasts(op.getOperand(1)));
      if (!data || !target || data == target ||
          data.getOwner() != &kernel.getBody().front() ||
          target != getDestination(kernel) ||
          data.getType() != target.getType() ||
          kernel.getArgAttr(data.getArgNumber(), RelaxDialect::kShapeAttr) !=
              kernel.getArgAttr(target.getArgNumber(),
                                RelaxDialect::kShapeAttr) ||
          getElementUses(data).size() != 1 ||
          getElementUses(target).size() != 1)
        continue;
      // A kernel that only copies gains nothing.
      if (isa<func::ReturnOp>(*op.getResult(0).user_begin()))
        continue;
      return UpdateKernel{data.getArgNumber(), target.getArgNumber(), &op};
    }
    return std::nullopt;
  }

  /// The destination parameter of a kernel with one result, followed by
  /// integers.
  static BlockArgument getDestination(func::FuncOp kernel) {
    for (BlockArgument argument : llvm::reverse(kernel.getArguments()))
      if (isa<RankedTensorType>(argument.getType()))
        return argument;
    return {};
  }

  /// Clones the kernel without the copy and without the parameter.
  func::FuncOp makeInplace(func::FuncOp kernel, SymbolTable &table) const {
    func::FuncOp result = kernel.clone();
    result.setSymName((kernel.getSymName() + "_inplace").str());
    result.setPrivate();
    table.insert(result);
    Block &body = result.getBody().front();
    // The corresponding op in the clone.
    Operation *same =
        &*std::next(body.begin(), std::distance(copy->getBlock()->begin(),
                                                Block::iterator(copy)));
    same->getResult(0).replaceAllUsesWith(same->getOperand(1));
    same->erase();
    body.getArgument(data).replaceAllUsesWith(body.getArgument(destination));
    (void)result.eraseArgument(data);
    return result;
  }
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether any value with the memory of `value` may be retained.
static bool mayBeKept(Value value, const Aliases &aliases) {
  llvm::SetVector<Value> targets;
  targets.insert(value);
  for (unsigned next = 0; next < targets.size(); ++next)
    for (OpOperand &use : targets[next].getUses()) {
      if (aliases.mayBeKept(use))
        return true;
      aliases.walkTargets(use, [&](Value target) { targets.insert(target); });
    }
  return false;
}

/// Whether a function holds the only reference to a tensor.
class Ownership {
public:
  explicit Ownership(const Aliases &aliases) : aliases(aliases) {}

  /// Appends to `copied` the initial values of loops that must be copied first.
  bool isOwned(Value value, SmallVectorImpl<OpOperand *> &copied) {
    llvm::SetVector<Value> sources;
    sources.insert(value);
    for (unsigned next = 0; next < sources.size(); ++next) {
      Value source = sources[next];
      if (mayBeKept(source, aliases))
        return false;
      if (auto argument = dyn_cast<BlockArgument>(source)) {
        Operation *parent = argument.getOwner()->getParentOp();
        if (auto function = dyn_cast<FuncOp>(parent)) {
          if (!isDonated(function, argument.getArgNumber()))
            return false;
          continue;
        }
        auto loop = dyn_cast<WhileOp>(parent);
        if (!loop || !isCarriedOwned(loop, argument.getArgNumber(), copied))
          return false;
        continue;
      }
      Operation *op = source.getDefiningOp();
      // A library may also retain its own results.
      if (isKeptByLibrary(op))
        return false;
      if (isa<CallTIROp, CallLibraryOp>(op))
        continue;
      if (auto loop = dyn_cast<WhileOp>(op)) {
        if (!isCarriedOwned(loop, cast<OpResult>(source).getResultNumber(),
                            copied))
          return false;
        continue;
      }
      if (!isa<CallTIRInplaceOp, CallLibraryInplaceOp, MatchCastOp, IfOp>(op) &&
          !getAliasedTensor(source))
        return false;
      bool isNew = true;
      aliases.walkSources(source, [&](OpOperand &use) {
        sources.insert(use.get());
        isNew = false;
      });
      // A newly allocated result of an in-place call has no source.
      if (isNew && !isa<CallTIRInplaceOp, CallLibraryInplaceOp>(op))
        return false;
    }
    return true;
  }

private:
  /// Whether the callers of a function donate a parameter. Callers in the
  /// module may still use the value afterwards.
  static bool isDonated(FuncOp function, int64_t index) {
    auto donated = function->getAttrOfType<DenseI64ArrayAttr>(notes::kDonated);
    return donated && llvm::is_contained(donated.asArrayRef(), index) &&
           SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
  }

  bool isCarriedOwned(WhileOp loop, unsigned index,
                      SmallVectorImpl<OpOperand *> &copied) {
    if (!seen.insert({loop, index}).second)
      return true;
    OpOperand &init = loop->getOpOperand(index);
    size_t count = copied.size();
    DenseSet<std::pair<Operation *, unsigned>> seenBefore = seen;
    if (!isOwned(init.get(), copied)) {
      // Conclusions about other loops depend on the copies of their initial
      // values.
      copied.resize(count);
      seen = std::move(seenBefore);
      if (!Copies::canCopy(init.get()))
        return false;
      copied.push_back(&init);
    }
    return isOwned(loop.getBody().front().getTerminator()->getOperand(index),
                   copied);
  }

  const Aliases &aliases;
  DenseSet<std::pair<Operation *, unsigned>> seen;
};

struct UpdateInPlace : relax::impl::UpdateInPlacePassBase<UpdateInPlace> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    Writes writes(getOperation());
    Copies copies(table);
    SmallVector<CallTIROp> calls;
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (failed(verifyNoDataflow(function, getArgument())))
        return signalPassFailure();
      function.walk([&](CallTIROp call) { calls.push_back(call); });
    }
    for (CallTIROp call : calls) {
      auto kernel = table.lookup<func::FuncOp>(call.getCallee());
      if (!kernel)
        continue;
      auto [found, isNew] = kernels.try_emplace(kernel);
      if (isNew)
        found->second.first = UpdateKernel::match(kernel);
      if (found->second.first)
        update(call, kernel, writes, table, copies);
    }
  }

  void update(CallTIROp call, func::FuncOp kernel, const Writes &writes,
              SymbolTable &table, Copies &copies) {
    auto &[match, inplace] = kernels[kernel];
    OpOperand &data = call->getOpOperand(match->data);
    if (data.get().getType() != call.getResult(0).getType())
      return;
    SmallVector<OpOperand *> copied;
    if (!Ownership(writes.getAliases()).isOwned(data.get(), copied))
      return;
    // Try again with copies; remove them if they do not help.
    for (OpOperand *init : copied)
      init->set(copies.copy(init->get(), init->getOwner()));
    Operation *user = writes.findLaterUse(data);
    // The initial value of a loop is used elsewhere: copy that as well.
    if (user && copied.empty() && isCarried(data.get()))
      user = copyInit(data, writes, copies, copied);
    if (user) {
      for (OpOperand *init : copied) {
        Operation *copy = init->get().getDefiningOp();
        init->set(copy->getOperand(0));
        copy->erase();
      }
      return;
    }
    if (!inplace)
      inplace = match->makeInplace(kernel, table);
    OpBuilder builder(call);
    SmallVector<Value> operands(call->getOperands());
    operands.erase(operands.begin() + match->data);
    operands.push_back(data.get());
    int64_t last = operands.size() - 1;
    auto updated = CallTIRInplaceOp::create(
        builder, call.getLoc(), call.getResultTypes(), inplace.getSymName(),
        operands, builder.getDenseI64ArrayAttr(last), call.getSymArgsAttr());
    updated->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    call->replaceAllUsesWith(updated);
    call->erase();
  }

  static bool isCarried(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<WhileOp>(argument.getOwner()->getParentOp());
  }

  /// Copies the initial value of the loop that carries a tensor; returns the op
  /// that is still in the way, or null.
  static Operation *copyInit(OpOperand &data, const Writes &writes,
                             Copies &copies,
                             SmallVectorImpl<OpOperand *> &copied) {
    auto argument = cast<BlockArgument>(data.get());
    Operation *loop = argument.getOwner()->getParentOp();
    OpOperand &init = loop->getOpOperand(argument.getArgNumber());
    if (!Copies::canCopy(init.get()))
      return loop;
    init.set(copies.copy(init.get(), loop));
    copied.push_back(&init);
    return writes.findLaterUse(data);
  }

  DenseMap<func::FuncOp, std::pair<std::optional<UpdateKernel>, func::FuncOp>>
      kernels;
};

} // namespace
