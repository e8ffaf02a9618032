//===- SizeSymbols.cpp - where a symbol of sizes is defined ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser of MLIR records no locations inside of attributes, so the text is
// searched. That finds the definition, because uses come after it:
//
//   relax.func @f(%x: tensor<?x?xf32, #relax.shape<[2*n, n]>>) ... {
//                                      a use, then ─┘    └─ the definition
//
//===----------------------------------------------------------------------===//

#include "lsp/SizeSymbols.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace mlir::relax;

static bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The name around `offset`.
static Span findName(StringRef text, size_t offset) {
  Span name{offset, offset};
  while (name.begin > 0 && isNamePart(text[name.begin - 1]))
    --name.begin;
  while (name.end < text.size() && isNamePart(text[name.end]))
    ++name.end;
  return name;
}

/// Whether a position is inside of what `open` begins and `close` ends.
static bool isBetween(StringRef text, size_t at, StringRef open,
                      StringRef close) {
  size_t begin = text.take_front(at).rfind(open);
  return begin != StringRef::npos && !text.slice(begin, at).contains(close);
}

static bool isInShape(StringRef text, Span name) {
  return isBetween(text, name.begin, "#relax.shape<[", "]>") ||
         isBetween(text, name.begin, "!relax.shape<[", "]>");
}

static bool isSymbol(StringRef text, Span name) {
  return isInShape(text, name) ||
         isBetween(text, name.begin, "relax.symbols = {", "}") ||
         isBetween(text, name.begin, "relax.sym ", " :") ||
         isBetween(text, name.begin, "relax.shape [", "]") ||
         isBetween(text, name.begin, "relax.symbol = \"", "\"");
}

static bool isDefinition(StringRef text, Span name) {
  StringRef before = text.take_front(name.begin);
  if (before.ends_with("relax.symbol = \""))
    return true;
  before = before.rtrim();
  StringRef after = text.drop_front(name.end).ltrim();
  return isInShape(text, name) &&
         (before.ends_with("[") || before.ends_with(",")) &&
         (after.starts_with("]") || after.starts_with(","));
}

static std::optional<Span> findDefinition(StringRef text, StringRef symbol,
                                          Span within) {
  for (size_t at = within.begin;; ++at) {
    at = text.find(symbol, at);
    if (at == StringRef::npos || at >= within.end)
      return std::nullopt;
    Span name = findName(text, at);
    if (name.begin == at && name.end == at + symbol.size() &&
        isDefinition(text, name))
      return name;
  }
}

/// The function around `offset`, from its name on.
static Span findFunction(StringRef text, size_t offset) {
  size_t begin = text.take_front(offset).rfind("relax.func");
  size_t kernel = text.take_front(offset).rfind("func.func");
  if (begin == StringRef::npos || (kernel != StringRef::npos && kernel > begin))
    begin = kernel;
  if (begin == StringRef::npos)
    begin = 0;
  size_t end =
      std::min(text.find("relax.func", offset), text.find("func.func", offset));
  return {begin, std::min(end, text.size())};
}

std::optional<Span> relax::findSizeSymbol(StringRef text, size_t offset) {
  if (offset > text.size())
    return std::nullopt;
  Span name = findName(text, offset);
  StringRef symbol = text.slice(name.begin, name.end);
  if (symbol.empty() || llvm::isDigit(symbol.front()) || !isSymbol(text, name))
    return std::nullopt;
  if (auto found = findDefinition(text, symbol, findFunction(text, offset)))
    return found;
  // The type may be an alias before the functions.
  return findDefinition(text, symbol, {0, text.size()});
}
