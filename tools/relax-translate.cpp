//===- relax-translate.cpp - to LLVM IR, machine code and SPIR-V ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's translations, and machine code. Those that leave MLIR are registered
// here, so that they accept modules in which attributes or functions of relax
// are left.
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxDialect.h"
#include "Target/CPU/CodeGen.h"
#include "Target/SPIRV/Image.h"
#include "Target/SPIRV/Passes.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/IR/Module.h"

using namespace mlir;

static LogicalResult toLLVMIR(Operation *module, raw_ostream &os) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (translated)
    translated->print(os, nullptr);
  return success(translated != nullptr);
}

static llvm::cl::opt<std::string> targetName(
    "target",
    llvm::cl::desc("CPU of machine code: cpu:x86-64-v3,+avx512bf16, "
                   "or after a triple, aarch64-linux-gnu:cortex-a76"),
    llvm::cl::init("cpu"));
static llvm::cl::opt<unsigned>
    optimization("optimize", llvm::cl::desc("level of machine code, 0 to 3"),
                 llvm::cl::init(3));

template <LogicalResult (*emit)(ModuleOp, const relax::CPUTarget &,
                                SmallVectorImpl<char> &)>
static LogicalResult toMachineCode(Operation *op, raw_ostream &os) {
  std::string error;
  std::optional<relax::CPUTarget> target =
      relax::CPUTarget::parse(targetName, error);
  if (!target)
    return op->emitError("--target: ") << error;
  target->optimization = optimization;
  SmallVector<char> code;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError("expected a module");
  if (failed(emit(module, *target, code)))
    return failure();
  os.write(code.data(), code.size());
  return success();
}

static llvm::cl::opt<std::string>
    kernelName("kernel", llvm::cl::desc("whose SPIR-V, of several kernels"));

static LogicalResult toSPIRV(Operation *module, raw_ostream &os) {
  SmallVector<spirv::ModuleOp> found;
  module->walk([&](spirv::ModuleOp op) {
    if (kernelName.empty() ||
        op.getSymName() == relax::getSPIRVName(kernelName))
      found.push_back(op);
  });
  if (found.size() != 1) {
    InFlightDiagnostic error = module->emitError("expected one kernel");
    if (!kernelName.empty())
      error << " named '" << kernelName << "'";
    error << ", got " << found.size();
    if (found.size() > 1)
      error << ": --kernel=NAME says which";
    else
      error << "; kernels are launched by gpu.launch, or are modules of SPIR-V";
    return error;
  }
  SmallVector<uint32_t, 0> words;
  if (failed(relax::serializeKernel(found.front(), words)))
    return failure();
  os.write(reinterpret_cast<const char *>(words.data()), words.size() * 4);
  return success();
}

/// The same for kernels in launches (`relax-gpu-bufferize`).
static LogicalResult kernelsToSPIRV(Operation *module, raw_ostream &os) {
  PassManager manager(module->getContext());
  relax::buildSPIRVPipeline(manager);
  return failed(manager.run(module)) ? failure() : toSPIRV(module, os);
}

int main(int argc, char **argv) {
  registerFromLLVMIRTranslation();
  registerFromSPIRVTranslation();
  registerToCppTranslation();
  auto registerLLVM = [](DialectRegistry &registry) {
    registry.insert<relax::RelaxDialect, DLTIDialect>();
    registerAllToLLVMIRTranslations(registry);
  };
  TranslateFromMLIRRegistration llvm("mlir-to-llvmir",
                                     "LLVM IR of a module in the LLVM dialect",
                                     toLLVMIR, registerLLVM);
  TranslateFromMLIRRegistration object(
      "relax-to-object", "object file of a module in the LLVM dialect",
      toMachineCode<relax::emitObject>, registerLLVM);
  TranslateFromMLIRRegistration assembly(
      "relax-to-assembly", "assembly of a module in the LLVM dialect",
      toMachineCode<relax::emitAssembly>, registerLLVM);
  TranslateFromMLIRRegistration spirv(
      "serialize-spirv", "SPIR-V binary of the one spirv.module", toSPIRV,
      [](DialectRegistry &registry) {
        registry.insert<relax::RelaxDialect, spirv::SPIRVDialect>();
      });
  TranslateFromMLIRRegistration kernels(
      "relax-to-spirv", "SPIR-V binary of a kernel that is launched",
      kernelsToSPIRV, [](DialectRegistry &registry) {
        registerAllDialects(registry);
        registerAllExtensions(registry);
        registry.insert<relax::RelaxDialect>();
      });
  return failed(mlirTranslateMain(argc, argv, "relax-mlir translation driver"));
}
