//===- Create.td - creation of tensors ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CREATE_TD
#define RELAX_OPS_CREATE_TD

include "Relax/RelaxBase.td"

//===----------------------------------------------------------------------===//
// Tensors filled with one value
//===----------------------------------------------------------------------===//

def Relax_FullOp : Relax_DeducedOp<"full", [Pure]> {
  let summary = "a tensor filled with one value";
  let description = [{
    A tensor of the given shape filled with the value of `fill_value`, a tensor of rank 0,
    converted to `dtype` like `relax.astype`. Without `dtype`, the result has the element
    type of `fill_value`.

    Example:

    ```mlir
    %y = relax.full %s, %fill : (!relax.shape<[n, 4]>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_ShapeType:$shape, Relax_Tensor:$fill_value, OptionalAttr<TypeAttr>:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$shape `,` $fill_value attr-dict `:` functional-type(operands, $result)";
}

class Relax_ConstantFillOp<string mnemonic, string value>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "a tensor filled with " # value;
  let description = [{
    A tensor of the given shape and element type whose elements are all }] # value # [{.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %s {dtype = f32} : (!relax.shape<[n, 4]>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_ShapeType:$shape, TypeAttr:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$shape attr-dict `:` functional-type($shape, $result)";
}
def Relax_ZerosOp : Relax_ConstantFillOp<"zeros", "0">;
def Relax_OnesOp : Relax_ConstantFillOp<"ones", "1">;

def Relax_FullLikeOp : Relax_DeducedOp<"full_like", [Pure]> {
  let summary = "a tensor with the shape of another, filled with one value";
  let description = [{
    A tensor with the shape of `x` filled with the value of `fill_value`, a tensor of rank
    0, converted like `relax.astype` to the element type: `dtype`, or the element type of
    `x` without it.

    Example:

    ```mlir
    %y = relax.full_like %x, %fill : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Relax_Tensor:$fill_value, OptionalAttr<TypeAttr>:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x `,` $fill_value attr-dict `:` functional-type(operands, $result)";
}

class Relax_ConstantLikeOp<string mnemonic, string value>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "a tensor with the shape of another, filled with " # value;
  let description = [{
    A tensor of the shape of `x` whose elements are all }] # value # [{. Its element type is
    `dtype`, or the element type of `x` without it.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x {dtype = i64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<TypeAttr>:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
}
def Relax_ZerosLikeOp : Relax_ConstantLikeOp<"zeros_like", "0">;
def Relax_OnesLikeOp : Relax_ConstantLikeOp<"ones_like", "1">;

//===----------------------------------------------------------------------===//
// Patterns of values
//===----------------------------------------------------------------------===//

def Relax_ArangeOp : Relax_DeducedOp<"arange", [Pure]> {
  let summary = "evenly spaced integers";
  let description = [{
    `start`, `start + step`, ... up to but excluding `stop`, downwards for a negative
    step: `max(0, (stop - start) ceildiv step)` elements. All three are symbolic
    expressions. A step of zero is an error, at compile time if it is known, otherwise at
    run time. If the sign of the step cannot be proved, the size of the result is unknown.
    Elements have the type `dtype`; a number that it cannot represent is converted like
    `relax.astype` from `i64`.

    Example:

    ```mlir
    %y = relax.arange 0, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
    ```
  }];
  let arguments = (ins Relax_SymExprAttr:$start, Relax_SymExprAttr:$stop,
                       Relax_SymExprAttr:$step, TypeAttr:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    custom<SymExpr>($start) `,` custom<SymExpr>($stop) `,` custom<SymExpr>($step)
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Relax_EyeOp : Relax_DeducedOp<"eye", [Pure]> {
  let summary = "ones on a diagonal";
  let description = [{
    A matrix of `n` rows and `m` columns with ones where the column index is the row index
    plus `k`, and zeros elsewhere. `n` and `m` are symbolic expressions; a diagonal may
    lie outside of the matrix.

    Example:

    ```mlir
    %y = relax.eye n, 4 {dtype = f32, k = -1} : tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_SymExprAttr:$n, Relax_SymExprAttr:$m,
                       DefaultValuedAttr<I64Attr, "0">:$k, TypeAttr:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "custom<SymExpr>($n) `,` custom<SymExpr>($m) attr-dict `:` type($result)";
}

class Relax_TriangleOp<string mnemonic, string part, string condition>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let deduce = "deduceTriangle(deduction, operands, results)";
  let extraClassDeclaration = moreDeclarations;
  let summary = part # " triangle of matrices";
  let description = [{
    Keeps the elements whose column is }] # condition # [{ the row plus `k`, and writes
    zeros elsewhere. The last two dimensions are rows and columns; those before are
    batches. `x` has rank 2 or more and elements of any type.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x {k = 1} : (tensor<?x?xf32, #relax.shape<[n, n]>>) -> tensor<?x?xf32, #relax.shape<[n, n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, DefaultValuedAttr<I64Attr, "0">:$k);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
}
def Relax_TrilOp : Relax_TriangleOp<"tril", "lower", "at most">;
def Relax_TriuOp : Relax_TriangleOp<"triu", "upper", "at least">;

def Relax_MeshgridOp : Relax_DeducedOp<"meshgrid", [Pure]> {
  let summary = "coordinates of a grid";
  let description = [{
    Takes one tensor for each dimension of a grid, of rank 1 (or 0: one element), and
    returns as many tensors of the grid's shape: result `i` varies along dimension `i`
    like operand `i`, and is constant along the others. `indexing` is "ij" or "xy"; the
    latter swaps the first two dimensions of every result. Each result has the element
    type of its operand.

    Example:

    ```mlir
    %0, %1 = relax.meshgrid %x, %y {indexing = "ij"} : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xi64>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xi64, #relax.shape<[n, 4]>>)
    ```
  }];
  let arguments = (ins Variadic<Relax_Tensor>:$tensors, DefaultValuedAttr<StrAttr, "\"ij\"">:$indexing);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = "$tensors attr-dict `:` functional-type($tensors, $results)";
}

#endif // RELAX_OPS_CREATE_TD
