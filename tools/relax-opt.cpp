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
  // MLIR's parser recurses over nested regions and attributes without a limit;
  // this stack takes some 100,000 levels (only what is touched costs memory).
  const std::optional<unsigned> stackSize = 512u << 20;
  mlir::LogicalResult result = mlir::failure();
  llvm::thread worker(stackSize, [&] {
    mlir::DialectRegistry registry;
    mlir::relax::registerDialects(registry);
    mlir::relax::registerPasses();
    result = mlir::MlirOptMain(argc, argv, "relax-mlir optimizer driver\n",
                               registry);
  });
  // Signals are for the worker: a stack trace then shows what it does.
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  worker.join();
  return mlir::asMainReturnCode(result);
}
