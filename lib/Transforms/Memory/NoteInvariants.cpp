//===- NoteInvariants.cpp - note constant kernel parameters ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Core.h"
#include "Transforms/Memory/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {
#define GEN_PASS_DEF_NOTEINVARIANTSPASS
#include "Transforms/Memory/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Whether an operand is constant in all calls, and they only read it.
static bool isInvariant(ArrayRef<Operation *> calls, unsigned index) {
  return llvm::all_of(calls, [&](Operation *call) {
    auto inplace = dyn_cast<CallTIRInplaceOp>(call);
    return (inplace ? !llvm::is_contained(inplace.getInplaceIndices(), index)
                    : isa<CallTIROp>(call)) &&
           index < call->getNumOperands() &&
           call->getOperand(index).getDefiningOp<ConstantOp>();
  });
}

namespace {

struct NoteInvariants : relax::impl::NoteInvariantsPassBase<NoteInvariants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection tables;
    SymbolUserMap users(tables, module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      ArrayRef<Operation *> calls = users.getUsers(kernel);
      if (!kernel.isPrivate() || calls.empty())
        continue;
      for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
        if (isa<ShapedType>(type) && isInvariant(calls, index))
          kernel.setArgAttr(index, notes::kInvariant,
                            UnitAttr::get(&getContext()));
    }
  }
};

} // namespace
