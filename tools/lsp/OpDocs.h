//===- OpDocs.h - documentation of the relax ops ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TOOLS_LSP_OPDOCS_H
#define RELAX_TOOLS_LSP_OPDOCS_H

#include "mlir/Support/LLVM.h"

namespace mlir::relax {

/// Summary, syntax, description and example of an op ("relax.add") from ODS, as
/// Markdown; empty for an op that is unknown.
StringRef getOpDocs(StringRef name);

} // namespace mlir::relax

#endif // RELAX_TOOLS_LSP_OPDOCS_H
