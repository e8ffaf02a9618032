//===- Sort.td - sorting and data-dependent shapes ---------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_SORT_TD
#define RELAX_OPS_SORT_TD

include "Relax/RelaxBase.td"

/// The element type of indices that an op returns, i32 by default.
def Relax_IndexTypeAttr : ConfinedAttr<TypeAttr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::TypeAttr>($_self).getValue().isSignlessInteger(32) || "
          "::llvm::cast<::mlir::TypeAttr>($_self).getValue().isSignlessInteger(64)">,
    "of i32 or i64">]>;

def Relax_SortOp : Relax_DeducedOp<"sort", [Pure]> {
  let summary = "sorts along a dimension";
  let description = [{
    The sort is stable; NaN counts as larger than every number, and 0 and -0 are
    equal.

    Example:

    ```mlir
    %0 = relax.sort %x axis 0 descending : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       UnitAttr:$descending);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x (`axis` $axis^)? (`descending` $descending^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_ArgsortOp : Relax_DeducedOp<"argsort", [Pure]> {
  let summary = "the indices that sort along a dimension";
  let description = [{
    The indices follow the order of `relax.sort`; equal elements keep their order.
    `dtype` is i32 by default.

    Example:

    ```mlir
    %0 = relax.argsort %x axis 0 {dtype = i64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       UnitAttr:$descending, OptionalAttr<Relax_IndexTypeAttr>:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`axis` $axis^)? (`descending` $descending^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_TopkOp : Relax_DeducedOp<"topk", [Pure]> {
  let summary = "the k largest or smallest elements along a dimension";
  let description = [{
    Sorted with the largest first (or the smallest if `largest` is false), in the order of
    `relax.sort`: NaN is the largest. `ret_type` chooses the results: `both` values and
    indices, or only `values` or `indices`. `dtype`, the type of the indices, is i32 by
    default. `k` must be at most the dimension: this is an error if it provably does not
    hold, and checked at run time if it is undecided.

    Example:

    ```mlir
    %0:2 = relax.topk %x k 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>)
    %1 = relax.topk %x k n axis 0 {ret_type = "indices", dtype = i64} : (tensor<?x4xf32, #relax.shape<[2*n, 4]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_SymExprAttr:$k,
                       DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<Relax_ChoiceAttr<["both", "values", "indices"]>, "\"both\"">:$ret_type,
                       DefaultValuedAttr<BoolAttr, "true">:$largest,
                       OptionalAttr<Relax_IndexTypeAttr>:$dtype);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $data `k` custom<SymExpr>($k) (`axis` $axis^)? attr-dict `:`
    functional-type(operands, $results)
  }];
}

def Relax_UniqueOp : Relax_DeducedOp<"unique", [Pure]> {
  let summary = "the distinct elements";
  let description = [{
    The distinct elements of the flattened tensor, or the distinct slices along `axis`, in
    ascending order, or in order of first occurrence if `sorted` is false. NaN equals NaN
    and 0 equals -0; the first one is kept. Further results, all i64 and of rank one, in
    this order:

    - `return_index`: the position of the first occurrence of each,
    - `return_inverse`: for each element (or slice) of `x`, in row-major order,
      its position in the result,
    - `return_counts`: how often each occurs.

    The number of distinct elements is only known at run time: `?`, to which
    `relax.match_cast` gives a name.

    Example:

    ```mlir
    %0:2 = relax.unique %x return_inverse : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?xf32>, tensor<?xi64, #relax.shape<[4*n]>>)
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, DefaultValuedAttr<BoolAttr, "true">:$sorted,
                       UnitAttr:$return_index, UnitAttr:$return_inverse,
                       UnitAttr:$return_counts, OptionalAttr<I64Attr>:$axis);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $x (`axis` $axis^)? (`return_index` $return_index^)? (`return_inverse` $return_inverse^)?
    (`return_counts` $return_counts^)? attr-dict `:` functional-type(operands, $results)
  }];
}

def Relax_NonzeroOp : Relax_DeducedOp<"nonzero", [Pure]> {
  let summary = "the positions of nonzero elements";
  let description = [{
    One row for each dimension of `x` and one column for each nonzero element, in
    row-major order; NaN is nonzero. A scalar operand is an error, since it has
    no positions.

    Example:

    ```mlir
    %0 = relax.nonzero %x : (tensor<?x4xi1, #relax.shape<[n, 4]>>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, $result)";
}

def Relax_BucketizeOp : Relax_DeducedOp<"bucketize", [Pure]> {
  let summary = "the bucket into which each element falls";
  let description = [{
    For each element of `input_tensor`, the first index i into the ascending `boundaries`
    with `boundaries[i] >= element` (`>` with `right`), or the number of boundaries if
    there is no such index, in the order of `relax.sort`: NaN counts as larger than
    every number. Indices are i64, or i32 with `out_int32`.

    Example:

    ```mlir
    %0 = relax.bucketize %x, %b {right} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$input_tensor, Relax_Tensor:$boundaries,
                       UnitAttr:$out_int32, UnitAttr:$right);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$input_tensor `,` $boundaries attr-dict `:` functional-type(operands, $result)";
}

#endif // RELAX_OPS_SORT_TD
