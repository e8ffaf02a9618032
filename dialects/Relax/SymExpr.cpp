//===- SymExpr.cpp - order and text of symbolic expressions ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nodes of `#relax.expr` themselves: uniquing, the order of their parts,
// and printing. Symbolic/SymExprParser.cpp reads the text back.
//
// One order serves operands, factors and terms, and it is the printed order:
// every expression is seen as a list of terms,
//
//   2*m*n + n + n floordiv 4 + 7
//   └─ degree 2 ─┘ └ degree 1 ┘ └ degree 0
//
// compared by degree (high first), then term by term, then by constant. Between
// monomials this is the graded lexicographic order, which multiplication keeps,
// so that the first term leads a polynomial division.
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxAttrs.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

SymExprAttr SymExprAttr::getRaw(MLIRContext *context, SymKind kind,
                                int64_t value, StringAttr name,
                                ArrayRef<SymExprAttr> operands,
                                ArrayRef<int64_t> coefficients) {
  unsigned depth = 0;
  for (SymExprAttr operand : operands)
    depth = std::max(depth, operand.getDepth());
  return get(context, kind, value, name, operands, coefficients, depth + 1);
}

SymExprAttr SymExprAttr::getConstant(MLIRContext *context, int64_t value) {
  return getRaw(context, SymKind::Constant, value, {}, {}, {});
}

SymExprAttr SymExprAttr::getSymbol(MLIRContext *context, StringRef name) {
  return getRaw(context, SymKind::Symbol, 0, StringAttr::get(context, name), {},
                {});
}

std::optional<int64_t> SymExprAttr::getConstantValue() const {
  return isConstant() ? std::optional(getValue()) : std::nullopt;
}

static void walkSymbols(SymExprAttr expr, DenseSet<SymExprAttr> &visited,
                        function_ref<void(StringAttr)> fn) {
  if (!visited.insert(expr).second)
    return;
  if (expr.isSymbol())
    fn(expr.getName());
  for (SymExprAttr operand : expr.getOperands())
    walkSymbols(operand, visited, fn);
}

