//===- CodeGen.cpp - the LLVM dialect to machine code ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/CodeGen.h"
#include "Runtime/Core/TargetName.h"
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

/// What LLVM knows of a triple, and of a CPU with features on it; null if it
/// does not know the triple.
static std::unique_ptr<llvm::MCSubtargetInfo>
getSubtarget(const llvm::Triple &triple, StringRef cpu = "",
             StringRef features = "") {
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      found ? found->createMCSubtargetInfo(triple, cpu, features) : nullptr);
}

/// The number of a feature.
static std::optional<unsigned> findFeature(const llvm::MCSubtargetInfo &known,
                                           StringRef name) {
  for (const llvm::SubtargetFeatureKV &feature :
       known.getAllProcessorFeatures())
    if (name == feature.Key)
      return feature.Value;
  return std::nullopt;
}

/// The CPUs that code for the triple runs on: LLVM also lists x86 CPUs of 32
/// bits for x86-64, and aborts on them.
static SmallVector<StringRef> findCPUs(const llvm::MCSubtargetInfo &known) {
  std::optional<unsigned> needed;
  if (known.getTargetTriple().getArch() == llvm::Triple::x86_64)
    needed = findFeature(known, "64bit");
  SmallVector<StringRef> names;
  for (const llvm::SubtargetSubTypeKV &each :
       known.getAllProcessorDescriptions())
    if (!needed || each.Implies.getAsBitset().test(*needed))
      names.push_back(each.Key);
  return names;
}

/// Says which CPUs there are instead of `target.cpu`, which is not one of them.
static std::string describeCPUs(const CPUTarget &target,
                                const llvm::MCSubtargetInfo &known) {
  std::string text = "'" + target.cpu + "' is not a CPU of " + target.triple;
  for (const char *triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
    auto cpus = getSubtarget(llvm::Triple(triple));
    if (cpus && llvm::is_contained(findCPUs(*cpus), target.cpu))
      return text + "; for another system its triple is needed, as in '" +
             triple + ":" + target.cpu + "'";
  }
  return text + "; LLVM knows " + llvm::join(findCPUs(known), ", ");
}

/// Says which features there are instead of `name`, which is not one of them.
static std::string describeFeatures(const CPUTarget &target, StringRef name) {
  return "'" + name.str() + "' is not a feature of " + target.triple +
         "; code can use " +
         llvm::join(getKnownFeatures(llvm::Triple(target.triple)), ", ");
}

/// Whether LLVM knows the names in `target`, whose other forms it aborts on
/// (CPUs) or ignores (features).
static bool checkNames(const CPUTarget &target,
                       const llvm::MCSubtargetInfo &known, std::string &error) {
  if (!target.cpu.empty() && !llvm::is_contained(findCPUs(known), target.cpu)) {
    error = describeCPUs(target, known);
    return false;
  }
  for (auto &[name, isUsed] : target.features)
    if (!findFeature(known, name)) {
      error = describeFeatures(target, name);
      return false;
    }
  return true;
}

CPUTarget CPUTarget::host() {
  CPUTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    target.features[feature.first().str()] = feature.second;
  // A virtual machine may hide a feature that another one needs.
  target.change({});
  return target;
}

std::optional<CPUTarget> CPUTarget::parse(StringRef name, std::string &error) {
  relax_rt::TargetName read;
  if (!read.read(std::string_view(name), error))
    return std::nullopt;
  if (!read.device.empty()) {
    error = "'" + name.str() +
            "' is a GPU; expected a CPU, as in 'cpu:x86-64-v3', or a triple";
    return std::nullopt;
  }
  CPUTarget target;
  if (!read.cpu.triple.empty()) {
    static_cast<relax_rt::CPUName &>(target) = read.cpu;
    return target;
  }
  target = host();
  if (read.cpu.cpu.empty() || read.cpu.cpu == "native") {
    target.change(read.cpu);
    return target;
  }
  target.cpu = read.cpu.cpu;
  target.features = read.cpu.features;
  return target;
}

