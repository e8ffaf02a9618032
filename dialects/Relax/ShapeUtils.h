//===- ShapeUtils.h - reading, making and comparing symbolic ----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SHAPEUTILS_H
#define RELAX_SHAPEUTILS_H

#include "Relax/RelaxTypes.h"
#include "Relax/Symbolic/Prover.h"
#include "Relax/Symbolic/Unifier.h"

namespace mlir::relax {

/// One expression per dimension; null if unknown.
using SymDims = SmallVector<SymExprAttr, 4>;

/// The symbolic dimensions of a ranked tensor type.
SymDims getSymDims(RankedTensorType type);
/// The dimensions of a tensor or shape type if all are known.
std::optional<SymDims> getKnownDims(Type type);
/// A ranked tensor type with these dimensions: constants become static, and the
/// encoding is omitted if no dimension is symbolic.
RankedTensorType getTensorType(ArrayRef<SymExprAttr> dims, Type elementType);
/// `type` without symbolic information.
Type dropSymbols(Type type);

/// Calls `fn` on every symbol that occurs free in a type or an attribute.
/// Symbols inside function types are bound there and do not count.
void walkSymbols(Type type, function_ref<void(StringAttr)> fn);
void walkSymbols(Attribute attribute, function_ref<void(StringAttr)> fn);
/// Calls `fn` on the symbols that a value of this type defines: its plain
/// dimensions.
void walkDefinedSymbols(Type type, function_ref<void(StringAttr)> fn);

/// `type` with `fn` applied to each known dimension; null makes it unknown.
Type mapDims(Type type, function_ref<SymExprAttr(SymExprAttr)> fn);
/// `type` with dimensions made unknown if they mention symbols that are not
/// `visible`.
Type keepSymbols(Type type, function_ref<bool(StringAttr)> visible);

/// Replaces the symbols of a type; null after a reported error. Symbols of a
/// function type are bound there and stay.
Type substitute(Type type, const SymSubstitution &with, SymBuilder &math);

/// Whether every value of type `fine` is a value of type `coarse`. `No` means
/// that no value is.
Truth implies(Type fine, Type coarse, const Prover &prover);

/// Adds the equations under which `actual` is a value of the parameter type
/// `pattern`. Fails if kind, rank or element type differ. `where` names the
/// value in diagnostics.
LogicalResult addEquations(Unifier &unifier, Type pattern, Type actual,
                           const Twine &where, EmitErrorFn emitError);

/// `pattern` with the unifier's bindings; unbound dimensions become unknown.
Type instantiate(Type pattern, const Unifier &unifier);

/// Combines the dimensions known from two types of the same value. `first` wins
/// if both know one.
Type meet(Type first, Type second);
/// The common supertype of two values; null if there is none. For equal
/// dimensions the form in `first` is used.
Type join(Type first, Type second, const Prover &prover);

} // namespace mlir::relax

#endif // RELAX_SHAPEUTILS_H
