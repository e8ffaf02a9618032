//===- relax-opt.cpp - runs passes over relax modules ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration/Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/thread.h"

#include <csignal>

int main(int argc, char **argv) {
  // MLIR's parser recurses without limit over nested regions and attributes;
  // this stack allows some 100,000 levels (only touched pages cost memory).
  const std::optional<unsigned> stackSize = 512u << 20;
  mlir::LogicalResult result = mlir::failure();
  llvm::thread worker(stackSize, [&] {
    mlir::DialectRegistry registry;
    mlir::relax::registerDialects(registry);
    mlir::relax::registerPasses();
    result = mlir::MlirOptMain(argc, argv, "relax-mlir optimizer driver\n",
                               registry);
  });
  // Leave signals to the worker, so that a stack trace shows what it was doing.
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  worker.join();
  return mlir::asMainReturnCode(result);
}
