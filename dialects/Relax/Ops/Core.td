//===- Core.td - shapes, casts, constants, tuples ----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CORE_TD
#define RELAX_OPS_CORE_TD

include "Relax/RelaxBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

/// Symbols are defined and used by name, not by SSA value: an op that defines
/// one writes this resource, so that no upstream pass removes or moves it.
def Relax_SymbolResource : Resource<"::mlir::relax::SymbolResource">;

def Relax_MatchCastOp : Relax_Op<"match_cast", [
    MemoryEffects<[MemWrite<Relax_SymbolResource>]>]> {
  let summary = "asserts a finer type, and may define symbols";
  let description = [{
    Asserts that the operand has the result type, checked at run time if it cannot
    be proved. Plain dimensions of the result type that are not defined earlier
    define new symbols, which are visible afterwards. The result is an alias of
    the operand: it shares its storage.

    A cast that can never hold is an error.

    Example:

    ```mlir
    %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    ```
  }];
  let arguments = (ins Relax_AnyValue:$input);
  let results = (outs Relax_AnyValue:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Relax_ShapeOfOp : Relax_DeducedOp<"shape_of", [Pure]> {
  let summary = "the shape of a tensor, as a value";
  let description = [{
    Reads no element of the tensor. An unranked tensor gives `!relax.shape<*>`.

    Example:

    ```mlir
    %s = relax.shape_of %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> !relax.shape<[n, 4]>
    ```
  }];
  let arguments = (ins Relax_Tensor:$input);
  let results = (outs Relax_ShapeType:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasCanonicalizer = 1;
}

def Relax_ShapeOp : Relax_DeducedOp<"shape", [Pure]> {
  let summary = "a shape value from symbolic expressions";
  let description = [{
    Every dimension must be known, and its symbols defined. A negative dimension
    is an error at run time.

    Example:

    ```mlir
    %s = relax.shape [n, 2*m] : !relax.shape<[n, 2*m]>
    ```
  }];
  let arguments = (ins Relax_ShapeAttr:$dims);
  let results = (outs Relax_ShapeType:$result);
  let assemblyFormat = "custom<ShapeDims>($dims) attr-dict `:` qualified(type($result))";
}

def Relax_MakeShapeOp : Relax_DeducedOp<"make_shape", [Pure]> {
  let summary = "a shape value from integers";
  let description = [{
    Dimensions whose operand is a constant or a `relax.sym` are known in the
    result type.

    Example:

    ```mlir
    %s = relax.make_shape %i, %j : (index, index) -> !relax.shape<2>
    ```
  }];
  let arguments = (ins Variadic<Index>:$operands);
  let results = (outs Relax_ShapeType:$result);
  let assemblyFormat = "$operands attr-dict `:` functional-type($operands, $result)";
  let hasCanonicalizer = 1;
}

def Relax_DimOp : Relax_DeducedOp<"dim", [Pure]> {
  let summary = "one dimension of a tensor or a shape, as an integer";
  let description = [{
    Negative indices count from the last dimension.

    Example:

    ```mlir
    %d = relax.dim %x, 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> index
    ```
  }];
  let arguments = (ins AnyTypeOf<[Relax_Tensor, Relax_ShapeType]>:$input, I64Attr:$index);
  let results = (outs Relax_IndexResult:$result);
  let assemblyFormat = "$input `,` $index attr-dict `:` functional-type($input, $result)";
  let hasCanonicalizer = 1;
}

def Relax_SymOp : Relax_DeducedOp<"sym", [Pure]> {
  let summary = "the value of a symbolic expression, as an integer";
  let description = [{
    The symbols must be defined. Division by zero and values beyond 64 bits are
    errors at run time; the value itself may be negative.

    Example:

    ```mlir
    %0 = relax.sym 4*n + 1 : index
    ```
  }];
  let arguments = (ins Relax_SymExprAttr:$expr);
  let results = (outs Relax_IndexResult:$result);
  let assemblyFormat = "custom<SymExpr>($expr) attr-dict `:` type($result)";
}

def Relax_ShapeToTensorOp : Relax_DeducedOp<"shape_to_tensor", [Pure]> {
  let summary = "a shape as a one-dimensional tensor of i64";
  let description = [{
    Element `i` is dimension `i`; a shape of rank zero gives an empty tensor.

    Example:

    ```mlir
    %t = relax.shape_to_tensor %s : (!relax.shape<[n, 4]>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Relax_ShapeType:$input);
  let results = (outs Relax_IntTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasCanonicalizer = 1;
}

def Relax_TensorToShapeOp : Relax_DeducedOp<"tensor_to_shape", [Pure]> {
  let summary = "a one-dimensional integer tensor as a shape";
  let description = [{
    Negative elements are an error at run time. The dimensions are known if the
    operand is computed from a shape or a constant.

    Example:

    ```mlir
    %s = relax.tensor_to_shape %t : (tensor<3xi64>) -> !relax.shape<3>
    ```
  }];
  let arguments = (ins Relax_IntTensor:$input);
  let results = (outs Relax_ShapeType:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasCanonicalizer = 1;
}

def Relax_ConstantOp : Relax_Op<"constant", [
    Pure, ConstantLike, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a constant tensor, or a weight by name";
  let description = [{
    The value is any elements attribute of the result type, or `weight "name"` for a
    tensor of the model's weight file, whose type states what the file must contain.

    Example:

    ```mlir
    %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = relax.constant weight "model.embed_tokens.weight" : tensor<32000x4096xf16>
    ```
  }];
  let arguments = (ins AnyAttrOf<[ElementsAttr, Relax_WeightAttr]>:$value);
  let results = (outs Relax_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the value lives outside the module.
    bool isWeight() { return ::llvm::isa<WeightAttr>(getValue()); }
  }];
}

def Relax_TupleOp : Relax_DeducedOp<"tuple", [Pure]> {
  let summary = "a tuple of values";
  let description = [{
    Members may have any type of the dialect, including tuples; a tuple may be
    empty.

    Example:

    ```mlir
    %t = relax.tuple %x, %y : (tensor<4xf32>, tensor<2xi64>) -> tuple<tensor<4xf32>, tensor<2xi64>>
    ```
  }];
  let arguments = (ins Variadic<Relax_AnyValue>:$operands);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$operands attr-dict `:` functional-type($operands, $result)";
}

def Relax_GetOp : Relax_DeducedOp<"get", [Pure]> {
  let summary = "a member of a tuple";
  let description = [{
    `index` counts from zero and must be smaller than the number of members.

    Example:

    ```mlir
    %0 = relax.get %t[1] : (tuple<tensor<4xf32>, tensor<2xi64>>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins AnyTuple:$input, I64Attr:$index);
  let results = (outs Relax_AnyValue:$result);
  let assemblyFormat = "$input `[` $index `]` attr-dict `:` functional-type($input, $result)";
  let hasFolder = 1;
}

#endif // RELAX_OPS_CORE_TD
