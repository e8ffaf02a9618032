//===- Relax.h - C interface of the relax dialect ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface under the Python bindings, in the style of MLIR's C API. A
// function that fails emits a diagnostic on the context and returns a null
// object. Where a dimension is expected, a null attribute means that it is
// unknown.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CAPI_RELAX_H
#define RELAX_CAPI_RELAX_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Relax, relax);

/// Registers all passes of the project in this process. May be called
/// repeatedly.
MLIR_CAPI_EXPORTED void mlirRelaxRegisterPasses(void);
/// Gives a context the shared threads of the process, which also work in a
/// forked child.
MLIR_CAPI_EXPORTED void mlirRelaxShareThreads(MlirContext context);
/// Returns whether a pass or pipeline of that name is registered.
MLIR_CAPI_EXPORTED bool mlirRelaxIsPassRegistered(MlirStringRef argument);

//===----------------------------------------------------------------------===//
// Symbolic expressions
//===----------------------------------------------------------------------===//

/// The kinds of expressions, as in `mlir::relax::SymKind`.
enum MlirRelaxSymKind {
  MlirRelaxSymConstant,
  MlirRelaxSymSymbol,
  MlirRelaxSymProduct,
  MlirRelaxSymFloorDiv,
  MlirRelaxSymCeilDiv,
  MlirRelaxSymMod,
  MlirRelaxSymMin,
  MlirRelaxSymMax,
  MlirRelaxSymBroadcast,
  MlirRelaxSymSum,
};
typedef enum MlirRelaxSymKind MlirRelaxSymKind;

