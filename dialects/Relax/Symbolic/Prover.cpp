//===- Prover.cpp - proofs about symbolic expressions ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/Prover.h"
#include "Relax/Symbolic/Reasoner.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::relax;

SymbolFacts SymbolFacts::at(Operation *op) {
  while (op && !isa<FunctionOpInterface>(op))
    op = op->getParentOp();
  if (!op)
    return {};
  return SymbolFacts(op->getAttrOfType<DictionaryAttr>("relax.symbols"));
}

SymbolFacts::Range SymbolFacts::get(StringAttr symbol) const {
  auto range = symbols ? symbols.getAs<RangeAttr>(symbol) : RangeAttr();
  if (!range)
    return {};
  return {range.getLower(), range.getUpper(), range.getMultipleOf()};
}

/// Evaluates `ask(reasoner, lhs, rhs)` on two expressions, assumed to be
/// defined, first as they are and then simplified. The answer is unknown for
/// null.
template <typename Ask>
static Truth askTwice(MLIRContext *context, const SymbolFacts &facts,
                      SymExprAttr lhs, SymExprAttr rhs, Ask ask) {
  if (!lhs || !rhs)
    return Truth::Unknown;
  Reasoner reasoner(context, facts);
  reasoner.assumeDefined(lhs);
  reasoner.assumeDefined(rhs);
  if (Truth answer = ask(reasoner, lhs, rhs); answer != Truth::Unknown)
    return answer;
  SymExprAttr left = reasoner.simplify(lhs), right = reasoner.simplify(rhs);
  if (left == lhs && right == rhs)
    return Truth::Unknown;
  return ask(reasoner, left, right);
}

Truth Prover::equal(SymExprAttr lhs, SymExprAttr rhs) const {
  if (lhs && lhs == rhs)
    return Truth::Yes;
  return askTwice(context, facts, lhs, rhs,
                  [](Reasoner &reasoner, auto a, auto b) {
                    if (reasoner.different(a, b))
                      return Truth::No;
                    return reasoner.equal(a, b) ? Truth::Yes : Truth::Unknown;
                  });
}

Truth Prover::less(SymExprAttr lhs, SymExprAttr rhs) const {
  switch (lessEqual(rhs, lhs)) {
  case Truth::Yes:
    return Truth::No;
  case Truth::No:
    return Truth::Yes;
  case Truth::Unknown:
    return Truth::Unknown;
  }
  llvm_unreachable("unknown truth");
}

Truth Prover::lessEqual(SymExprAttr lhs, SymExprAttr rhs) const {
  if (lhs && lhs == rhs)
    return Truth::Yes;
  return askTwice(
      context, facts, lhs, rhs, [](Reasoner &reasoner, auto a, auto b) {
        if (reasoner.atMost(a, b))
          return Truth::Yes;
        return reasoner.atMost(b, a, 1) ? Truth::No : Truth::Unknown;
      });
}

Truth Prover::divisible(SymExprAttr value, SymExprAttr divisor) const {
  auto ask = [&](Reasoner &reasoner, SymExprAttr a, SymExprAttr b) {
    if (!reasoner.nonZero(b))
      return Truth::Unknown;
    if (b.isConstant())
      return reasoner.divisible(a, b.getValue());
    SymExprAttr zero = SymExprAttr::getConstant(context, 0);
    if (SymBuilder(context).exactDiv(a, b) || reasoner.equal(a, zero))
      return Truth::Yes;
    // 0 < a < b
    bool isBetween = reasoner.atMost(zero, a, 1) && reasoner.atMost(a, b, 1);
    return isBetween ? Truth::No : Truth::Unknown;
  };
  return askTwice(context, facts, value, divisor, ask);
}

SymInterval Prover::interval(SymExprAttr value) const {
  SymInterval result;
  if (!value)
    return result;
  Reasoner reasoner(context, facts);
  reasoner.assumeDefined(value);
  WideInterval range = reasoner.interval(value);
  if (SymExprAttr simple = reasoner.simplify(value); simple != value)
    range = range.meet(reasoner.interval(simple));
  if (range.isEmpty())
    return result;
  if (range.lower >= -kMaxSymValue)
    result.lower = std::min(range.lower, kMaxSymValue);
  if (range.upper <= kMaxSymValue)
    result.upper = std::max(range.upper, -kMaxSymValue);
  return result;
}

SymExprAttr Prover::simplify(SymExprAttr value) const {
  return value ? Reasoner(context, facts).simplify(value) : value;
}
