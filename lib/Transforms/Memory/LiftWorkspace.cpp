//===- LiftWorkspace.cpp - expose kernel scratch memory -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/CallUtils.h"
#include "Relax/Ops/Call.h"
#include "Transforms/Memory/Lifetimes.h"
#include "Transforms/Memory/Passes.h"
#include "Transforms/Memory/Workspace.h"
#include "Transforms/SymArithmetic.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LIFTWORKSPACEPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

class WorkspaceLifting {
public:
  WorkspaceLifting(func::FuncOp kernel, ArrayRef<Operation *> users)
      : kernel(kernel), users(users), sizes(kernel),
        builder(kernel.getContext()) {}

  void run() {
    temporaries = findTemporaries(kernel, sizes);
    if (temporaries.empty())
      return;
    bytes = layOutWorkspace(temporaries, sizes);
    if (!bytes || !canComputeOffsets() || !unifyCalls())
      return;
    for (auto [call, bytesOfCall] : calls)
      passWorkspace(call, bytesOfCall);
    changeKernel();
  }

private:
  /// Calls `fn` on each symbol that is a dimension or (axis -1) the value of an
  /// integer parameter, with its position.
  void walkPlainSymbols(function_ref<void(SymExprAttr, unsigned, int64_t)> fn) {
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
      if (auto symbol = kernel.getArgAttrOfType<StringAttr>(
              index, RelaxDialect::kSymbolAttr);
          symbol && kernel.getArgument(index).getType().isIndex())
        fn(sizes.getMath().symbol(symbol.getValue()), index, -1);
      if (auto shape = kernel.getArgAttrOfType<ShapeAttr>(
              index, RelaxDialect::kShapeAttr))
        for (auto [axis, dim] : llvm::enumerate(shape.getDims()))
          if (dim && dim.isSymbol())
            fn(dim, index, axis);
    }
  }

  /// Whether the kernel can compute each symbol in an offset: symbols that only
  /// callers can solve for have no value in the kernel.
  bool canComputeOffsets() {
    for (Temporary &temporary : temporaries)
      temporary.offset.walkSymbols(
          [&](StringAttr name) { needed.insert(name); });
    DenseSet<StringAttr> missing = needed;
    walkPlainSymbols([&](SymExprAttr symbol, unsigned, int64_t) {
      missing.erase(symbol.getName());
    });
    return missing.empty();
  }

  /// Finds the size for each call; false if a call cannot compute it.
  bool unifyCalls() {
    for (Operation *user : users) {
      auto call = dyn_cast<CallTIRInplaceOp>(user);
      // Destinations that are still to be allocated come after the operands.
      if (!call || llvm::is_contained(call.getInplaceIndices(), -1))
        return false;
      Signature signature = Signature::of(kernel);
      SymbolFacts facts(signature.ranges);
      Prover prover(call.getContext(), SymbolFacts::at(call));
      Unifier unifier(prover, call.getContext(), &facts);
      if (failed(unifyKernelCall(call, signature, call->getOperandTypes(), {},
                                 call.getSymArgs(), unifier)))
        return false;
      SymExprAttr bytesOfCall = unifier.instantiate(bytes);
      if (!bytesOfCall)
        return false;
      calls.push_back({call, bytesOfCall});
    }
    return true;
  }

  void passWorkspace(CallTIRInplaceOp call, SymExprAttr bytesOfCall) {
    builder.setInsertionPoint(call);
    Location loc = call.getLoc();
    RankedTensorType type = getTensorType(bytesOfCall, builder.getI8Type());
    Value storage = AllocStorageOp::create(builder, loc,
                                           StorageType::get(call.getContext()),
                                           bytesOfCall, kStorageAlignment);
    SmallVector<int64_t> inplace(call.getInplaceIndices());
    inplace.push_back(call->getNumOperands());
    SmallVector<Value> operands(call->getOperands());
    operands.push_back(TensorFromStorageOp::create(
        builder, loc, type, storage,
        SymExprAttr::getConstant(call.getContext(), 0)));
    SmallVector<Type> results(call->getResultTypes());
    results.push_back(type);
    auto lifted = CallTIRInplaceOp::create(
        builder, loc, results, call.getCalleeAttr(), operands,
        builder.getDenseI64ArrayAttr(inplace), call.getSymArgsAttr());
    lifted->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    call->replaceAllUsesWith(lifted->getResults().drop_back());
    call->erase();
  }

  void changeKernel() {
    // After the other buffers, before the integers.
    unsigned position =
        llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<MemRefType>);
    std::optional<int64_t> constant = bytes.getConstantValue();
    auto type = MemRefType::get(constant.value_or(ShapedType::kDynamic),
                                builder.getI8Type());
    NamedAttrList attributes;
    if (!constant)
      attributes.append(RelaxDialect::kShapeAttr,
                        ShapeAttr::get(kernel.getContext(), {bytes}));
    (void)kernel.insertArgument(position, type,
                                attributes.getDictionary(kernel.getContext()),
                                kernel.getLoc());
    BlockArgument workspace = kernel.getArgument(position);
    OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
    SizeBuilder values(entry, kernel.getLoc());
    walkPlainSymbols([&](SymExprAttr symbol, unsigned index, int64_t axis) {
      if (!needed.contains(symbol.getName()) || values.isDefined(symbol))
        return;
      Value value = kernel.getArgument(index);
      if (axis >= 0)
        value = memref::DimOp::create(entry, kernel.getLoc(), value, axis);
      values.define(symbol, value);
    });
    // Compute all offsets before erasing anything, including possibly `entry`.
    auto offsets = llvm::map_to_vector(temporaries, [&](Temporary &temporary) {
      return values.get(temporary.offset);
    });
    for (auto [temporary, offset] : llvm::zip_equal(temporaries, offsets)) {
      builder.setInsertionPoint(temporary.alloc);
      Value view = memref::ViewOp::create(
          builder, temporary.alloc.getLoc(), temporary.alloc.getType(),
          workspace, offset, temporary.alloc.getDynamicSizes());
      temporary.dealloc.erase();
      temporary.alloc.replaceAllUsesWith(view);
      temporary.alloc.erase();
    }
  }

  func::FuncOp kernel;
  ArrayRef<Operation *> users;
  KernelSizes sizes;
  OpBuilder builder;
  SmallVector<Temporary> temporaries;
  SymExprAttr bytes;
  DenseSet<StringAttr> needed; // symbols in offsets
  SmallVector<std::pair<CallTIRInplaceOp, SymExprAttr>> calls;
};

struct LiftWorkspace : relax::impl::LiftWorkspacePassBase<LiftWorkspace> {
  void runOnOperation() override {
    SmallVector<FuncOp> killing;
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (failed(verifyNoDataflow(function, getArgument())))
        return signalPassFailure();
      if (function.walk([](KillOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
        killing.push_back(function);
    }
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isInBufferForm(kernel) && kernel.getBody().hasOneBlock() &&
          !users.getUsers(kernel).empty())
        WorkspaceLifting(kernel, users.getUsers(kernel)).run();
    // The new allocations need kills, too.
    llvm::for_each(killing, insertKills);
  }
};

} // namespace
