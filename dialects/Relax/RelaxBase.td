//===- RelaxBase.td - base classes of the ops --------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op that deduces its result types specifies the rule in `deduce`, a C++
// expression that returns a LogicalResult. It uses `deduction` (operand shapes,
// prover, diagnostics) and `op` (the adaptor: operands, attributes, regions),
// and fills `results`. Type inference in builders (C++ and Python), the
// verifier and the pass `relax-deduce-shapes` are derived from it.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_BASE_TD
#define RELAX_BASE_TD

include "Relax/RelaxTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Any builtin tensor, ranked or unranked, with or without a symbolic shape.
def Relax_Tensor : TensorOf<[AnyFloat, AnyInteger]>;
def Relax_FloatTensor : TensorOf<[AnyFloat]>;
def Relax_IntTensor : TensorOf<[AnyInteger]>;
/// Indices of take, gather, scatter: signed 32-bit or 64-bit integers.
def Relax_IndexTensor : TensorOf<[I32, I64]>;
/// An `index` result that a deduction rule infers (with a plain `Index`, ODS
/// would generate its own rule).
def Relax_IndexResult : AnyTypeOf<[Index]>;
/// Every type that values of a relax program may have.
def Relax_AnyValue : AnyTypeOf<[
    Relax_Tensor, Relax_ShapeType, Relax_ObjectType, Relax_StorageType, AnyTuple, Index,
    AnyInteger, AnyFloat, FunctionType]>;

/// Expressions without `?`; parsed and printed by `custom<SymExprs>`.
def Relax_SymExprArrayAttr
    : TypedArrayAttrBase<Relax_SymExprAttr, "array of #relax.expr">;
/// A string that is one of `choices`.
class Relax_ChoiceAttr<list<string> choices> : ConfinedAttr<StrAttr, [AttrConstraint<
    Or<!foreach(choice, choices,
        CPred<"::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # choice # "\"">)>,
    "that is one of " # !interleave(choices, ", ")>]>;

class Relax_Op<string mnemonic, list<Trait> traits = []>
    : Op<Relax_Dialect, mnemonic, traits>;

/// An op whose result types follow from its operands and attributes.
class Relax_DeducedOp<string mnemonic, list<Trait> traits = []>
    : Relax_Op<mnemonic, traits # [
        DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>]> {
  /// The deduction rule; `$cppClass::deduce` is declared for the op by default.
  code deduce = "$cppClass::deduce(deduction, op, results)";
  code moreDeclarations = "";
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult deduce(::mlir::relax::Deduction &deduction,
        Adaptor op, ::llvm::SmallVectorImpl<::mlir::Type> &results);
  }] # moreDeclarations;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      ::mlir::relax::Deduction deduction(context, location, getOperationName(), operands);
      ::mlir::relax::FilledProperties<$cppClass> filled(context, properties);
      Adaptor op(operands, attributes, filled.get(), regions);
      if (::mlir::failed(::mlir::relax::verifyAdaptor<$cppClass>(
              deduction, op, location, operands)) ||
          ::mlir::failed(}] # deduce # [{))
        return ::mlir::failure();
      return ::mlir::success(!deduction.math().failed());
    }
    ::llvm::LogicalResult $cppClass::refineReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return ::mlir::relax::verifyDeducedTypes<$cppClass>(
          context, location, operands, attributes, properties, regions, results);
    }
  }];
}

#endif // RELAX_BASE_TD
