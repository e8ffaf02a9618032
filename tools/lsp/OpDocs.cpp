//===- OpDocs.cpp - documentation of the relax ops ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mlir-tblgen -gen-op-doc` writes one section for each op:
//
//   ### `relax.add` (relax::AddOp)
//   <summary, syntax, description, example>
//   Traits: ...                              with Interfaces, Effects, and
//   #### Operands:                           tables: not shown
//
//===----------------------------------------------------------------------===//

#include "lsp/OpDocs.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace mlir::relax;

static const char kPages[] =
#include "lsp/OpPages.inc"
    ;

static llvm::StringMap<StringRef> split(StringRef pages) {
  constexpr StringRef kStart = "\n### `";
  llvm::StringMap<StringRef> docs;
  pages = pages.split(kStart).second;
  while (!pages.empty()) {
    auto [section, rest] = pages.split(kStart);
    auto [heading, text] = section.split('\n');
    for (StringRef end :
         {"\nTraits: ", "\nInterfaces: ", "\nEffects: ", "\n#### "})
      text = text.take_front(text.find(end));
    docs[heading.split('`').first] = text.trim();
    pages = rest;
  }
  return docs;
}

StringRef relax::getOpDocs(StringRef name) {
  static const llvm::StringMap<StringRef> docs = split(kPages);
  return docs.lookup(name);
}
