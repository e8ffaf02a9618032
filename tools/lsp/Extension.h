//===- Extension.h - what we add to MLIR's language server ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TOOLS_LSP_EXTENSION_H
#define RELAX_TOOLS_LSP_EXTENSION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <mutex>

namespace mlir::relax {

/// Adds the documentation of relax ops where the editor hovers, and the
/// definitions of symbols of sizes. Its functions may run at the same time.
class Extension {
public:
  /// Call for each message of the editor, before the server has it.
  void see(const llvm::json::Object &message);
  /// Call for each answer of the server; returns whether it was changed.
  bool extend(llvm::json::Object &answer);

private:
  struct Position {
    std::string uri;
    int64_t line, character;
  };

  llvm::json::Value findDefinition(const Position &at);

  std::mutex mutex;
  llvm::StringMap<std::string> texts;          // by URI
  std::map<std::string, Position> definitions; // asked for, by the request's id
};

} // namespace mlir::relax

#endif // RELAX_TOOLS_LSP_EXTENSION_H
