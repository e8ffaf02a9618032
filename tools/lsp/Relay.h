//===- Relay.h - messages between an editor and MLIR's server ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server has no hooks: it reads the standard input, answers on
// the standard output, and its classes are private. So it runs in a process of
// its own, and this one passes the messages on:
//
//   editor ── messages, if they are safe to parse ──> server
//   editor <── answers, with what we add ──────────── server
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TOOLS_LSP_RELAY_H
#define RELAX_TOOLS_LSP_RELAY_H

#include "lsp/Extension.h"

namespace mlir::relax {

/// Runs `server` in a new process, whose standard streams are connected to
/// those of this process, and shows all messages to `extension`. Returns in the
/// new process; this one exits with the status of the server.
int runBehindRelay(function_ref<int()> server, Extension &extension);

} // namespace mlir::relax

#endif // RELAX_TOOLS_LSP_RELAY_H
