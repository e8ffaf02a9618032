//===- Manipulate.td - reshaping and rearranging -----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_MANIPULATE_TD
#define RELAX_OPS_MANIPULATE_TD

include "Relax/RelaxBase.td"

/// An op with a target shape, given either as a value (`%x, %shape`) or as
/// expressions (`%x to [n, 4]`). Canonicalization prefers expressions.
class Relax_ToShapeOp<string mnemonic, string operand>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$" # operand # [{
    (`,` $shape^)? (`to` custom<SymExprs>($dims)^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Relax_ReshapeOp : Relax_ToShapeOp<"reshape", "x"> {
  let summary = "the same elements in another shape";
  let description = [{
    Gives the elements of `x`, in row-major order, another shape: a shape value,
    or expressions of which one may be -1. The numbers of elements must be equal:
    it is an error if they provably differ, and checked at run time if that is
    undecided.

    -1 stands for the number of elements divided by the product of the other dimensions.
    If that product is zero, the quotient must follow from the expressions alone (`[n, m]`
    to `[n, -1]` is `[n, m]`); the constant zero is an error. A tensor without elements
    may be reshaped to `[-1, 10]`, which gives `[0, 10]`.

    Example:

    ```mlir
    %0 = relax.reshape %x, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[2, 2*n]>) -> tensor<2x?xf32, #relax.shape<[2, 2*n]>>
    %1 = relax.reshape %x to [2, -1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<2x?xf32, #relax.shape<[2, 2*n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Optional<Relax_ShapeType>:$shape,
                       OptionalAttr<Relax_SymExprArrayAttr>:$dims);
}

def Relax_BroadcastToOp : Relax_ToShapeOp<"broadcast_to", "x"> {
  let summary = "repeats dimensions of size 1 up to a shape";
  let description = [{
    As NumPy's `broadcast_to`: aligned at the last dimension, each dimension of
    `x` is 1 or equals the target's. It is an error if a dimension is provably
    neither, and checked at run time if that is undecided.

    Example:

    ```mlir
    %0 = relax.broadcast_to %x, %s : (tensor<1x4xf32>, !relax.shape<[n, 4]>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    %1 = relax.broadcast_to %x to [2, n, 4] : (tensor<1x4xf32>) -> tensor<2x?x4xf32, #relax.shape<[2, n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Optional<Relax_ShapeType>:$shape,
                       OptionalAttr<Relax_SymExprArrayAttr>:$dims);
}

def Relax_CollapseSumToOp : Relax_ToShapeOp<"collapse_sum_to", "data"> {
  let summary = "sums over the dimensions that a broadcast from this shape repeated";
  let description = [{
    The adjoint of `relax.broadcast_to`: `data` is summed over the dimensions in
    which the target is 1, and over the leading dimensions that the target lacks.
    The target must broadcast to the shape of `data`.

    Example:

    ```mlir
    %0 = relax.collapse_sum_to %x to [1, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<1x4xf32>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Optional<Relax_ShapeType>:$shape,
                       OptionalAttr<Relax_SymExprArrayAttr>:$dims);
}

def Relax_CollapseSumLikeOp : Relax_DeducedOp<"collapse_sum_like", [Pure]> {
  let summary = "sums over the dimensions that a broadcast from another tensor's shape repeated";
  let description = [{
    `relax.collapse_sum_to` with the shape of `collapse_target`. The elements of
    that operand are not used.

    Example:

    ```mlir
    %0 = relax.collapse_sum_like %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<1x4xf32>) -> tensor<1x4xf32>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_Tensor:$collapse_target);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $collapse_target attr-dict `:` functional-type(operands, $result)";
}

def Relax_FlattenOp : Relax_DeducedOp<"flatten", [Pure]> {
  let summary = "all elements in one dimension";
  let description = [{
    The elements of `x` in row-major order; a scalar gives one element.

    Example:

    ```mlir
    %0 = relax.flatten %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_PermuteDimsOp : Relax_DeducedOp<"permute_dims", [Pure]> {
  let summary = "reorders the dimensions";
  let description = [{
    Dimension `i` of the result is dimension `axes[i]` of `x`. Without `axes`
    the order is reversed.

    Example:

    ```mlir
    %0 = relax.permute_dims %x axes [1, 0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<4x?xf32, #relax.shape<[4, n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x (`axes` $axes^)? attr-dict `:` functional-type(operands, $result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Relax_ExpandDimsOp : Relax_DeducedOp<"expand_dims", [Pure]> {
  let summary = "inserts dimensions of size 1";
  let description = [{
    `axis` lists the positions of the new dimensions in the result; negative
    ones count from its end.

    Example:

    ```mlir
    %0 = relax.expand_dims %x axis [0, -1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<1x?x1xf32, #relax.shape<[1, n, 1]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, DenseI64ArrayAttr:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_SqueezeOp : Relax_DeducedOp<"squeeze", [Pure]> {
  let summary = "drops dimensions of size 1";
  let description = [{
    Drops the dimensions `axis`. It is an error if one of them is provably not 1,
    and checked at run time if that is undecided. Without `axis`, drops every
    dimension that is 1 at run time, so that the rank of the result is known only
    if each dimension is provably 1 or provably not.

    Example:

    ```mlir
    %0 = relax.squeeze %x axis [0] : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_ConcatOp : Relax_DeducedOp<"concat", [Pure]> {
  let summary = "joins tensors along a dimension";
  let description = [{
    At least one tensor is needed; all have the same element type and rank, and
    agree in every dimension except `axis`.

    Example:

    ```mlir
    %0 = relax.concat %x, %y axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x4xf32>) -> tensor<?x4xf32, #relax.shape<[n + 2, 4]>>
    ```
  }];
  let arguments = (ins Variadic<Relax_Tensor>:$tensors, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $tensors (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Relax_StackOp : Relax_DeducedOp<"stack", [Pure]> {
  let summary = "joins tensors along a new dimension";
  let description = [{
    At least one tensor is needed; all have the same element type and shape.
    `axis` is the position of the new dimension in the result.

    Example:

    ```mlir
    %0 = relax.stack %x, %y axis 1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
    ```
  }];
  let arguments = (ins Variadic<Relax_Tensor>:$tensors, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $tensors (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasCanonicalizer = 1;
}

def Relax_SplitOp : Relax_DeducedOp<"split", [Pure]> {
  let summary = "splits a tensor into parts along a dimension";
  let description = [{
    With `into`, splits the dimension, of size `d`, into parts of size `d ceildiv
    sections`; the last parts are smaller, or empty, if `sections` does not divide
    `d`. With `at`, splits at positions: part `i` is the slice from position `i -
    1` to position `i`, with Python's rules for negative and out-of-range
    positions.

    Example:

    ```mlir
    %0:2 = relax.split %x into 2 axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xf32, #relax.shape<[n, 2]>>)
    %1:2 = relax.split %x at [1] axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<?x3xf32, #relax.shape<[n, 3]>>)
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<I64Attr>:$sections,
                       OptionalAttr<Relax_SymExprArrayAttr>:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $x (`into` $sections^)? (`at` custom<SymExprs>($indices)^)? (`axis` $axis^)? attr-dict `:`
    functional-type(operands, $results)
  }];
  let hasFolder = 1;
}

def Relax_RepeatOp : Relax_DeducedOp<"repeat", [Pure]> {
  let summary = "repeats each element";
  let description = [{
    Repeats each element of dimension `axis` `repeats` times in a row: [a, b] by 2
    is [a, a, b, b]. Without `axis`, repeats the elements of the flattened tensor.

    Example:

    ```mlir
    %0 = relax.repeat %x by 2 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[2*n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, I64Attr:$repeats, OptionalAttr<I64Attr>:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `by` $repeats (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasFolder = 1;
}

def Relax_TileOp : Relax_DeducedOp<"tile", [Pure]> {
  let summary = "repeats the whole tensor";
  let description = [{
    Lays `repeats[i]` copies of the tensor next to each other in dimension `i`:
    [a, b] by [2] is [a, b, a, b]. As in NumPy, the shorter of shape and `repeats`
    is extended with leading ones.

    Example:

    ```mlir
    %0 = relax.tile %x by [2, 3] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<2x?xf32, #relax.shape<[2, 3*n]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, DenseI64ArrayAttr:$repeats);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `by` $repeats attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_FlipOp : Relax_DeducedOp<"flip", [Pure]> {
  let summary = "reverses a dimension";
  let description = [{
    Element `i` of dimension `axis` becomes element `size - 1 - i`. A negative
    `axis` counts from the last dimension.

    Example:

    ```mlir
    %0 = relax.flip %x axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, I64Attr:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `axis` $axis attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_ReverseSequenceOp : Relax_DeducedOp<"reverse_sequence", [Pure]> {
  let summary = "reverses the beginning of each sequence of a batch";
  let description = [{
    For each `i` along `batch_axis`, the first `seq_lengths[i]` elements along
    `seq_axis` are reversed and the rest is unchanged. The two axes must differ.

    Example:

    ```mlir
    %0 = relax.reverse_sequence %x, %l {seq_axis = 0, batch_axis = 1} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_IndexTensor:$seq_lengths,
                       DefaultValuedAttr<I64Attr, "1">:$seq_axis,
                       DefaultValuedAttr<I64Attr, "0">:$batch_axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $seq_lengths attr-dict `:` functional-type(operands, $result)";
}

#endif // RELAX_OPS_MANIPULATE_TD
