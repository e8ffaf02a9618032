//===- relax-translate.cpp - to LLVM IR and SPIR-V ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's translations. The two that leave MLIR are registered here, so that
// they accept modules in which attributes or functions of relax are left.
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/InitAllTranslations.h"
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

static LogicalResult toSPIRV(Operation *module, raw_ostream &os) {
  SmallVector<spirv::ModuleOp> found;
  module->walk([&](spirv::ModuleOp op) { found.push_back(op); });
  if (found.size() != 1)
    return module->emitError()
           << "expected one spirv.module, got " << found.size();
  SmallVector<uint32_t, 0> words;
  if (failed(spirv::serialize(found.front(), words)))
    return failure();
  os.write(reinterpret_cast<const char *>(words.data()), words.size() * 4);
  return success();
}

int main(int argc, char **argv) {
  registerFromLLVMIRTranslation();
  registerFromSPIRVTranslation();
  registerToCppTranslation();
  TranslateFromMLIRRegistration llvm(
      "mlir-to-llvmir", "LLVM IR of a module in the LLVM dialect", toLLVMIR,
      [](DialectRegistry &registry) {
        registry.insert<relax::RelaxDialect, DLTIDialect>();
        registerAllToLLVMIRTranslations(registry);
      });
  TranslateFromMLIRRegistration spirv(
      "serialize-spirv", "SPIR-V binary of the one spirv.module", toSPIRV,
      [](DialectRegistry &registry) {
        registry.insert<relax::RelaxDialect, spirv::SPIRVDialect>();
      });
  return failed(mlirTranslateMain(argc, argv, "relax-mlir translation driver"));
}
