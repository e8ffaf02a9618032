//===- Index.td - gathering and scattering by indices ------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices are i32 or i64. In every op an index in [-d, -1] counts from the end
// of a dimension d; any other index outside [0, d) is invalid. Only
// `relax.take` has modes that differ.
//
// An invalid index raises an IndexError on the CPU, and on the host next to a
// device: `relax-check-indices` inserts a `relax.check_indices` before each op
// whose indices are not proved to be valid. Device kernels cannot raise: there,
// and in unchecked ops, gathers read the element at the nearest end, and
// scatters write nothing. No kernel reads or writes outside of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_INDEX_TD
#define RELAX_OPS_INDEX_TD

include "Relax/RelaxBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

/// How a scattered element is combined with the existing one.
def Relax_ReductionAttr : Relax_ChoiceAttr<["update", "add", "mul", "max", "min"]>;

def Relax_TakeOp : Relax_DeducedOp<"take", [Pure]> {
  let summary = "picks slices along a dimension";
  let description = [{
    As NumPy's `take`: dimension `axis` of `x` is replaced by the shape of
    `indices`. Without `axis`, `x` is flattened first. `mode` defines the meaning
    of indices outside [0, d):

    - `raise`: indices in [-d, -1] count from the end; others are invalid: an IndexError
      on the CPU, the nearest end on a device;
    - `fast`: as `raise`, but unchecked: invalid indices read the nearest end;
    - `clip`: the nearest end. Negative indices do not count from the end: all are 0, as
      in NumPy;
    - `wrap`: the index modulo d.

    Example:

    ```mlir
    %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<?x2x4xf32, #relax.shape<[m, 2, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Relax_IndexTensor:$indices, OptionalAttr<I64Attr>:$axis,
                       DefaultValuedAttr<Relax_ChoiceAttr<["raise", "fast", "clip", "wrap"]>, "\"raise\"">:$mode);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x `,` $indices (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_GatherElementsOp : Relax_DeducedOp<"gather_elements", [Pure]> {
  let summary = "picks one element for each index";
  let description = [{
    The result has the shape of `indices`; its element at (i, j, k) is the element of
    `data` at the same position, with the index in place of the position along `axis`.
    Both operands have the same rank, and in the other dimensions `indices` is at most as
    large as `data`. An invalid index is an IndexError on the CPU; on a device it reads
    the element at the nearest end.

    Example:

    ```mlir
    %0 = relax.gather_elements %x, %i axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[n, 2]>>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $indices (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_GatherNDOp : Relax_DeducedOp<"gather_nd", [Pure]> {
  let summary = "picks slices by tuples of indices";
  let description = [{
    The last dimension of `indices`, k, holds tuples that index k dimensions of
    `data` after the first `batch_dims`, in which both operands agree. The result
    has the shape of `indices` without its last dimension, then the remaining
    dimensions of `data`. Its rank is known if k is. An invalid index is an
    IndexError on the CPU; on a device it reads the element at the nearest end.

    Example:

    ```mlir
    %0 = relax.gather_nd %x, %i : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<?x8xf32, #relax.shape<[m, 8]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $indices (`batch_dims` $batch_dims^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_ScatterElementsOp : Relax_DeducedOp<"scatter_elements", [Pure]> {
  let summary = "writes one element for each index";
  let description = [{
    A copy of `data` into which each element of `updates` is written, at its own position
    with the index in place of the position along `axis`. `updates` has the shape of
    `indices`, which in the other dimensions is at most as large as `data`. `reduction`
    combines an update with the existing element (for Booleans, `add` and `max` are or,
    `mul` and `min` are and); with `update` the order of writes to one place is
    unspecified. An invalid index is an IndexError on the CPU; on a device its update is
    dropped.

    Example:

    ```mlir
    %0 = relax.scatter_elements %x, %i, %u axis 1 {reduction = "add"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[n, 2]>>, tensor<?x2xf32, #relax.shape<[n, 2]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_IndexTensor:$indices, Relax_Tensor:$updates,
                       DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<Relax_ReductionAttr, "\"update\"">:$reduction);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $indices `,` $updates (`axis` $axis^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_ScatterNDOp : Relax_DeducedOp<"scatter_nd", [Pure]> {
  let summary = "writes slices by tuples of indices";
  let description = [{
    A copy of `data` into which slices of `updates` are written. The last dimension of
    `indices`, k, holds tuples that index the first k dimensions of `data`. `updates` has
    the shape of `indices` without its last dimension, then the remaining dimensions of
    `data`. `reduction` and invalid indices work as in `relax.scatter_elements`; a tuple
    with an invalid index is invalid as a whole.

    Example:

    ```mlir
    %0 = relax.scatter_nd %x, %i, %u : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x1xi64, #relax.shape<[m, 1]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_IndexTensor:$indices, Relax_Tensor:$updates,
                       DefaultValuedAttr<Relax_ReductionAttr, "\"update\"">:$reduction);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $indices `,` $updates attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_IndexTensorOp : Relax_DeducedOp<"index_tensor", [Pure]> {
  let summary = "indexes the first dimensions by tensors";
  let description = [{
    NumPy's `data[i, j, ...]`: the index tensors are broadcast against each
    other, and their shape replaces the first dimensions of `data`, one for each
    index tensor. An invalid index is an IndexError on the CPU; on a device it reads
    the element at the nearest end.

    Example:

    ```mlir
    %0 = relax.index_tensor %x, %i, %j : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x1xi64, #relax.shape<[m, 1]>>, tensor<2xi64>) -> tensor<?x2x8xf32, #relax.shape<[m, 2, 8]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Variadic<Relax_IndexTensor>:$indices);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` functional-type(operands, $result)";
}

def Relax_IndexPutOp : Relax_DeducedOp<"index_put", [Pure]> {
  let summary = "writes at places given by tensors";
  let description = [{
    A copy of `data` after NumPy's `data[i, j, ...] = values`, or `+=` with `accumulate`.
    `values` broadcasts to the shape that `relax.index_tensor` would read. Without
    `accumulate` the order of writes to one place is unspecified. An invalid index is an
    IndexError on the CPU; on a device its value is dropped.

    Example:

    ```mlir
    %0 = relax.index_put %x at %i values %v accumulate : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Variadic<Relax_IndexTensor>:$indices,
                       Relax_Tensor:$values, UnitAttr:$accumulate);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `at` $indices `values` $values (`accumulate` $accumulate^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_OneHotOp : Relax_DeducedOp<"one_hot", [Pure]> {
  let summary = "one-hot vectors of indices";
  let description = [{
    Inserts a dimension of size `depth` at position `axis` of the result, in which
    the element at the index is `on_value` and all others are `off_value`. An
    index outside [-depth, depth) sets no element. Both values have the same
    scalar type, the element type of the result.

    Example:

    ```mlir
    %0 = relax.one_hot %i depth k on 1.0 : f32 off 0.0 : f32 : (tensor<?xi64, #relax.shape<[k]>>) -> tensor<?x?xf32, #relax.shape<[k, k]>>
    ```
  }];
  let arguments = (ins Relax_IndexTensor:$indices, Relax_SymExprAttr:$depth,
                       TypedAttrInterface:$on_value, TypedAttrInterface:$off_value,
                       DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $indices `depth` custom<SymExpr>($depth) `on` $on_value `off` $off_value (`axis` $axis^)?
    attr-dict `:` functional-type(operands, $result)
  }];
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

def Relax_CheckIndicesOp : Relax_Op<"check_indices", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails with an IndexError unless all indices are valid";
  let description = [{
    Each index must be in [-d, d) for the bound `d`, or in [0, d) with
    `non_negative`. Several bounds are for tuples: one for each position in the
    last dimension of `indices`. A tensor without elements is valid.

    The first invalid index ends the program with an IndexError at the location of this
    op, which names the op that uses the index, its operand, the index and its position,
    and the meaning of the bound (`targets`).

    Created by `relax-check-indices`, lowered by `relax-lower-to-host`. The tensor is read
    on the host, so device functions contain no such op.

    Example:

    ```mlir
    relax.check_indices %i in [n, 4] of ["dimension 0 of data", "dimension 1 of data"] for "gather_nd" "indices" : tensor<?x2xi64, #relax.shape<[m, 2]>>
    ```
  }];
  let arguments = (ins Relax_IndexTensor:$indices, Relax_SymExprArrayAttr:$bounds,
                       StrArrayAttr:$targets, StrAttr:$checked_op, StrAttr:$operand_name,
                       UnitAttr:$non_negative);
  let assemblyFormat = [{
    $indices `in` custom<SymExprs>($bounds) `of` $targets `for` $checked_op $operand_name
    (`non_negative` $non_negative^)? attr-dict `:` type($indices)
  }];
  let hasVerifier = 1;
}

#endif // RELAX_OPS_INDEX_TD
