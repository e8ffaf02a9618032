//===- Features.cpp - what machine code needs of a CPU --------------------===//
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

using namespace llvm;

SmallVector<StringRef>
mlir::relax::getRequiredFeatures(const TargetMachine &machine) {
  static constexpr StringLiteral x86[] = {
#define RELAX_X86_FEATURE(name, leaf, subleaf, register, bit, state) name,
#include "Runtime/CPUFeatures.def"
  };
  static constexpr StringLiteral aarch64[] = {
#define RELAX_AARCH64_FEATURE(name, word, bit) name,
#include "Runtime/CPUFeatures.def"
  };
  const Triple &triple = machine.getTargetTriple();
  ArrayRef<StringLiteral> known;
  if (triple.isX86())
    known = x86;
  else if (triple.isAArch64())
    known = aarch64;
  StringSet<> enabled;
  for (const SubtargetFeatureKV &feature :
       machine.getMCSubtargetInfo()->getEnabledProcessorFeatures())
    enabled.insert(feature.Key);
  SmallVector<StringRef> required;
  for (StringRef name : known) // a name may be there twice, in a row
    if (enabled.contains(name) && (required.empty() || required.back() != name))
      required.push_back(name);
  return required;
}

bool mlir::relax::isEntry(const Function &function) {
  return function.hasExternalLinkage() &&
         (function.getName().starts_with("__tvm_ffi_") ||
          function.getName() == "relax_unload");
}

void mlir::relax::addFeatureChecks(Module &module,
                                   ArrayRef<StringRef> features) {
  if (features.empty())
    return;
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context);
  Type *pointer = PointerType::getUnqual(context);
  GlobalVariable *names = nullptr, *isChecked = nullptr;
  FunctionCallee require;
  for (Function &function : module) {
    // What returns nothing calls the runtime alone.
    if (function.isDeclaration() || !isEntry(function) ||
        !function.getReturnType()->isIntegerTy(32))
      continue;
    if (!names) {
      Constant *text =
          ConstantDataArray::getString(context, join(features, ","));
      names = new GlobalVariable(module, text->getType(), /*isConstant=*/true,
                                 GlobalValue::PrivateLinkage, text,
                                 "relax.cpu_features");
      isChecked = new GlobalVariable(
          module, i32, /*isConstant=*/false, GlobalValue::PrivateLinkage,
          ConstantInt::get(i32, 0), "relax.cpu_is_checked");
      require = module.getOrInsertFunction("relax_rt_require_cpu", i32, pointer,
                                           pointer);
    }
    IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    LoadInst *known = builder.CreateLoad(i32, isChecked);
    known->setAtomic(AtomicOrdering::Monotonic);
    Instruction *unknown = SplitBlockAndInsertIfThen(
        builder.CreateIsNull(known), builder.GetInsertPoint(),
        /*Unreachable=*/false,
        MDBuilder(context).createUnlikelyBranchWeights());
    builder.SetInsertPoint(unknown);
    Value *status = builder.CreateCall(require, {names, isChecked});
    Instruction *failed = SplitBlockAndInsertIfThen(
        builder.CreateIsNotNull(status), unknown, /*Unreachable=*/true);
    builder.SetInsertPoint(failed);
    builder.CreateRet(status);
    failed->eraseFromParent();
  }
}
