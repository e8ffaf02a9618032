//===- Extension.cpp - what we add to MLIR's language server --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lsp/Extension.h"

#include "lsp/OpDocs.h"
#include "lsp/SizeSymbols.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::relax;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// Adds the documentation of an op to what the editor shows for it, which
/// starts with a line that has its name in quotes.
static bool addOpDocs(Object &hover) {
  Object *contents = hover.getObject("contents");
  std::optional<StringRef> text =
      contents ? contents->getString("value") : std::nullopt;
  if (!text || !text->starts_with("\""))
    return false;
  auto [line, rest] = text->split('\n');
  StringRef docs = getOpDocs(line.split('"').second.split('"').first);
  if (docs.empty())
    return false;
  (*contents)["value"] = (line + "\n\n" + docs + "\n\n---\n" + rest).str();
  return true;
}

/// The offset of a line of `text`; its size for a line behind the last.
static size_t findLine(StringRef text, int64_t line) {
  size_t offset = 0;
  for (; line > 0 && offset < text.size(); --line)
    offset = std::min(text.find('\n', offset), text.size() - 1) + 1;
  return offset;
}

/// The bytes of a character of UTF-8, by its first one. The protocol counts
/// units of UTF-16, of which a character of four bytes has two.
static size_t countBytes(char first) {
  unsigned char byte = first;
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The offset of a character, counted as the protocol counts, of a line. A line
/// that has fewer ends there.
static size_t findCharacter(StringRef text, int64_t line, int64_t character) {
  size_t offset = findLine(text, line);
  size_t end = std::min(text.find('\n', offset), text.size());
  while (offset < end && character > 0) {
    size_t bytes = countBytes(text[offset]);
    character -= bytes == 4 ? 2 : 1;
    offset += bytes;
  }
  return std::min(offset, end);
}

static Value makePosition(StringRef text, size_t offset) {
  int64_t line = text.take_front(offset).count('\n'), character = 0;
  for (size_t at = findLine(text, line); at < offset;) {
    size_t bytes = countBytes(text[at]);
    character += bytes == 4 ? 2 : 1;
    at += bytes;
  }
  return Object{{"line", line}, {"character", character}};
}

void Extension::see(const Object &message) {
  StringRef method = message.getString("method").value_or("");
  const Object *params = message.getObject("params");
  const Object *document = params ? params->getObject("textDocument") : nullptr;
  std::optional<StringRef> uri =
      document ? document->getString("uri") : std::nullopt;
  if (!uri)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (method == "textDocument/didOpen") {
    texts[*uri] = document->getString("text").value_or("").str();
  } else if (method == "textDocument/didClose") {
    texts.erase(*uri);
  } else if (method == "textDocument/didChange") {
    // The server asks for whole texts.
    const Array *changes = params->getArray("contentChanges");
    const Object *change =
        changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
    if (auto text = change ? change->getString("text") : std::nullopt)
      texts[*uri] = text->str();
  } else if (method == "textDocument/definition") {
    const Object *at = params->getObject("position");
    const Value *id = message.get("id");
    if (at && id)
      definitions[llvm::formatv("{0}", *id)] = {
          uri->str(), at->getInteger("line").value_or(0),
          at->getInteger("character").value_or(0)};
  }
}

Value Extension::findDefinition(const Position &at) {
  auto document = texts.find(at.uri);
  if (document == texts.end())
    return Array();
  StringRef text = document->second;
  size_t offset = findCharacter(text, at.line, at.character);
  std::optional<Span> found = findSizeSymbol(text, offset);
  if (!found)
    return Array();
  return Array{
      Object{{"uri", at.uri},
             {"range", Object{{"start", makePosition(text, found->begin)},
                              {"end", makePosition(text, found->end)}}}}};
}

bool Extension::extend(Object &answer) {
  Value *result = answer.get("result");
  if (Object *hover = result ? result->getAsObject() : nullptr)
    return addOpDocs(*hover);
  Value *id = answer.get("id");
  std::lock_guard<std::mutex> lock(mutex);
  auto asked =
      id ? definitions.find(llvm::formatv("{0}", *id)) : definitions.end();
  if (asked == definitions.end())
    return false;
  Position at = asked->second;
  definitions.erase(asked);
  // What MLIR's server finds is better: values, blocks and functions.
  Array *found = result ? result->getAsArray() : nullptr;
  if (!found || !found->empty())
    return false;
  *result = findDefinition(at);
  return true;
}
