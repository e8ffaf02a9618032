//===- relax-lsp-server.cpp - relax modules in an editor ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server (diagnostics, definitions, hover, completion) with the
// relax dialect, and what lsp/Extension.h adds.
//
//===----------------------------------------------------------------------===//

#include "Registration/Registration.h"
#include "lsp/Relay.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  relax::Extension extension;
  auto server = [&] {
    DialectRegistry registry;
    relax::registerDialects(registry);
    return int(failed(MlirLspServerMain(argc, argv, registry)));
  };
  return relax::runBehindRelay(server, extension);
}
