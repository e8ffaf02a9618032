//===- Linear.td - matrix products -------------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_LINEAR_TD
#define RELAX_OPS_LINEAR_TD

include "Relax/RelaxBase.td"

def Relax_MatmulOp : Relax_DeducedOp<"matmul", [Pure]> {
  let summary = "matrix product";
  let description = [{
    As NumPy's `matmul`: the last dimension of `lhs` is contracted with the second-to-last
    of `rhs`; leading dimensions are batches and broadcast. An operand of rank 1 is a row
    (left) or a column (right), whose dimension is dropped from the result. Operands have
    rank 1 or more and the same element type, a float or an integer of two or more bits;
    the result has `out_dtype`, or that type without it. An empty sum is 0.

    The error of a sum of `k` products of floats is at most `1536 * u` times the sum of
    their absolute values on the CPU, whatever `k` is (`u` is `2 ** -24`, or
    `2 ** -53` for f64); on GPUs add `k / 256 * u` in f32, or `k / 8 * u` in f16 and
    bf16. A narrower result is rounded once more.

    Example:

    ```mlir
    %y = relax.matmul %x, %w : (tensor<?x128xf32, #relax.shape<[n, 128]>>, tensor<128x256xf32>) -> tensor<?x256xf32, #relax.shape<[n, 256]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$lhs, Relax_Tensor:$rhs, OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
}

def Relax_LinearOp : Relax_DeducedOp<"linear", [Pure]> {
  let summary = "affine map of the last dimension";
  let description = [{
    `x @ transpose(weight) + bias`, as PyTorch's `linear`: `x` has rank 1 or more and `in`
    features in its last dimension, `weight` is a matrix of `out` rows and `in` columns,
    and the optional `bias` is a vector of `out` elements. All have the same element type,
    a float or an integer of two or more bits; the result has `out_dtype`, or that type
    without it.

    The error of a sum of `k` products of floats is at most `1536 * u` times the sum of
    their absolute values on the CPU, whatever `k` is (`u` is `2 ** -24`, or
    `2 ** -53` for f64); on GPUs add `k / 256 * u` in f32, or `k / 8 * u` in f16 and
    bf16. A narrower result is rounded once more.

    Example:

    ```mlir
    %y = relax.linear %x, %weight, %bias : (tensor<?x128xf32, #relax.shape<[n, 128]>>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<?x256xf32, #relax.shape<[n, 256]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Relax_Tensor:$weight, Optional<Relax_Tensor>:$bias,
                       OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_OuterOp : Relax_DeducedOp<"outer", [Pure]> {
  let summary = "outer product of two vectors";
  let description = [{
    Element `[i, j]` is `x1[i] * x2[j]`. Both operands have rank 1 and the same element
    type, a float or an integer of two or more bits.

    Example:

    ```mlir
    %y = relax.outer %x1, %x2 : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x1, Relax_Tensor:$x2);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x1 `,` $x2 attr-dict `:` functional-type(operands, $result)";
}

def Relax_EinsumOp : Relax_DeducedOp<"einsum", [Pure]> {
  let summary = "sum of products by index letters";
  let description = [{
    Einstein summation, as NumPy's and PyTorch's `einsum`. `subscripts` assigns a letter
    to each dimension of each operand, with commas between operands, and after `->` the
    letters of the result; spaces are ignored. The result is the sum of the products of
    all elements over the letters that it does not mention.

    - A letter that operands share has one size, or 1, which broadcasts; repeated within
      an operand it takes the diagonal, and the sizes must be equal.
    - An ellipsis `...` stands for any number of dimensions, which broadcast, aligned at
      the last; if the result does not mention them, they are summed over.
    - Without `->` the result has the ellipsis, then the letters that occur once, in
      alphabetical order with capitals first.

    At least one operand is needed; all have the same element type, a float or an integer
    of two or more bits. Sums are as accurate as in `relax.matmul`.

    Example:

    ```mlir
    %y = relax.einsum "bij,bjk->bik"(%lhs, %rhs) : (tensor<?x2x3xf32, #relax.shape<[n, 2, 3]>>, tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>) -> tensor<?x2x4xf32, #relax.shape<[n, 2, 4]>>
    ```
  }];
  let arguments = (ins StrAttr:$subscripts, Variadic<Relax_Tensor>:$operands);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $subscripts `(` $operands `)` attr-dict `:` functional-type($operands, $result)
  }];
}

#endif // RELAX_OPS_LINEAR_TD
