//===- Convolution.td - convolutions -----------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CONVOLUTION_TD
#define RELAX_OPS_CONVOLUTION_TD

include "Relax/RelaxBase.td"

/// `axes` is W, HW or DHW.
class Relax_ConvOp<string mnemonic, string axes, string text, string example>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = text;
  let description = [{
    Slides the kernel `weight` over `data` (without flipping it, as in PyTorch) and sums
    the products over the input channels of each group. Sums are as accurate as in
    `relax.matmul`.

    - `data_layout`, `kernel_layout` and `out_layout` are the layouts of `data`,
      `weight` and the result (by default like `data`). A layout is any order of
      the letters: N batch, C channels, O and I output and input channels of the
      kernel, D, H and W depth, height and width.
    - C of `data` is `groups` times I of `weight`; `groups` divides O.
    - `strides` and `dilation` have one value, or one for each axis, all at least 1.
    - `padding` has one value, one for each axis, or all leading paddings followed by all
      trailing ones (top, left, bottom, right); none is negative.
    - Both operands have the same element type; `out_dtype` selects another one
      for the accumulation and the result.

    A spatial axis of size `h` with a kernel of size `k` has the result size `(h + padding
    - dilation * (k - 1) - 1) floordiv stride + 1`. A window that is certainly larger than
    its padded axis is an error. If that is undecided, the result still has this size, and
    the program checks at run time that the window fits.

    Example:

    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins
    Relax_Tensor:$data, Relax_Tensor:$weight,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedStrAttr<StrAttr, "NC" # axes>:$data_layout,
    DefaultValuedStrAttr<StrAttr, "OI" # axes>:$kernel_layout,
    OptionalAttr<StrAttr>:$out_layout,
    OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $weight attr-dict `:` functional-type(operands, $result)";
}

def Relax_Conv1DOp : Relax_ConvOp<"conv1d", "W", "convolution over one axis",
    "%y = relax.conv1d %x, %w {padding = array<i64: 1>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, tensor<16x8x3xf32>) -> tensor<1x16x?xf32, #relax.shape<[1, 16, n]>>">;

def Relax_Conv2DOp : Relax_ConvOp<"conv2d", "HW", "convolution over two axes",
    "%y = relax.conv2d %x, %w {padding = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, tensor<8x3x3x3xf32>) -> tensor<1x8x?x?xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, (w + 1) floordiv 2]>>">;

def Relax_Conv3DOp : Relax_ConvOp<"conv3d", "DHW", "convolution over three axes",
    "%y = relax.conv3d %x, %w : (tensor<1x3x?x8x8xf32, #relax.shape<[1, 3, d, 8, 8]>>, tensor<4x3x3x3x3xf32>) -> tensor<1x4x?x6x6xf32, #relax.shape<[1, 4, d - 2, 6, 6]>>">;

/// `axes` is W, HW or DHW.
class Relax_ConvTransposeOp<string mnemonic, string axes, string text, string example>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = text;
  let description = [{
    The gradient of a convolution with respect to its input, as a separate op: each
    element of `data` adds its multiple of the kernel to the result, `stride` apart, and
    `padding` is cropped from both ends of the result.

    - Layouts, `strides`, `padding`, `dilation` and element types are as for the
      convolution.
    - C of `data` equals I of `weight`, and `groups` divides it; the result has
      `groups` times O channels.
    - `output_padding` (one value, or one for each axis) is added to the size at
      the end. It is less than the stride or less than the dilation.

    A spatial axis of size `h` with a kernel of size `k` has the result size `(h - 1) *
    stride - padding + dilation * (k - 1) + output_padding + 1`. A size that is certainly
    negative is an error; if that is undecided, the program checks it at run time.

    Example:

    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins
    Relax_Tensor:$data, Relax_Tensor:$weight,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$output_padding,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedStrAttr<StrAttr, "NC" # axes>:$data_layout,
    DefaultValuedStrAttr<StrAttr, "IO" # axes>:$kernel_layout,
    OptionalAttr<StrAttr>:$out_layout,
    OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $weight attr-dict `:` functional-type(operands, $result)";
}

def Relax_Conv1DTransposeOp : Relax_ConvTransposeOp<"conv1d_transpose", "W",
    "transposed convolution over one axis",
    "%y = relax.conv1d_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, tensor<8x4x2xf32>) -> tensor<1x4x?xf32, #relax.shape<[1, 4, 2*n]>>">;

def Relax_Conv2DTransposeOp : Relax_ConvTransposeOp<"conv2d_transpose", "HW",
    "transposed convolution over two axes",
    "%y = relax.conv2d_transpose %x, %w {output_padding = array<i64: 1>, padding = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x?x?xf32, #relax.shape<[1, 8, h, w]>>, tensor<8x4x3x3xf32>) -> tensor<1x4x?x?xf32, #relax.shape<[1, 4, 2*h, 2*w]>>">;

def Relax_Conv3DTransposeOp : Relax_ConvTransposeOp<"conv3d_transpose", "DHW",
    "transposed convolution over three axes",
    "%y = relax.conv3d_transpose %x, %w : (tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>, tensor<8x4x3x3x3xf32>) -> tensor<1x4x?x6x6xf32, #relax.shape<[1, 4, d + 2, 6, 6]>>">;

#endif // RELAX_OPS_CONVOLUTION_TD
