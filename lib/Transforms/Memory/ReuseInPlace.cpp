//===- ReuseInPlace.cpp - reuse dying inputs as outputs -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelPattern.h"
#include "Relax/Ops/Call.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"

namespace mlir::relax {
#define GEN_PASS_DEF_REUSEINPLACEPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Whether two ranked tensors have equal shapes and element sizes.
bool haveSameShape(Type lhs, Type rhs, const Prover &prover) {
  auto first = dyn_cast<RankedTensorType>(lhs),
       second = dyn_cast<RankedTensorType>(rhs);
  if (!first || !second || first.getElementType() != second.getElementType() ||
      first.getRank() != second.getRank())
    return false;
  return llvm::all_of(
      llvm::zip(getSymDims(first), getSymDims(second)), [&](auto dims) {
        return prover.provedEqual(std::get<0>(dims), std::get<1>(dims));
      });
}

/// The place of `tensor` in a storage, looking through aliases; null if it is
/// in none.
TensorFromStorageOp findPlace(Value tensor) {
  while (Value aliased = getAliasedTensor(tensor))
    tensor = aliased;
  return tensor.getDefiningOp<TensorFromStorageOp>();
}

class CallReuse {
public:
  CallReuse(CallTIRInplaceOp call, func::FuncOp kernel)
      : call(call), kernel(kernel),
        prover(call.getContext(), SymbolFacts::at(call)) {}

  void run() {
    // A result that is still to be allocated has no destination yet.
    if (llvm::is_contained(call.getInplaceIndices(), -1))
      return;
    for (int64_t destination : call.getInplaceIndices())
      if (isFresh(call.getOperand(destination)))
        reuseFor(destination);
  }

private:
  /// Whether `tensor` is the only tensor in its storage, before `call` writes
  /// it.
  static bool isFresh(Value tensor) {
    auto place = tensor.getDefiningOp<TensorFromStorageOp>();
    return place && tensor.hasOneUse() && place.getStorage().hasOneUse() &&
           place.getStorage().getDefiningOp<AllocStorageOp>();
  }

  void reuseFor(unsigned destination) {
    for (unsigned input = 0; input < call.getNumOperands(); ++input) {
      if (llvm::is_contained(call.getInplaceIndices(), input) ||
          !haveSameShape(call.getOperand(input).getType(),
                         call.getOperand(destination).getType(), prover) ||
          !canReuseInput(kernel, input, destination))
        continue;
      TensorFromStorageOp place = findPlace(call.getOperand(input));
      if (place && diesHere(place.getStorage(), input))
        return reuse(place, destination);
    }
  }

  /// Whether only operand `input` uses `storage` here or later.
  bool diesHere(Value storage, unsigned input) {
    if (!storage.getDefiningOp<AllocStorageOp>() ||
        storage.getParentBlock() != call->getBlock() ||
        getLastUser(storage) != call)
      return false;
    bool dies = true;
    walkUses(storage, [&](OpOperand &use) {
      dies &= !mayOutlive(use) &&
              (use.getOwner() != call || use.getOperandNumber() == input);
    });
    return dies;
  }

  void reuse(TensorFromStorageOp place, unsigned destination) {
    auto old =
        call.getOperand(destination).getDefiningOp<TensorFromStorageOp>();
    OpBuilder builder(call);
    call.setOperand(destination, TensorFromStorageOp::create(
                                     builder, old.getLoc(), old.getType(),
                                     place.getStorage(), place.getOffset()));
    Operation *storage = old.getStorage().getDefiningOp();
    old.erase();
    storage->erase();
  }

  CallTIRInplaceOp call;
  func::FuncOp kernel;
  Prover prover;
};

struct ReuseInPlace : relax::impl::ReuseInPlacePassBase<ReuseInPlace> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (failed(verifyNoDataflow(function, getArgument())))
        return signalPassFailure();
      function.walk([&](CallTIRInplaceOp call) {
        if (auto kernel = table.lookup<func::FuncOp>(call.getCallee()))
          CallReuse(call, kernel).run();
      });
    }
  }
};

} // namespace