void CPUTarget::change(const relax_rt::CPUName &by) {
  std::string order = featureText() + "," + by.featureText();
  for (auto &[name, isUsed] : by.features)
    features[name] = isUsed;
  initializeTargets();
  std::string error;
  llvm::Triple parsed(triple);
  auto known = getSubtarget(parsed);
  if (!known || !checkNames(*this, *known, error))
    return;
  // LLVM applies features in order, with what they imply.
  known = getSubtarget(parsed, cpu, order);
  for (const llvm::SubtargetFeatureKV &feature :
       known->getAllProcessorFeatures())
    if (auto it = features.find(feature.Key); it != features.end())
      it->second = known->getFeatureBits().test(feature.Value);
}

/// Whether all features of `target` have taken effect: LLVM silently leaves out
/// features that need one that is left out.
static bool checkFeatures(const CPUTarget &target,
                          const llvm::MCSubtargetInfo &chosen,
                          std::string &error) {
  for (const llvm::SubtargetFeatureKV &feature :
       chosen.getAllProcessorFeatures()) {
    auto it = target.features.find(feature.Key);
    if (it == target.features.end() ||
        it->second == chosen.getFeatureBits().test(feature.Value))
      continue;
    error = "the features '" + target.featureText() +
            "' contradict each other: '" + feature.Key +
            "' needs one that is left out";
    return false;
  }
  return true;
}

/// Whether the features leave code its mode and the registers of its calling
/// convention, without which LLVM ends the process.
static bool checkMode(const CPUTarget &target,
                      const llvm::MCSubtargetInfo &chosen, std::string &error) {
  SmallVector<std::pair<StringRef, bool>> mode;
  if (chosen.getTargetTriple().getArch() == llvm::Triple::x86_64)
    mode = {{"64bit", true},       {"64bit-mode", true},
            {"sse2", true},        {"16bit-mode", false},
            {"32bit-mode", false}, {"soft-float", false}};
  else
    for (StringRef name :
         {"reserve-x1", "reserve-x2", "reserve-x3", "reserve-x4", "reserve-x5",
          "reserve-x6", "reserve-x7"})
      mode.push_back({name, false});
  for (auto [name, isNeeded] : mode) {
    std::optional<unsigned> feature = findFeature(chosen, name);
    if (!feature || chosen.getFeatureBits().test(*feature) == isNeeded)
      continue;
    error = "the features '" + target.featureText() + "' make no code for " +
            target.triple + ", which always has '" + (isNeeded ? "+" : "-") +
            name.str() + "'; leave that as it is";
    return false;
  }
  return true;
}

bool CPUTarget::check(std::string &error) const {
  return createTargetMachine(*this, error) != nullptr;
}

std::unique_ptr<llvm::TargetMachine>
relax::createTargetMachine(const CPUTarget &target, std::string &error) {
  initializeTargets();
  // LLVM ignores what follows the known words of a triple.
  if (!llvm::all_of(target.triple, [](char c) {
        return llvm::isAlnum(c) || StringRef("-_.").contains(c);
      })) {
    error = "'" + target.triple +
            "' is not a triple; expected words, as in 'aarch64-linux-gnu'";
    return nullptr;
  }
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  auto known = getSubtarget(triple);
  if (known && !checkNames(target, *known, error))
    return nullptr;
  llvm::TargetOptions options;
  auto level = llvm::CodeGenOpt::getLevel(std::min(target.optimization, 3u));
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.featureText(), options, llvm::Reloc::PIC_,
      std::nullopt, level ? *level : llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "no code generator for " + target.triple;
  else if (!checkFeatures(target, *machine->getMCSubtargetInfo(), error) ||
           !checkMode(target, *machine->getMCSubtargetInfo(), error))
    return nullptr;
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
