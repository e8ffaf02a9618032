//===- Registration.cpp - dialects and passes of the tools ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration/Registration.h"

#include "Registration/Passes.h"
#include "Relax/RelaxDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void mlir::relax::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<RelaxDialect>();
  // Translations that the pass which emits PTX needs.
  registerAllGPUToLLVMIRTranslations(registry);
}

void mlir::relax::registerPasses() {
  registerAllPasses();
  registerRelaxPasses();
}
