//===- Pooling.td - pooling --------------------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_POOLING_TD
#define RELAX_OPS_POOLING_TD

include "Relax/RelaxBase.td"

/// `axes` is W, HW or DHW.
class Relax_PoolOp<string mnemonic, string axes, string text, Type tensor,
                   string semantics, string example>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = text;
  let description = semantics # [{

    - `data` has the layout `layout` (any order of N batch, C channels and D, H, W), the
      result has `out_layout`, by default the same.
    - `pool_size`, `strides` and `dilation` have one value, or one for each axis,
      all at least 1. The stride is 1 unless it is given.
    - `padding` has one value, one for each axis, or all leading paddings followed by all
      trailing ones; none is negative.

    With the window's span `s = dilation * (pool_size - 1) + 1`, an axis of size
    `h` has the result size `(h + padding - s) floordiv stride + 1`. With
    `ceil_mode` a window may extend beyond the end, but must start within the
    input or the padding before it, as in PyTorch:
    `min((h + padding - s) ceildiv stride + 1, (h + padding_before) ceildiv stride)`.
    It is an error if there is certainly no window at all; if that is undecided,
    the program checks it at run time.

    Example:

    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins
    tensor:$data,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$pool_size,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation,
    DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
    DefaultValuedAttr<BoolAttr, "false">:$count_include_pad,
    DefaultValuedStrAttr<StrAttr, "NC" # axes>:$layout,
    OptionalAttr<StrAttr>:$out_layout);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data attr-dict `:` functional-type($data, $result)";
  let hasFolder = 1;
}

class Relax_MaxPoolOp<string mnemonic, string axes, string example>
    : Relax_PoolOp<mnemonic, axes, "greatest element of a sliding window",
                   Relax_Tensor, [{
    The greatest element under a window that slides over the spatial axes. Padding
    never counts, and a NaN under the window is the result. A window that lies
    only in the padding gives the least value of the element type.
    `count_include_pad` has no effect.}], example>;

class Relax_AvgPoolOp<string mnemonic, string axes, string example>
    : Relax_PoolOp<mnemonic, axes, "mean of a sliding window",
                   Relax_FloatTensor, [{
    The mean of the elements under a window that slides over the spatial axes.
    With `count_include_pad`, padding counts as zeros. Without it, padding does
    not count: the divisor is the number of elements under the window, and a
    window that lies only in the padding gives NaN. The part of a window that
    extends beyond the padding in `ceil_mode` never counts.}], example>;

def Relax_MaxPool1DOp : Relax_MaxPoolOp<"max_pool1d", "W",
    "%y = relax.max_pool1d %x {pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, n floordiv 2]>>">;

def Relax_MaxPool2DOp : Relax_MaxPoolOp<"max_pool2d", "HW",
    "%y = relax.max_pool2d %x {ceil_mode = true, pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x8x?x7xf32, #relax.shape<[1, 8, h, 7]>>) -> tensor<1x8x?x4xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, 4]>>">;

def Relax_MaxPool3DOp : Relax_MaxPoolOp<"max_pool3d", "DHW",
    "%y = relax.max_pool3d %x {padding = array<i64: 1>, pool_size = array<i64: 3>} : (tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>) -> tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>">;

def Relax_AvgPool1DOp : Relax_AvgPoolOp<"avg_pool1d", "W",
    "%y = relax.avg_pool1d %x {count_include_pad = true, padding = array<i64: 1>, pool_size = array<i64: 3>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>">;

def Relax_AvgPool2DOp : Relax_AvgPoolOp<"avg_pool2d", "HW",
    "%y = relax.avg_pool2d %x {layout = \"NHWC\", pool_size = array<i64: 2, 1>, strides = array<i64: 2, 1>} : (tensor<1x?x7x8xf32, #relax.shape<[1, h, 7, 8]>>) -> tensor<1x?x7x8xf32, #relax.shape<[1, h floordiv 2, 7, 8]>>">;

def Relax_AvgPool3DOp : Relax_AvgPoolOp<"avg_pool3d", "DHW",
    "%y = relax.avg_pool3d %x {pool_size = array<i64: 2>} : (tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>) -> tensor<1x8x?x3x3xf32, #relax.shape<[1, 8, d - 1, 3, 3]>>">;

/// `axes` is W, HW or DHW.
class Relax_AdaptiveAvgPoolOp<string mnemonic, string axes, string example>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "mean pooling to a given size";
  let description = [{
    Output position `i` of `o` along an axis of size `h` is the mean of the input from `i
    * h floordiv o` up to but excluding `(i + 1) * h ceildiv o`. `to` gives one size, or
    one for each axis, as symbolic expressions; without it the result is `data` in the
    result's layout. An axis that is certainly empty cannot be pooled to a size that
    certainly is not; if that is undecided, the program checks it at run time. Layouts are
    as for `relax.avg_pool2d`.

    Example:

    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins
    Relax_FloatTensor:$data,
    OptionalAttr<Relax_ShapeAttr>:$output_size,
    DefaultValuedStrAttr<StrAttr, "NC" # axes>:$layout,
    OptionalAttr<StrAttr>:$out_layout);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`to` custom<ShapeDims>($output_size)^)? attr-dict `:`
    functional-type($data, $result)
  }];
}

def Relax_AdaptiveAvgPool1DOp : Relax_AdaptiveAvgPoolOp<"adaptive_avg_pool1d", "W",
    "%y = relax.adaptive_avg_pool1d %x to [m] : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, m]>>">;

def Relax_AdaptiveAvgPool2DOp : Relax_AdaptiveAvgPoolOp<"adaptive_avg_pool2d", "HW",
    "%y = relax.adaptive_avg_pool2d %x to [1, 1] : (tensor<?x8x?x?xf32, #relax.shape<[b, 8, h, w]>>) -> tensor<?x8x1x1xf32, #relax.shape<[b, 8, 1, 1]>>">;

def Relax_AdaptiveAvgPool3DOp : Relax_AdaptiveAvgPoolOp<"adaptive_avg_pool3d", "DHW",
    "%y = relax.adaptive_avg_pool3d %x to [7] : (tensor<1x8x?x?x?xf32, #relax.shape<[1, 8, d, h, w]>>) -> tensor<1x8x7x7x7xf32>">;

#endif // RELAX_OPS_POOLING_TD