MLIR_CAPI_EXPORTED bool mlirAttributeIsARelaxSymExpr(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxSymExprGetTypeID(void);

MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprConstant(MlirContext context,
                                                          int64_t value);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprSymbol(MlirContext context,
                                                        MlirStringRef name);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprParse(MlirContext context,
                                                       MlirStringRef text);
/// Builds the canonical expression of `kind` over the operands: one or more for
/// sum, product, min, max and broadcast, two for the divisions.
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprCombine(
    MlirRelaxSymKind kind, intptr_t numOperands, MlirAttribute const *operands);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprSub(MlirAttribute lhs,
                                                     MlirAttribute rhs);
/// Replaces `symbols` (strings) by `values` (expressions), simultaneously.
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprSubstitute(
    MlirAttribute expr, intptr_t numSymbols, MlirStringRef const *symbols,
    MlirAttribute const *values);
/// Stores the value and returns true if it is defined: every symbol is
/// assigned, no divisor is zero, and the value fits in 64 bits.
MLIR_CAPI_EXPORTED bool mlirRelaxSymExprEvaluate(MlirAttribute expr,
                                                 intptr_t numSymbols,
                                                 MlirStringRef const *symbols,
                                                 int64_t const *values,
                                                 int64_t *result);

MLIR_CAPI_EXPORTED MlirRelaxSymKind mlirRelaxSymExprGetKind(MlirAttribute expr);
/// Returns the value of a constant, or the constant term of a sum.
MLIR_CAPI_EXPORTED int64_t mlirRelaxSymExprGetValue(MlirAttribute expr);
/// Returns the name of a symbol; empty for other kinds.
MLIR_CAPI_EXPORTED MlirStringRef mlirRelaxSymExprGetName(MlirAttribute expr);
MLIR_CAPI_EXPORTED intptr_t mlirRelaxSymExprGetNumOperands(MlirAttribute expr);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprGetOperand(MlirAttribute expr,
                                                            intptr_t index);
/// Returns the coefficient of an operand of a sum.
MLIR_CAPI_EXPORTED int64_t mlirRelaxSymExprGetCoefficient(MlirAttribute expr,
                                                          intptr_t index);
/// Prints the expression without the surrounding attribute syntax.
MLIR_CAPI_EXPORTED void mlirRelaxSymExprPrint(MlirAttribute expr,
                                              MlirStringCallback callback,
                                              void *userData);
/// Calls back for each symbol of an expression, possibly repeatedly.
MLIR_CAPI_EXPORTED void mlirRelaxSymExprWalkSymbols(MlirAttribute expr,
                                                    MlirStringCallback callback,
                                                    void *userData);

//===----------------------------------------------------------------------===//
// Prover and unifier
//===----------------------------------------------------------------------===//

enum MlirRelaxTruth {
  MlirRelaxTruthNo,
  MlirRelaxTruthYes,
  MlirRelaxTruthUnknown,
};
typedef enum MlirRelaxTruth MlirRelaxTruth;

/// In all queries `ranges` is a dictionary from symbols to `#relax.range`, or
/// null if no ranges are declared.
MLIR_CAPI_EXPORTED MlirRelaxTruth mlirRelaxProveEqual(MlirAttribute ranges,
                                                      MlirAttribute lhs,
                                                      MlirAttribute rhs);
MLIR_CAPI_EXPORTED MlirRelaxTruth mlirRelaxProveLess(MlirAttribute ranges,
                                                     MlirAttribute lhs,
                                                     MlirAttribute rhs);
MLIR_CAPI_EXPORTED MlirRelaxTruth mlirRelaxProveLessEqual(MlirAttribute ranges,
                                                          MlirAttribute lhs,
                                                          MlirAttribute rhs);
MLIR_CAPI_EXPORTED MlirRelaxTruth mlirRelaxProveDivisible(
    MlirAttribute ranges, MlirAttribute value, MlirAttribute divisor);
/// Stores the bounds of the closed interval that contains `value`, and whether
/// they are finite.
MLIR_CAPI_EXPORTED void mlirRelaxSymExprInterval(MlirAttribute ranges,
                                                 MlirAttribute value,
                                                 bool *hasLower, int64_t *lower,
                                                 bool *hasUpper,
                                                 int64_t *upper);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxSymExprSimplify(MlirAttribute ranges,
                                                          MlirAttribute value);

typedef void (*MlirRelaxBindingCallback)(MlirStringRef symbol,
                                         MlirAttribute value, void *userData);
/// `actual` is null if it is unknown.
typedef void (*MlirRelaxEquationCallback)(MlirAttribute pattern,
                                          MlirAttribute actual, void *userData);

/// Solves `patterns[i] == actuals[i]` for the symbols of the patterns. Calls
/// back with the solution and with the equations that can only be checked at
/// run time. Fails with a diagnostic on a contradiction.
MLIR_CAPI_EXPORTED MlirLogicalResult mlirRelaxUnify(
    MlirContext context, MlirAttribute ranges, MlirAttribute patternRanges,
    intptr_t numEquations, MlirAttribute const *patterns,
    MlirAttribute const *actuals, MlirRelaxBindingCallback onBinding,
    MlirRelaxEquationCallback onUndecided, void *userData);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirAttributeIsARelaxShape(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxShapeAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxShapeAttrGet(
    MlirContext context, intptr_t rank, MlirAttribute const *dims);
MLIR_CAPI_EXPORTED intptr_t mlirRelaxShapeAttrGetRank(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxShapeAttrGetDim(MlirAttribute attr,
                                                          intptr_t index);

MLIR_CAPI_EXPORTED bool mlirAttributeIsARelaxRange(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxRangeAttrGetTypeID(void);
/// `upper` is null if the range has no upper bound.
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxRangeAttrGet(MlirContext context,
                                                       int64_t lower,
                                                       int64_t const *upper,
                                                       int64_t multipleOf);
MLIR_CAPI_EXPORTED int64_t mlirRelaxRangeAttrGetLower(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirRelaxRangeAttrGetUpper(MlirAttribute attr,
                                                   int64_t *upper);
MLIR_CAPI_EXPORTED int64_t mlirRelaxRangeAttrGetMultipleOf(MlirAttribute attr);

MLIR_CAPI_EXPORTED bool mlirAttributeIsARelaxWeight(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxWeightAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxWeightAttrGet(MlirContext context,
                                                        MlirStringRef name);
MLIR_CAPI_EXPORTED MlirStringRef mlirRelaxWeightAttrGetName(MlirAttribute attr);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirTypeIsARelaxShape(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxShapeTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType mlirRelaxShapeTypeGet(MlirContext context,
                                                  intptr_t rank,
                                                  MlirAttribute const *dims);
MLIR_CAPI_EXPORTED MlirType mlirRelaxShapeTypeGetUnranked(MlirContext context);
MLIR_CAPI_EXPORTED bool mlirRelaxShapeTypeIsRanked(MlirType type);
MLIR_CAPI_EXPORTED intptr_t mlirRelaxShapeTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxShapeTypeGetDim(MlirType type,
                                                          intptr_t index);

MLIR_CAPI_EXPORTED bool mlirTypeIsARelaxObject(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxObjectTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType mlirRelaxObjectTypeGet(MlirContext context);

MLIR_CAPI_EXPORTED bool mlirTypeIsARelaxStorage(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirRelaxStorageTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType mlirRelaxStorageTypeGet(MlirContext context);

/// Returns the builtin tensor type with these dimensions, encoded as a symbolic
/// shape if any is symbolic.
MLIR_CAPI_EXPORTED MlirType mlirRelaxTensorTypeGet(MlirType elementType,
                                                   intptr_t rank,
                                                   MlirAttribute const *dims);
/// Returns a dimension of a ranked builtin tensor type, symbolic or static;
/// null if it is unknown.
MLIR_CAPI_EXPORTED MlirAttribute mlirRelaxTensorTypeGetDim(MlirType type,
                                                           intptr_t index);
/// Returns whether every value of type `fine` is also of type `coarse`.
MLIR_CAPI_EXPORTED MlirRelaxTruth mlirRelaxTypeImplies(MlirAttribute ranges,
                                                       MlirType fine,
                                                       MlirType coarse);
/// Calls back for each symbol that a value of this type defines.
MLIR_CAPI_EXPORTED void
mlirRelaxTypeWalkDefinedSymbols(MlirType type, MlirStringCallback callback,
                                void *userData);

//===----------------------------------------------------------------------===//
// Modules and operations
//===----------------------------------------------------------------------===//

/// Parses a module from text or bytecode; safe for arbitrary input. `name` is
/// the file name in locations. Returns null after a diagnostic.
MLIR_CAPI_EXPORTED MlirModule mlirRelaxParseModule(MlirContext context,
                                                   MlirStringRef data,
                                                   MlirStringRef name);

/// Deduces the result types of a `relax.call` of the function `callee`, or of a
/// `relax.call_closure` if `callee` is null, from the operands of `call`. Fails
/// with a diagnostic if they contradict the signature.
MLIR_CAPI_EXPORTED MlirLogicalResult mlirRelaxDeduceCall(
    MlirOperation call, MlirOperation callee,
    void (*onType)(MlirType type, void *userData), void *userData);

/// Until the scope is destroyed, this thread deduces the types of ops without
/// operands under the symbol ranges that hold inside `around`. Scopes nest and
/// must end in reverse order.
MLIR_CAPI_EXPORTED void *mlirRelaxDeductionScopeCreate(MlirOperation around);
MLIR_CAPI_EXPORTED void mlirRelaxDeductionScopeDestroy(void *scope);

#ifdef __cplusplus
}
#endif

#endif // RELAX_CAPI_RELAX_H
