//===- SizeChecks.cpp - checks of sizes at run time -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/SizeChecks.h"

#include "Relax/RelaxOps.h"
#include "Transforms/SymArithmetic.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

/// The declared bound, as text, that would prove a comparison; empty unless it
/// is about a single symbol.
static std::string describeBound(const Guard::Comparison &comparison) {
  bool isStrict = comparison.predicate == arith::CmpIPredicate::slt;
  if (!isStrict && comparison.predicate != arith::CmpIPredicate::sle)
    return {};
  SymBuilder math(comparison.lhs.getContext());
  return getSufficientBound(math.linear({comparison.rhs, comparison.lhs},
                                        {1, -1}, isStrict ? -1 : 0));
}

void SizeChecks::add(Operation *op, const Guard &guard, bool shows) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto value = [&](SymExprAttr expr) {
    return SymOp::create(builder, loc, expr).getResult();
  };
  Value holds;
  for (const Guard::Comparison &comparison : guard.anyOf) {
    Value one =
        arith::CmpIOp::create(builder, loc, comparison.predicate,
                              value(comparison.lhs), value(comparison.rhs));
    holds = holds ? arith::OrIOp::create(builder, loc, holds, one) : one;
  }
  std::string message;
  llvm::raw_string_ostream text(message);
  text << op->getName().stripDialect() << ": " << guard.message;
  llvm::SmallSetVector<SymExprAttr, 4> sizes;
  for (const Guard::Comparison &comparison : guard.anyOf)
    for (SymExprAttr expr : {comparison.lhs, comparison.rhs})
      if (shows && !expr.isConstant())
        sizes.insert(expr);
  Value shown[2];
  for (auto [index, expr] :
       llvm::enumerate(sizes.getArrayRef().take_front(2))) {
    text << (index ? ", " : ": ") << expr.str() << " = %" << index;
    shown[index] = value(expr);
  }
  const Guard::Comparison &first = guard.anyOf.front();
  if (shows && guard.anyOf.size() == 1 && sizes.size() == 1 &&
      first.predicate == arith::CmpIPredicate::eq)
    text << ", expected "
         << (first.lhs.isConstant() ? first.lhs : first.rhs).str();
  if (shows && guard.anyOf.size() == 1)
    if (std::string bound = describeBound(first); !bound.empty())
      text << "; declare " << bound << " to remove this check";
  AssertOp::create(builder, loc, holds, builder.getStringAttr(message),
                   shown[0], shown[1]);
  isUsed = true;
}

void SizeChecks::addForResult(Operation *op, Type type) {
  Prover prover(op->getContext(), SymbolFacts::at(op));
  SymExprAttr zero = SymBuilder(op->getContext()).constant(0);
  for (auto [index, dim] :
       llvm::enumerate(getSymDims(cast<RankedTensorType>(type))))
    if (prover.lessEqual(zero, dim) != Truth::Yes)
      add(op,
          {{{arith::CmpIPredicate::sle, zero, dim}},
           ("dimension " + Twine(index) + " of the result must not be negative")
               .str()});
}