void SymExprAttr::walkSymbols(function_ref<void(StringAttr)> fn) const {
  DenseSet<SymExprAttr> visited;
  ::walkSymbols(*this, visited, fn);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

template <typename T>
static int compareValues(const T &lhs, const T &rhs) {
  return lhs < rhs ? -1 : rhs < lhs;
}

/// The monomials of `expr`, seen as a sum. `expr` itself must outlive them.
static ArrayRef<SymExprAttr> getMonomials(const SymExprAttr &expr) {
  if (expr.getKind() == SymKind::Sum)
    return expr.getOperands();
  return expr.isConstant() ? ArrayRef<SymExprAttr>() : ArrayRef(expr);
}

static int64_t getCoefficient(SymExprAttr expr, size_t index) {
  return expr.getKind() == SymKind::Sum ? expr.getCoefficients()[index] : 1;
}

static ArrayRef<SymExprAttr> getFactors(const SymExprAttr &monomial) {
  return monomial.getKind() == SymKind::Product ? monomial.getOperands()
                                                : ArrayRef(monomial);
}

/// The degree of the leading monomial.
static size_t getDegree(SymExprAttr expr) {
  ArrayRef<SymExprAttr> monomials = getMonomials(expr);
  return monomials.empty() ? 0 : getFactors(monomials.front()).size();
}

/// The comparisons below only recurse into the first pair that differs: equal
/// parts have equal pointers.
template <typename Compare>
static int compareLists(ArrayRef<SymExprAttr> lhs, ArrayRef<SymExprAttr> rhs,
                        Compare compare) {
  for (auto [left, right] : llvm::zip(lhs, rhs))
    if (left != right)
      return compare(left, right);
  return compareValues(lhs.size(), rhs.size());
}

/// Symbols by name, then opaque terms by kind and operands.
static int compareFactors(SymExprAttr lhs, SymExprAttr rhs) {
  if (lhs.getKind() != rhs.getKind())
    return compareValues(lhs.getKind(), rhs.getKind());
  if (lhs.isSymbol())
    return lhs.getName().getValue().compare(rhs.getName().getValue());
  return compareLists(lhs.getOperands(), rhs.getOperands(),
                      SymExprAttr::compare);
}

static int compareMonomials(SymExprAttr lhs, SymExprAttr rhs) {
  ArrayRef<SymExprAttr> left = getFactors(lhs), right = getFactors(rhs);
  if (left.size() != right.size())
    return compareValues(right.size(), left.size());
  return compareLists(left, right, compareFactors);
}

int SymExprAttr::compare(SymExprAttr lhs, SymExprAttr rhs) {
  if (lhs == rhs)
    return 0;
  if (size_t left = getDegree(lhs), right = getDegree(rhs); left != right)
    return compareValues(right, left);
  ArrayRef<SymExprAttr> left = getMonomials(lhs), right = getMonomials(rhs);
  for (size_t i = 0, e = std::min(left.size(), right.size()); i != e; ++i) {
    if (left[i] != right[i])
      return compareMonomials(left[i], right[i]);
    if (int order =
            compareValues(getCoefficient(lhs, i), getCoefficient(rhs, i)))
      return order;
  }
  if (left.size() != right.size())
    return compareValues(left.size(), right.size());
  return compareValues(lhs.getValue(), rhs.getValue());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `floordiv` and the like; empty if the kind is not infix.
static StringRef getInfix(SymKind kind) {
  switch (kind) {
  case SymKind::FloorDiv:
    return "floordiv";
  case SymKind::CeilDiv:
    return "ceildiv";
  case SymKind::Mod:
    return "mod";
  default:
    return "";
  }
}

static StringRef getFunction(SymKind kind) {
  switch (kind) {
  case SymKind::Min:
    return "min";
  case SymKind::Max:
    return "max";
  case SymKind::Broadcast:
    return "broadcast";
  default:
    return "";
  }
}

/// Prints `expr` as an operand of `*`, `floordiv` and the like.
static void printOperand(raw_ostream &os, SymExprAttr expr) {
  bool isAtom = expr.isConstant() || expr.isSymbol() ||
                !getFunction(expr.getKind()).empty();
  os << (isAtom ? "" : "(");
  expr.printExpr(os);
  os << (isAtom ? "" : ")");
}

static void printTerm(raw_ostream &os, SymExprAttr monomial,
                      uint64_t coefficient, bool bare) {
  if (coefficient == 1 && bare)
    return monomial.printExpr(os);
  if (coefficient != 1)
    os << coefficient << '*';
  llvm::interleave(
      getFactors(monomial), os,
      [&](SymExprAttr factor) { printOperand(os, factor); }, "*");
}

/// Terms in order, except that the first positive one leads: `n - m`.
static void printSum(raw_ostream &os, SymExprAttr sum) {
  ArrayRef<int64_t> coefficients = sum.getCoefficients();
  size_t lead = llvm::find_if(coefficients, [](int64_t c) { return c > 0; }) -
                coefficients.begin();
  if (lead == coefficients.size())
    lead = 0;

  bool first = true;
  auto print = [&](size_t index) {
    int64_t coefficient = coefficients[index];
    bool negative = coefficient < 0;
    os << (first ? (negative ? "-" : "") : (negative ? " - " : " + "));
    printTerm(os, sum.getOperands()[index],
              negative ? -coefficient : coefficient, !negative);
    first = false;
  };
  print(lead);
  for (size_t i = 0, e = coefficients.size(); i != e; ++i)
    if (i != lead)
      print(i);
  if (int64_t value = sum.getValue())
    os << (value < 0 ? " - " : " + ") << (value < 0 ? -value : value);
}

void SymExprAttr::printExpr(raw_ostream &os) const {
  switch (getKind()) {
  case SymKind::Constant:
    os << getValue();
    return;
  case SymKind::Symbol:
    os << getName().getValue();
    return;
  case SymKind::Sum:
    return printSum(os, *this);
  case SymKind::Product:
    return printTerm(os, *this, 1, /*bare=*/false);
  case SymKind::FloorDiv:
  case SymKind::CeilDiv:
  case SymKind::Mod:
    printOperand(os, getOperands()[0]);
    os << ' ' << getInfix(getKind()) << ' ';
    printOperand(os, getOperands()[1]);
    return;
  case SymKind::Min:
  case SymKind::Max:
  case SymKind::Broadcast:
    os << getFunction(getKind()) << '(';
    llvm::interleaveComma(getOperands(), os,
                          [&](SymExprAttr op) { op.printExpr(os); });
    os << ')';
    return;
  }
}

std::string SymExprAttr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printExpr(os);
  return text;
}

void SymExprAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printExpr(printer.getStream());
  printer << '>';
}

void relax::printSymDims(raw_ostream &os, ArrayRef<SymExprAttr> dims) {
  os << '[';
  llvm::interleaveComma(dims, os, [&](SymExprAttr dim) {
    if (dim)
      dim.printExpr(os);
    else
      os << '?';
  });
  os << ']';
}
