//===- Expressions.cpp - C interface of sizes and the prover --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI/Unwrap.h"

using namespace mlir;
using namespace mlir::relax;

static_assert(MlirRelaxSymSum == static_cast<unsigned>(SymKind::Sum) &&
                  MlirRelaxSymMod == static_cast<unsigned>(SymKind::Mod),
              "the C enumeration mirrors SymKind");
static_assert(MlirRelaxTruthUnknown == static_cast<unsigned>(Truth::Unknown) &&
                  MlirRelaxTruthYes == static_cast<unsigned>(Truth::Yes),
              "the C enumeration mirrors Truth");

//===----------------------------------------------------------------------===//
// Symbolic expressions
//===----------------------------------------------------------------------===//

bool mlirAttributeIsARelaxSymExpr(MlirAttribute attr) {
  return isa<SymExprAttr>(unwrap(attr));
}
MlirTypeID mlirRelaxSymExprGetTypeID() {
  return wrap(SymExprAttr::getTypeID());
}

MlirAttribute mlirRelaxSymExprConstant(MlirContext context, int64_t value) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(SymBuilder(unwrap(context), emitError).constant(value));
}

MlirAttribute mlirRelaxSymExprSymbol(MlirContext context, MlirStringRef name) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(SymBuilder(unwrap(context), emitError).symbol(unwrap(name)));
}

MlirAttribute mlirRelaxSymExprParse(MlirContext context, MlirStringRef text) {
  return wrap(
      parseSymExpr(unwrap(text), unwrap(context), errorsOf(unwrap(context))));
}

MlirAttribute mlirRelaxSymExprCombine(MlirRelaxSymKind kind,
                                      intptr_t numOperands,
                                      MlirAttribute const *attrs) {
  SmallVector<SymExprAttr> operands = unwrapExprs(numOperands, attrs);
  if (operands.empty())
    return {};
  MLIRContext *context = operands.front().getContext();
  auto emitError = errorsOf(context);
  SymBuilder math(context, emitError);
  bool isBinary = kind == MlirRelaxSymFloorDiv || kind == MlirRelaxSymCeilDiv ||
                  kind == MlirRelaxSymMod;
  if (isBinary && operands.size() != 2) {
    emitError() << "a division has two operands, got " << operands.size();
    return {};
  }
  switch (kind) {
  case MlirRelaxSymSum:
    return wrap(math.sum(operands));
  case MlirRelaxSymProduct:
    return wrap(math.product(operands));
  case MlirRelaxSymFloorDiv:
    return wrap(math.floordiv(operands[0], operands[1]));
  case MlirRelaxSymCeilDiv:
    return wrap(math.ceildiv(operands[0], operands[1]));
  case MlirRelaxSymMod:
    return wrap(math.mod(operands[0], operands[1]));
  case MlirRelaxSymMin:
    return wrap(math.min(operands));
  case MlirRelaxSymMax:
    return wrap(math.max(operands));
  case MlirRelaxSymBroadcast:
    return wrap(math.broadcast(operands));
  case MlirRelaxSymConstant:
  case MlirRelaxSymSymbol:
    break;
  }
  emitError() << "constants and symbols have no operands";
  return {};
}

MlirAttribute mlirRelaxSymExprSub(MlirAttribute lhs, MlirAttribute rhs) {
  MLIRContext *context = unwrap(lhs).getContext();
  auto emitError = errorsOf(context);
  return wrap(
      SymBuilder(context, emitError).sub(unwrapExpr(lhs), unwrapExpr(rhs)));
}

MlirAttribute mlirRelaxSymExprSubstitute(MlirAttribute expr,
                                         intptr_t numSymbols,
                                         MlirStringRef const *symbols,
                                         MlirAttribute const *values) {
  MLIRContext *context = unwrap(expr).getContext();
  SymSubstitution with;
  for (intptr_t i = 0; i < numSymbols; ++i)
    with[StringAttr::get(context, unwrap(symbols[i]))] = unwrapExpr(values[i]);
  auto emitError = errorsOf(context);
  return wrap(
      SymBuilder(context, emitError).substitute(unwrapExpr(expr), with));
}

bool mlirRelaxSymExprEvaluate(MlirAttribute expr, intptr_t numSymbols,
                              MlirStringRef const *symbols,
                              int64_t const *values, int64_t *result) {
  MLIRContext *context = unwrap(expr).getContext();
  SymAssignment assignment;
  for (intptr_t i = 0; i < numSymbols; ++i)
    assignment[StringAttr::get(context, unwrap(symbols[i]))] = values[i];
  std::optional<int64_t> value = evaluate(unwrapExpr(expr), assignment);
  if (value)
    *result = *value;
  return value.has_value();
}

