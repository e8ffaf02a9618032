//===- relax-lsp-server.cpp - relax modules in an editor ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server (diagnostics, definitions, hover, completion) with the
// relax dialect, and the documentation of its ops where the editor hovers.
//
//===----------------------------------------------------------------------===//

#include "Registration/Registration.h"
#include "lsp/OpDocs.h"
#include "lsp/Relay.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

/// Adds the documentation of an op to what the editor shows for it, which
/// starts with a line that has its name in quotes.
static void addOpDocs(llvm::json::Value &result) {
  llvm::json::Object *hover = result.getAsObject();
  llvm::json::Object *contents = hover ? hover->getObject("contents") : nullptr;
  std::optional<StringRef> text =
      contents ? contents->getString("value") : std::nullopt;
  if (!text || !text->starts_with("\""))
    return;
  auto [line, rest] = text->split('\n');
  StringRef docs = relax::getOpDocs(line.split('"').second.split('"').first);
  if (!docs.empty())
    (*contents)["value"] = (line + "\n\n" + docs + "\n\n---\n" + rest).str();
}

int main(int argc, char **argv) {
  auto server = [&] {
    DialectRegistry registry;
    relax::registerDialects(registry);
    return int(failed(MlirLspServerMain(argc, argv, registry)));
  };
  return relax::runBehindRelay(server, addOpDocs);
}
