//===- CodeGen.cpp - the LLVM dialect to machine code ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/CodeGen.h"
#include "Target/CPU/BFloat16.h"
#include "Target/CPU/Features.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Disables machine-level loop-invariant code motion for functions that hold
/// many accumulators. It would hoist the constant vectors of an epilogue (such
/// as the coefficients of `exp`) out of the loop over tiles. They would then be
/// live across the reduction loop inside and take registers from the
/// accumulators: a matmul with 24 of them runs at half its speed. Other loops
/// want their constants in registers, and the LLVM option that disables the
/// pass applies to all functions.
class KeepAccumulators : public llvm::OptPassGate {
public:
  explicit KeepAccumulators(llvm::Module &module) {
    for (llvm::Function &function : module)
      for (llvm::BasicBlock &block : function) {
        unsigned vectors = llvm::count_if(block.phis(), [](llvm::PHINode &phi) {
          return phi.getType()->isVectorTy();
        });
        if (vectors >= 8)
          functions.insert(("function (" + function.getName() + ")").str());
      }
  }

  bool shouldRunPass(StringRef pass, StringRef description) const override {
    return !pass.ends_with("Machine Loop Invariant Code Motion") ||
           !functions.contains(description);
  }
  bool isEnabled() const override { return true; }

private:
  llvm::StringSet<> functions;
};

} // namespace

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

CPUTarget CPUTarget::host() {
  CPUTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  SmallVector<std::string> features;
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  return target;
}

std::unique_ptr<llvm::TargetMachine>
relax::createTargetMachine(const CPUTarget &target, std::string &error) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  // LLVM aborts on an unknown CPU.
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      found->createMCSubtargetInfo(triple, "", ""));
  if (!target.cpu.empty() && known && !known->isCPUStringValid(target.cpu)) {
    error = "LLVM knows no CPU '" + target.cpu + "' for " + target.triple;
    return nullptr;
  }
  // LLVM ignores unknown features.
  for (StringRef feature : llvm::split(target.features, ',')) {
    StringRef name = feature.drop_front(feature.empty() ? 0 : 1);
    bool isMarked = feature.starts_with("+") || feature.starts_with("-");
    if (feature.empty() || !known)
      continue;
    if (!isMarked ||
        llvm::none_of(known->getAllProcessorFeatures(),
                      [&](const auto &each) { return name == each.Key; })) {
      error = "'" + feature.str() + "' is not a feature that LLVM knows for " +
              target.triple + "; expected '+' or '-' and a name, as in '+avx2'";
      return nullptr;
    }
  }
  llvm::TargetOptions options;
  auto level = llvm::CodeGenOpt::getLevel(std::min(target.optimization, 3u));
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      std::nullopt, level ? *level : llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "no code generator for " + target.triple;
  return machine;
}

unsigned CPUTarget::vectorBits() const {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(*this, error);
  if (!machine)
    return 128;
  const llvm::MCSubtargetInfo &subtarget = *machine->getMCSubtargetInfo();
  auto has = [&](StringRef feature) {
    return subtarget.checkFeatures(("+" + feature).str());
  };
  if (!machine->getTargetTriple().isX86())
    return 128;
  return has("avx512f") ? 512 : has("avx2") ? 256 : 128;
}

SmallVector<std::string> CPUTarget::requiredFeatures() const {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(*this, error);
  SmallVector<std::string> names;
  if (machine)
    for (StringRef name : getRequiredFeatures(*machine))
      names.push_back(name.str());
  return names;
}

std::unique_ptr<llvm::Module>
relax::translateAndOptimize(ModuleOp module, llvm::LLVMContext &context,
                            llvm::TargetMachine &machine,
                            unsigned optimization) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return nullptr;
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  expandBFloat16(*translated, machine);
  for (llvm::Function &function : *translated) {
    if (function.isDeclaration())
      continue;
    // Schedules choose vector widths; do not let LLVM narrow them.
    function.addFnAttr("prefer-vector-width", "512");
    bool isBaseline = isEntry(function);
    function.addFnAttr("target-cpu", isBaseline ? "" : machine.getTargetCPU());
    function.addFnAttr("target-features",
                       isBaseline ? "" : machine.getTargetFeatureString());
  }
  addFeatureChecks(*translated, getRequiredFeatures(machine));
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optimization > 1;
  // Kernels are already vectorized where it pays off.
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel level = levels[std::min(optimization, 3u)];
  llvm::ModulePassManager passes =
      optimization ? builder.buildPerModuleDefaultPipeline(level)
                   : builder.buildO0DefaultPipeline(level);
  passes.run(*translated, modules);
  return translated;
}

static LogicalResult emit(ModuleOp module, const CPUTarget &target,
                          llvm::CodeGenFileType kind,
                          SmallVectorImpl<char> &output) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, error);
  if (!machine)
    return module.emitError()
           << "no code for target '" << target.triple << "': " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateAndOptimize(module, context, *machine, target.optimization);
  if (!translated)
    return failure();
  KeepAccumulators gate(*translated);
  context.setOptPassGate(gate);
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, kind))
    return module.emitError()
           << "target '" << target.triple << "' emits no files of this kind";
  codegen.run(*translated);
  return success();
}

LogicalResult relax::emitObject(ModuleOp module, const CPUTarget &target,
                                SmallVectorImpl<char> &object) {
  return emit(module, target, llvm::CodeGenFileType::ObjectFile, object);
}

LogicalResult relax::emitAssembly(ModuleOp module, const CPUTarget &target,
                                  SmallVectorImpl<char> &assembly) {
  return emit(module, target, llvm::CodeGenFileType::AssemblyFile, assembly);
}