MlirRelaxSymKind mlirRelaxSymExprGetKind(MlirAttribute expr) {
  return static_cast<MlirRelaxSymKind>(unwrapExpr(expr).getKind());
}
int64_t mlirRelaxSymExprGetValue(MlirAttribute expr) {
  return unwrapExpr(expr).getValue();
}
MlirStringRef mlirRelaxSymExprGetName(MlirAttribute expr) {
  StringAttr name = unwrapExpr(expr).getName();
  return wrap(name ? name.getValue() : StringRef());
}
intptr_t mlirRelaxSymExprGetNumOperands(MlirAttribute expr) {
  return unwrapExpr(expr).getOperands().size();
}
MlirAttribute mlirRelaxSymExprGetOperand(MlirAttribute expr, intptr_t index) {
  return wrap(unwrapExpr(expr).getOperands()[index]);
}
int64_t mlirRelaxSymExprGetCoefficient(MlirAttribute expr, intptr_t index) {
  ArrayRef<int64_t> coefficients = unwrapExpr(expr).getCoefficients();
  return coefficients.empty() ? 1 : coefficients[index];
}

void mlirRelaxSymExprPrint(MlirAttribute expr, MlirStringCallback callback,
                           void *userData) {
  mlir::detail::CallbackOstream os(callback, userData);
  unwrapExpr(expr).printExpr(os);
}

void mlirRelaxSymExprWalkSymbols(MlirAttribute expr,
                                 MlirStringCallback callback, void *userData) {
  unwrapExpr(expr).walkSymbols(
      [&](StringAttr name) { callback(wrap(name.getValue()), userData); });
}

//===----------------------------------------------------------------------===//
// Prover and unifier
//===----------------------------------------------------------------------===//

static Prover proverOf(MlirAttribute ranges, MlirAttribute expr) {
  return Prover(unwrap(expr).getContext(), unwrapFacts(ranges));
}

MlirRelaxTruth mlirRelaxProveEqual(MlirAttribute ranges, MlirAttribute lhs,
                                   MlirAttribute rhs) {
  return wrapTruth(
      proverOf(ranges, lhs).equal(unwrapExpr(lhs), unwrapExpr(rhs)));
}
MlirRelaxTruth mlirRelaxProveLess(MlirAttribute ranges, MlirAttribute lhs,
                                  MlirAttribute rhs) {
  return wrapTruth(
      proverOf(ranges, lhs).less(unwrapExpr(lhs), unwrapExpr(rhs)));
}
MlirRelaxTruth mlirRelaxProveLessEqual(MlirAttribute ranges, MlirAttribute lhs,
                                       MlirAttribute rhs) {
  return wrapTruth(
      proverOf(ranges, lhs).lessEqual(unwrapExpr(lhs), unwrapExpr(rhs)));
}
MlirRelaxTruth mlirRelaxProveDivisible(MlirAttribute ranges,
                                       MlirAttribute value,
                                       MlirAttribute divisor) {
  return wrapTruth(proverOf(ranges, value)
                       .divisible(unwrapExpr(value), unwrapExpr(divisor)));
}

void mlirRelaxSymExprInterval(MlirAttribute ranges, MlirAttribute value,
                              bool *hasLower, int64_t *lower, bool *hasUpper,
                              int64_t *upper) {
  SymInterval interval = proverOf(ranges, value).interval(unwrapExpr(value));
  *hasLower = interval.lower.has_value();
  *lower = interval.lower.value_or(0);
  *hasUpper = interval.upper.has_value();
  *upper = interval.upper.value_or(0);
}

MlirAttribute mlirRelaxSymExprSimplify(MlirAttribute ranges,
                                       MlirAttribute value) {
  return wrap(proverOf(ranges, value).simplify(unwrapExpr(value)));
}

MlirLogicalResult
mlirRelaxUnify(MlirContext context, MlirAttribute ranges,
               MlirAttribute patternRanges, intptr_t numEquations,
               MlirAttribute const *patterns, MlirAttribute const *actuals,
               MlirRelaxBindingCallback onBinding,
               MlirRelaxEquationCallback onUndecided, void *userData) {
  Prover prover(unwrap(context), unwrapFacts(ranges));
  SymbolFacts patternFacts = unwrapFacts(patternRanges);
  Unifier unifier(prover, unwrap(context), &patternFacts);
  for (intptr_t i = 0; i < numEquations; ++i)
    unifier.add(unwrapExpr(patterns[i]), unwrapExpr(actuals[i]),
                "equation " + Twine(i));
  if (failed(unifier.solve(errorsOf(unwrap(context)))))
    return mlirLogicalResultFailure();
  for (auto [symbol, value] : unifier.getBindings())
    onBinding(wrap(symbol.getValue()), wrap(value), userData);
  for (const Unifier::Equation &equation : unifier.getUndecided())
    onUndecided(wrap(equation.pattern), wrap(equation.actual), userData);
  return mlirLogicalResultSuccess();
}
