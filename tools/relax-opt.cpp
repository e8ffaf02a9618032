//===- relax-opt.cpp - runs passes over relax modules ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::relax::registerDialects(registry);
  mlir::relax::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "relax-mlir optimizer driver\n", registry));
}
