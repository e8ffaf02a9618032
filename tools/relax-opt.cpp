//===- relax-opt.cpp - runs passes over relax modules ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxDialect.h"
#include "Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::relax::RelaxDialect>();
  mlir::registerAllPasses();
  mlir::relax::registerRelaxPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "relax-mlir optimizer driver\n", registry));
}
