//===- SymExprParser.cpp - text of symbolic expressions -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sum    ::= term (('+' | '-') term)*
//   term   ::= unary (('*' | 'floordiv' | 'ceildiv' | 'mod') unary)*
//   unary  ::= '-' unary | integer | symbol | '(' sum ')'
//            | ('min' | 'max' | 'broadcast') '(' sum (',' sum)* ')'
//
// One recursive-descent parser reads from MLIR's parser and from plain strings;
// only the tokenizers differ. Sums and products are collected and built in one
// step, so that long ones take linear time.
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxAttrs.h"
#include "Relax/Symbolic/SymBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr StringRef kInfixWords[] = {"floordiv", "ceildiv", "mod"};

static bool isReserved(StringRef word) {
  return llvm::is_contained({StringRef("floordiv"), StringRef("ceildiv"),
                             StringRef("mod"), StringRef("min"),
                             StringRef("max"), StringRef("broadcast")},
                            word);
}

static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isWordPart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
}

bool relax::isValidSymbolName(StringRef name) {
  return !name.empty() && isWordStart(name.front()) &&
         llvm::all_of(name, isWordPart) && !isReserved(name);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

namespace {
/// The tokenizer interface of the grammar: consumes the next token if it
/// matches.
class Tokens {
public:
  virtual ~Tokens() = default;
  virtual SMLoc getLocation() = 0;
  /// One of + - * ( ) ,
  virtual bool consume(char punctuation) = 0;
  virtual bool consumeWord(StringRef &word) = 0;
  virtual bool consumeInfixWord(StringRef &word) = 0;
  /// An unsigned integer.
  virtual bool consumeInteger(APInt &value) = 0;
  /// Whether errors are reported.
  virtual bool reportsErrors() const { return true; }
  virtual InFlightDiagnostic emitError(SMLoc location) = 0;
};

class AsmTokens final : public Tokens {
public:
  explicit AsmTokens(AsmParser &parser) : parser(parser) {}

  SMLoc getLocation() override { return parser.getCurrentLocation(); }
  bool consume(char punctuation) override {
    switch (punctuation) {
    case '+':
      return succeeded(parser.parseOptionalPlus());
    case '-':
      return succeeded(parser.parseOptionalMinus());
    case '*':
      return succeeded(parser.parseOptionalStar());
    case '(':
      return succeeded(parser.parseOptionalLParen());
    case ')':
      return succeeded(parser.parseOptionalRParen());
    case ',':
      return succeeded(parser.parseOptionalComma());
    }
    llvm_unreachable("not in the grammar");
  }
  bool consumeWord(StringRef &word) override {
    return succeeded(parser.parseOptionalKeyword(&word));
  }
  bool consumeInfixWord(StringRef &word) override {
    return succeeded(parser.parseOptionalKeyword(&word, kInfixWords));
  }
  bool consumeInteger(APInt &value) override {
    OptionalParseResult result = parser.parseOptionalInteger(value);
    return result.has_value() && succeeded(*result);
  }
  InFlightDiagnostic emitError(SMLoc location) override {
    return parser.emitError(location);
  }

private:
  AsmParser &parser;
};

class TextTokens final : public Tokens {
public:
  TextTokens(StringRef text, EmitErrorFn emit)
      : text(text), rest(text.ltrim()), emit(emit) {}

  bool atEnd() const { return rest.empty(); }

  SMLoc getLocation() override { return SMLoc::getFromPointer(rest.data()); }
  bool consume(char punctuation) override {
    return rest.starts_with(punctuation) && take(1).size() == 1;
  }
  bool consumeWord(StringRef &word) override {
    if (rest.empty() || !isWordStart(rest.front()))
      return false;
    word = take(rest.take_while(isWordPart).size());
    return true;
  }
  bool consumeInfixWord(StringRef &word) override {
    StringRef next = rest.take_while(isWordPart);
    return llvm::is_contained(kInfixWords, next) && consumeWord(word);
  }
  bool consumeInteger(APInt &value) override {
    // Hexadecimal integers as in MLIR.
    bool isHex =
        rest.size() > 2 && rest.starts_with("0x") && llvm::isHexDigit(rest[2]);
    if (rest.empty() || !llvm::isDigit(rest.front()))
      return false;
    StringRef digits = rest.drop_front(isHex ? 2 : 0).take_while([&](char c) {
      return isHex ? llvm::isHexDigit(c) : llvm::isDigit(c);
    });
    take(digits.size() + (isHex ? 2 : 0));
    // 40 digits suffice to detect overflow, in less time than all digits.
    digits.ltrim('0').take_front(40).getAsInteger(isHex ? 16 : 10, value);
    return true;
  }
  bool reportsErrors() const override { return bool(emit); }
  InFlightDiagnostic emitError(SMLoc location) override {
    constexpr size_t shown =
        40; // characters on each side of an error in a long text
    size_t column = location.getPointer() - text.data();
    size_t start = column > shown ? column - shown : 0;
    StringRef part = text.substr(start, 2 * shown);
    InFlightDiagnostic diagnostic = emit();
    diagnostic << "in '" << (start == 0 ? "" : "...") << part
               << (part.end() == text.end() ? "" : "...") << "', column "
               << column + 1 << ": ";
    return diagnostic;
  }

private:
  /// Consumes `size` characters and the space after them.
  StringRef take(size_t size) {
    StringRef token = rest.take_front(size);
    rest = rest.drop_front(size).ltrim();
    return token;
  }

  StringRef text, rest;
  EmitErrorFn emit;
};

//===----------------------------------------------------------------------===//
// Grammar
//===----------------------------------------------------------------------===//

/// Every `parse` function returns null after it has reported an error.
class ExprParser {
public:
  ExprParser(Tokens &tokens, MLIRContext *context)
      : tokens(tokens), location(tokens.getLocation()),
        emit([this] { return this->tokens.emitError(location); }),
        builder(context, tokens.reportsErrors() ? EmitErrorFn(emit) : nullptr) {
  }

  SymExprAttr parseSum() {
    SMLoc start = tokens.getLocation();
    SmallVector<SymExprAttr> terms;
    bool negative = false;
    do {
      SymExprAttr term = parseTerm();
      if (term && negative)
        term = at(start).neg(term);
      if (!term)
        return {};
      terms.push_back(term);
      negative = tokens.consume('-');
    } while (negative || tokens.consume('+'));
    return terms.size() == 1 ? terms.front() : at(start).sum(terms);
  }

  SymExprAttr expected(const Twine &what) {
    return fail(tokens.getLocation(), "expected " + what);
  }

private:
  SymExprAttr parseTerm() {
    SMLoc start = tokens.getLocation();
    SmallVector<SymExprAttr> factors;
    auto push = [&](SymExprAttr factor) {
      factors.push_back(factor);
      return bool(factor);
    };
    auto multiply = [&] {
      return factors.size() == 1 ? factors.front() : at(start).product(factors);
    };
    if (!push(parseUnary()))
      return {};
    while (true) {
      SMLoc operation = tokens.getLocation();
      StringRef word;
      if (tokens.consume('*')) {
        if (!push(parseUnary()))
          return {};
      } else if (tokens.consumeInfixWord(word)) {
        SymExprAttr lhs = multiply();
        SymExprAttr rhs = lhs ? parseUnary() : lhs;
        factors.clear();
        if (!rhs || !push(applyInfix(at(operation), word, lhs, rhs)))
          return {};
      } else {
        return multiply();
      }
    }
  }

  static SymExprAttr applyInfix(SymBuilder &builder, StringRef word,
                                SymExprAttr lhs, SymExprAttr rhs) {
    if (word == "floordiv")
      return builder.floordiv(lhs, rhs);
    if (word == "ceildiv")
      return builder.ceildiv(lhs, rhs);
    return builder.mod(lhs, rhs);
  }

  SymExprAttr parseUnary() {
    SMLoc start = tokens.getLocation();
    bool negative = false;
    while (tokens.consume('-'))
      negative = !negative;
    SymExprAttr value = parsePrimary();
    return negative && value ? at(start).neg(value) : value;
  }

  SymExprAttr parsePrimary() {
    SMLoc start = tokens.getLocation();
    APInt integer;
    StringRef word;
    // Before integers: MLIR would read `true` as 1.
    if (tokens.consumeWord(word))
      return parseWord(word, start);
    if (tokens.consumeInteger(integer)) {
      if (integer.getActiveBits() < 64)
        return at(start).constant(integer.getZExtValue());
      return fail(start, "integer " +
                             (integer.getActiveBits() < 128
                                  ? llvm::toString(integer, 10, false) + " "
                                  : "") +
                             "does not fit in 64 bits");
    }
    if (tokens.consume('(')) {
      SmallVector<SymExprAttr> operands;
      return parseNested(start, operands, /*single=*/true) ? operands.front()
                                                           : SymExprAttr();
    }
    return expected("a symbol, an integer, '(' or a call of min, max or "
                    "broadcast");
  }

  SymExprAttr parseWord(StringRef word, SMLoc start) {
    if (isValidSymbolName(word))
      return at(start).symbol(word);
    if (llvm::is_contained(kInfixWords, word))
      return fail(start, "expected an operand before '" + word + "'");
    if (!tokens.consume('('))
      return expected("'(' after '" + word + "'");
    SmallVector<SymExprAttr> operands;
    if (!parseNested(start, operands, /*single=*/false))
      return {};
    if (word == "min")
      return at(start).min(operands);
    if (word == "max")
      return at(start).max(operands);
    return at(start).broadcast(operands);
  }

  /// Parses the rest of `( sum, sum )`. All recursion passes through here.
  bool parseNested(SMLoc start, SmallVectorImpl<SymExprAttr> &operands,
                   bool single) {
    if (++depth > kMaxSymDepth) {
      fail(start, "symbolic expression nests more than " + Twine(kMaxSymDepth) +
                      " levels deep");
      return false;
    }
    do {
      operands.push_back(parseSum());
      if (!operands.back())
        return false;
    } while (!single && tokens.consume(','));
    --depth;
    if (tokens.consume(')'))
      return true;
    expected(single ? "an operator or ')'" : "an operator, ',' or ')'");
    return false;
  }

  SymExprAttr fail(SMLoc where, const Twine &message) {
    if (tokens.reportsErrors())
      tokens.emitError(where) << message;
    return {};
  }

  /// The builder, with errors reported at `where`.
  SymBuilder &at(SMLoc where) {
    location = where;
    return builder;
  }

  Tokens &tokens;
  SMLoc location;
  std::function<InFlightDiagnostic()> emit;
  SymBuilder builder;
  unsigned depth = 0;
};
} // namespace

FailureOr<SymExprAttr> relax::parseSymExpr(AsmParser &parser) {
  AsmTokens tokens(parser);
  SymExprAttr expr = ExprParser(tokens, parser.getContext()).parseSum();
  if (!expr)
    return failure();
  return expr;
}

ParseResult relax::parseSymDims(AsmParser &parser,
                                SmallVectorImpl<SymExprAttr> &dims) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        if (succeeded(parser.parseOptionalQuestion())) {
          dims.push_back({});
          return success();
        }
        FailureOr<SymExprAttr> dim = parseSymExpr(parser);
        dims.push_back(succeeded(dim) ? *dim : SymExprAttr());
        return success(succeeded(dim));
      });
}

SymExprAttr relax::parseSymExpr(StringRef text, MLIRContext *context,
                                EmitErrorFn emitError) {
  TextTokens tokens(text, emitError);
  ExprParser parser(tokens, context);
  SymExprAttr expr = parser.parseSum();
  if (!expr || tokens.atEnd())
    return expr;
  return parser.expected("an operator or the end");
}

Attribute SymExprAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<SymExprAttr> expr = parseSymExpr(parser);
  if (failed(expr) || parser.parseGreater())
    return {};
  return *expr;
}
