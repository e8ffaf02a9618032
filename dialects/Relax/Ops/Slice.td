//===- Slice.td - parts of tensors -------------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_SLICE_TD
#define RELAX_OPS_SLICE_TD

include "Relax/RelaxBase.td"

def Relax_StridedSliceOp : Relax_DeducedOp<"strided_slice", [Pure]> {
  let summary = "a slice with symbolic begin and end";
  let description = [{
    Slices dimension `axes[i]` like Python's `[begin[i]:end[i]:strides[i]]`; other
    dimensions stay whole, and the default stride is 1. Negative positions count
    from the end, positions out of range are clamped, and a negative stride walks
    backwards: a slice never fails, it becomes empty. The largest integer as `end`
    (or as `begin` of a negative stride) means the end, and the smallest one,
    -9223372036854775807, as `end` of a negative stride means beyond the first
    element. A stride of zero is an error.

    The size of the result is exact, written with `min` and `max` if the order of
    two expressions is undecided. It is unknown in the type if the sign of a
    symbolic position cannot be proved, since the sign decides from which end it
    counts, or if a stride is symbolic: then it is computed at run time. A
    declared range can decide signs: if `n` is at least 1, the size of `[:n - 1]`
    is `n - 1`.

    With `assume_inbound`, the program promises that each position lies in the dimension
    and no begin is after its end, which is checked at run time: the size of a slice is
    then `end - begin`, without `min` and `max`. Strides must be positive.

    Example:

    ```mlir
    %0 = relax.strided_slice %x axes [0, 1] begin [0, 1] end [-1, 4] strides [1, 2] : (tensor<?x4xf32, #relax.shape<[n + 1, 4]>>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
    %1 = relax.strided_slice %x axes [0] begin [1] end [n] assume_inbound : (tensor<?x4xf32, #relax.shape<[n + 1, 4]>>) -> tensor<?x4xf32, #relax.shape<[n - 1, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, DenseI64ArrayAttr:$axes,
                       Relax_SymExprArrayAttr:$begin, Relax_SymExprArrayAttr:$end,
                       OptionalAttr<Relax_SymExprArrayAttr>:$strides,
                       UnitAttr:$assume_inbound);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x `axes` $axes `begin` custom<SymExprs>($begin) `end` custom<SymExprs>($end)
    (`strides` custom<SymExprs>($strides)^)? (`assume_inbound` $assume_inbound^)?
    attr-dict `:` functional-type(operands, $result)
  }];
  let hasFolder = 1;
}

def Relax_DynamicStridedSliceOp : Relax_DeducedOp<"dynamic_strided_slice", [Pure]> {
  let summary = "a slice whose positions are only known at run time";
  let description = [{
    Like `relax.strided_slice` of every dimension, with positions from tensors of
    rank one that have one element for each dimension of `x`. The sizes of the
    result are known if all three operands are constants. A stride of zero is an
    error, at run time if it is not a constant.

    Example:

    ```mlir
    %0 = relax.dynamic_strided_slice %x, %begin, %end, %strides : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, Relax_IndexTensor:$begin, Relax_IndexTensor:$end,
                       Relax_IndexTensor:$strides);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x `,` $begin `,` $end `,` $strides attr-dict `:` functional-type(operands, $result)
  }];
  let hasCanonicalizer = 1;
}

def Relax_SliceScatterOp : Relax_DeducedOp<"slice_scatter", [Pure]> {
  let summary = "a copy of a tensor in which a slice is replaced";
  let description = [{
    `input`, with its slice `[start:end:step]` of dimension `axis` replaced by the
    elements of `src`; positions are as in `relax.strided_slice`. `src` must have
    the shape of that slice: this is an error if it provably does not hold, and
    checked at run time if it is undecided.

    Example:

    ```mlir
    %0 = relax.slice_scatter %x, %src axis 0 start 1 end 3 : (tensor<?x4xf32, #relax.shape<[n + 4, 4]>>, tensor<2x4xf32>) -> tensor<?x4xf32, #relax.shape<[n + 4, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$input, Relax_Tensor:$src,
                       I64Attr:$axis, Relax_SymExprAttr:$start, Relax_SymExprAttr:$end,
                       OptionalAttr<Relax_SymExprAttr>:$step);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $src `axis` $axis `start` custom<SymExpr>($start) `end` custom<SymExpr>($end)
    (`step` custom<SymExpr>($step)^)? attr-dict `:` functional-type(operands, $result)
  }];
}

#endif // RELAX_OPS_SLICE_TD
