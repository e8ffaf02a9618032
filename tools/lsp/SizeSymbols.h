//===- SizeSymbols.h - where a symbol of sizes is defined -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TOOLS_LSP_SIZESYMBOLS_H
#define RELAX_TOOLS_LSP_SIZESYMBOLS_H

#include "mlir/Support/LLVM.h"

namespace mlir::relax {

/// A part of a text.
struct Span {
  size_t begin, end;
};

/// Where the symbol at `offset` of MLIR text, such as `n` in
/// `#relax.shape<[2*n]>`, is defined: the first plain dimension or integer
/// parameter that has its name in the same function. None if `offset` is at
/// nothing of the kind.
std::optional<Span> findSizeSymbol(StringRef text, size_t offset);

} // namespace mlir::relax

#endif // RELAX_TOOLS_LSP_SIZESYMBOLS_H
