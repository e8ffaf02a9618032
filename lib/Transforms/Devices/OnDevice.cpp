//===- OnDevice.cpp - lower the functions of one side ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   module              module                         module
//     @main (device)      @main                          @main
//     @pick (host)   ──▶  module: @pick, @k' of @k  ──▶  @k
//     @k                  @k                             @pick, @k_0 …
//                            └── the pipeline runs here
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement.h"
#include "Relax/Notes.h"
#include "Transforms/Devices/Passes.h"
#include "Transforms/Memory/Writes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::relax {
#define GEN_PASS_DEF_ONDEVICEPASS
#include "Transforms/Devices/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Collects the symbol names that `op` references.
void collectUses(Operation *op, llvm::StringSet<> &names) {
  if (std::optional<SymbolTable::UseRange> uses =
          SymbolTable::getSymbolUses(op))
    for (SymbolTable::SymbolUse use : *uses)
      names.insert(use.getSymbolRef().getRootReference().getValue());
}

/// The functions of one side, moved into a nested module.
class Part {
public:
  /// Moves `functions` into the part, with everything they reference.
  Part(ModuleOp whole, ArrayRef<FuncOp> functions)
      : whole(whole), writes(whole) {
    auto builder = OpBuilder::atBlockEnd(whole.getBody());
    part = ModuleOp::create(builder, whole.getLoc());
    part->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
    SymbolTable table(whole);
    for (FuncOp function : functions)
      take(function);
    llvm::StringSet<> usedOutside;
    for (Operation &op : *whole.getBody())
      if (&op != part)
        collectUses(&op, usedOutside);
    // Functions called from outside must be kept, and their callers may still
    // need the arguments.
    for (FuncOp function : functions) {
      if (!usedOutside.contains(function.getSymName()))
        continue;
      function->removeAttr(notes::kDonated);
      if (function.isPrivate()) {
        function.setPublic();
        shown.insert(function.getSymName());
      }
    }
    for (FuncOp function : functions)
      copyUses(function, table);
  }

  ModuleOp get() { return part; }

  /// Moves everything back, renaming symbols that are taken.
  void putBack(bool onHost) {
    SymbolTable inside(part);
    llvm::StringSet<> taken;
    for (Operation &op : *whole.getBody())
      if (auto symbol = dyn_cast<SymbolOpInterface>(op);
          symbol && &op != part && !copied.contains(&op))
        taken.insert(symbol.getName());
    eraseUnused();
    for (Operation *op : copied)
      taken.insert(cast<SymbolOpInterface>(op).getName());
    for (Operation &op : llvm::make_early_inc_range(*part.getBody())) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      auto function = dyn_cast<FuncOp>(op);
      if (function && function.isExternal() &&
          taken.contains(function.getSymName())) {
        op.erase();
        continue;
      }
      if (symbol && taken.contains(symbol.getName()))
        rename(inside, &op, symbol.getName(), taken);
    }
    for (Operation &op : llvm::make_early_inc_range(*part.getBody())) {
      auto function = dyn_cast<FuncOp>(op);
      if (function && shown.contains(function.getSymName()))
        function.setPrivate();
      if (function && onHost)
        function->setAttr(notes::kDevice,
                          StringAttr::get(op.getContext(), notes::kHostPlace));
      op.moveBefore(part);
    }
    part.erase();
  }

private:
  void take(Operation *op) {
    op->moveBefore(part.getBody(), part.getBody()->end());
  }

  /// Copies the symbols that `op` references, transitively. Graph functions
  /// become declarations that note which parameters they write and return.
  void copyUses(Operation *op, SymbolTable &table) {
    llvm::StringSet<> names;
    collectUses(op, names);
    for (StringRef name : sorted(names)) {
      Operation *used = table.lookup(name);
      if (!used || used->getParentOp() == part || !known.insert(name).second)
        continue;
      auto function = dyn_cast<FuncOp>(used);
      Operation *copy = function ? used->cloneWithoutRegions() : used->clone();
      part.push_back(copy);
      if (function) {
        cast<FuncOp>(copy).setPrivate();
        SmallVector<int64_t> written(writes.getParameters(function).set_bits());
        if (!written.empty())
          copy->setAttr(notes::kWritten,
                        DenseI64ArrayAttr::get(copy->getContext(), written));
        copy->setAttr(notes::kReturned, getReturned(function));
        continue;
      }
      copied.insert(used);
      copyUses(copy, table);
    }
  }

  /// Builds the attribute that lists which parameters a function returns.
  ArrayAttr getReturned(FuncOp function) const {
    Builder builder(function.getContext());
    SmallVector<Attribute> returned;
    for (const llvm::SmallBitVector &parameters :
         writes.getAliases().getReturned(function))
      returned.push_back(builder.getDenseI64ArrayAttr(
          SmallVector<int64_t>(parameters.set_bits())));
    return builder.getArrayAttr(returned);
  }

  static SmallVector<StringRef> sorted(const llvm::StringSet<> &names) {
    SmallVector<StringRef> result(names.keys());
    llvm::sort(result);
    return result;
  }

  /// Erases the originals of copied symbols that nothing outside the part uses.
  void eraseUnused() {
    for (bool changed = true; changed;) {
      llvm::StringSet<> used;
      for (Operation &op : *whole.getBody())
        if (&op != part)
          collectUses(&op, used);
      changed = false;
      for (Operation *op : llvm::to_vector(copied)) {
        if (used.contains(cast<SymbolOpInterface>(op).getName()))
          continue;
        copied.remove(op);
        op->erase();
        changed = true;
      }
    }
  }

  void rename(SymbolTable &inside, Operation *op, StringRef name,
              const llvm::StringSet<> &taken) {
    unsigned counter = 0;
    std::string fresh =
        SymbolTable::generateSymbolName<64>(
            name,
            [&](StringRef candidate) {
              return taken.contains(candidate) || inside.lookup(candidate);
            },
            counter)
            .str()
            .str();
    (void)inside.rename(op, fresh);
  }

  ModuleOp whole, part;
  Writes writes;                       // of the whole module
  llvm::SetVector<Operation *> copied; // in the whole module
  llvm::StringSet<> known, shown;
};

struct OnDevice : relax::impl::OnDevicePassBase<OnDevice> {
  using OnDevicePassBase::OnDevicePassBase;

  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(OnDevicePassBase::initializeOptions(options, errorHandler)))
      return failure();
    if (place != notes::kHostPlace && place != notes::kDevicePlace)
      return errorHandler("there is no place '" + place +
                          "'; there are \"host\" and \"device\"");
    std::string message;
    llvm::raw_string_ostream errors(message);
    if (failed(parsePassPipeline(pipeline, passes, errors)))
      return errorHandler(message);
    return success();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OnDevicePassBase::getDependentDialects(registry);
    passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkPlaces(module)))
      return signalPassFailure();
    bool onHost = place == notes::kHostPlace;
    SmallVector<FuncOp> functions;
    for (FuncOp function : module.getOps<FuncOp>())
      if (!function.isExternal() && runsOnHost(function) == onHost)
        functions.push_back(function);
    if (functions.empty())
      return;
    Part part(module, functions);
    bool ran = succeeded(runPipeline(passes, part.get()));
    part.putBack(onHost);
    if (!ran)
      signalPassFailure();
  }

  OpPassManager passes{ModuleOp::getOperationName()};
};

} // namespace
