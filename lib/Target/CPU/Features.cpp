//===- Features.cpp - CPU features that code requires ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Features.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;

llvm::SmallVector<llvm::StringRef>
relax::getKnownFeatures(const llvm::Triple &triple) {
  static constexpr llvm::StringLiteral x86[] = {
#define RELAX_X86_FEATURE(name, leaf, subleaf, register, bit, state) name,
#include "Runtime/Core/CPUFeatures.def"
  };
  static constexpr llvm::StringLiteral aarch64[] = {
#define RELAX_AARCH64_FEATURE(name, word, bit) name,
#include "Runtime/Core/CPUFeatures.def"
  };
  llvm::SmallVector<llvm::StringRef> known;
  if (triple.isX86())
    known.assign(std::begin(x86), std::end(x86));
  else if (triple.isAArch64())
    known.assign(std::begin(aarch64), std::end(aarch64));
  // A name that stands for two bits is listed twice in a row.
  known.erase(llvm::unique(known), known.end());
  return known;
}

llvm::SmallVector<llvm::StringRef>
relax::getRequiredFeatures(const llvm::TargetMachine &machine) {
  llvm::StringSet<> enabled;
  for (const llvm::SubtargetFeatureKV &feature :
       machine.getMCSubtargetInfo()->getEnabledProcessorFeatures())
    enabled.insert(feature.Key);
  return llvm::filter_to_vector(
      getKnownFeatures(machine.getTargetTriple()),
      [&](llvm::StringRef name) { return enabled.contains(name); });
}

bool relax::isEntry(const llvm::Function &function) {
  return function.hasExternalLinkage() &&
         (function.getName().starts_with("__tvm_ffi_") ||
          function.getName() == "relax_unload");
}

void relax::addFeatureChecks(llvm::Module &module,
                             llvm::ArrayRef<llvm::StringRef> features) {
  if (features.empty())
    return;
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *i32 = llvm::Type::getInt32Ty(context);
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  llvm::GlobalVariable *names = nullptr, *isChecked = nullptr;
  llvm::FunctionCallee require;
  for (llvm::Function &function : module) {
    // Functions that return nothing are only called by the runtime.
    if (function.isDeclaration() || !isEntry(function) ||
        !function.getReturnType()->isIntegerTy(32))
      continue;
    if (!names) {
      llvm::Constant *text = llvm::ConstantDataArray::getString(
          context, llvm::join(features, ","));
      names = new llvm::GlobalVariable(
          module, text->getType(), /*isConstant=*/true,
          llvm::GlobalValue::PrivateLinkage, text, "relax.cpu_features");
      isChecked = new llvm::GlobalVariable(
          module, i32, /*isConstant=*/false, llvm::GlobalValue::PrivateLinkage,
          llvm::ConstantInt::get(i32, 0), "relax.cpu_is_checked");
      require = module.getOrInsertFunction("relax_rt_require_cpu", i32, pointer,
                                           pointer);
    }
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    llvm::LoadInst *known = builder.CreateLoad(i32, isChecked);
    known->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::Instruction *unknown = llvm::SplitBlockAndInsertIfThen(
        builder.CreateIsNull(known), builder.GetInsertPoint(),
        /*Unreachable=*/false,
        llvm::MDBuilder(context).createUnlikelyBranchWeights());
    builder.SetInsertPoint(unknown);
    llvm::Value *status = builder.CreateCall(require, {names, isChecked});
    llvm::Instruction *failed = llvm::SplitBlockAndInsertIfThen(
        builder.CreateIsNotNull(status), unknown, /*Unreachable=*/true);
    builder.SetInsertPoint(failed);
    builder.CreateRet(status);
    failed->eraseFromParent();
  }
}
