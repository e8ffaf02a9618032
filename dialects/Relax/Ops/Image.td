//===- Image.td - padding and resizing ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_IMAGE_TD
#define RELAX_OPS_IMAGE_TD

include "Relax/RelaxBase.td"

def Relax_PadOp : Relax_DeducedOp<"pad", [Pure]> {
  let summary = "pads a tensor at the ends of its axes";
  let description = [{
    `pad_width` has two symbolic expressions for each axis: the padding before it
    and after it. Expressions may be negative in mode `constant`: then they crop.
    `-n mod 16` pads `n` to a multiple of 16.

    | `pad_mode`  | filled with                                  | padding of an axis of `n` |
    |-------------|----------------------------------------------|---------------------------|
    | `constant`  | `pad_value`, zero unless given               | at least `-n` in sum      |
    | `reflect`   | the mirror image without the edge: `cb abc ba` | from 0 to `n - 1`       |
    | `replicate` | the nearest element: `aa abc cc`             | 0 where `n` is 0          |
    | `circular`  | the other end: `bc abc ab`                   | from 0 to `n`             |

    `pad_value` is a float for float tensors and an integer for integer tensors. A
    certain violation of the last column is an error; a possible one is checked at
    run time.

    Example:

    ```mlir
    %y = relax.pad %x by [0, -n mod 16, 1, 1] {pad_value = 1.0} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x6xf32, #relax.shape<[n + -n mod 16, 6]>>
    ```
  }];
  let arguments = (ins
    Relax_Tensor:$data,
    Relax_SymExprArrayAttr:$pad_width,
    DefaultValuedStrAttr<StrAttr, "constant">:$pad_mode,
    OptionalAttr<AnyAttrOf<[F64Attr, I64Attr]>>:$pad_value);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `by` custom<SymExprs>($pad_width) attr-dict `:`
    functional-type($data, $result)
  }];
  let hasFolder = 1;
}

def Relax_Resize2DOp : Relax_DeducedOp<"resize2d", [Pure]> {
  let summary = "resamples images to another size";
  let description = [{
    Resamples the spatial axes of `data` to `size`, a shape of height and width
    whose expressions become dimensions of the result. `layout` is any order of N
    batch, C channels, H and W.

    - `method` is `nearest_neighbor`, `linear` or `cubic`.
    - `coordinate_transformation_mode` maps output coordinates to input
      coordinates: `half_pixel`, `align_corners`, `asymmetric`,
      `pytorch_half_pixel`, `tf_half_pixel_for_nn` or `tf_crop_and_resize`. Only
      the last one uses `roi` (y0, x0, y1, x1 in units of the input's size) and
      `extrapolation_value`, the result outside of the input.
    - `rounding_method` chooses the element nearest to a coordinate: `round` (ties
      to the even one), `round_prefer_floor`, `round_prefer_ceil`, `floor`, `ceil`.
    - `cubic_alpha` is the coefficient of the cubic spline; with `cubic_exclude`,
      weights outside of the input are dropped and the others normalized to the
      sum one.
    - `out_dtype` selects another element type.

    If the result has integer elements, computed floats are rounded, ties to even, and
    saturated to the integer range; NaN becomes 0.

    An axis that is certainly empty cannot be resized to one that certainly is
    not; if that is undecided, the program checks it at run time.

    Example:

    ```mlir
    %y = relax.resize2d %x, %size {method = "nearest_neighbor"} : (tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, !relax.shape<[2*h, 2*w]>) -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, 2*w]>>
    ```
  }];
  let arguments = (ins
    Relax_Tensor:$data, Relax_ShapeType:$size,
    DefaultValuedAttr<DenseF64ArrayAttr, "{0.0, 0.0, 1.0, 1.0}">:$roi,
    DefaultValuedStrAttr<StrAttr, "NCHW">:$layout,
    DefaultValuedStrAttr<StrAttr, "linear">:$method,
    DefaultValuedStrAttr<StrAttr, "half_pixel">:$coordinate_transformation_mode,
    DefaultValuedStrAttr<StrAttr, "round">:$rounding_method,
    DefaultValuedAttr<F64Attr, "-0.75">:$cubic_alpha,
    DefaultValuedAttr<BoolAttr, "false">:$cubic_exclude,
    DefaultValuedAttr<F64Attr, "0.0">:$extrapolation_value,
    OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $size attr-dict `:` functional-type(operands, $result)";
}

def Relax_PixelShuffleOp : Relax_DeducedOp<"pixel_shuffle", [Pure]> {
  let summary = "moves channels into space";
  let description = [{
    Rearranges `[..., c * r * r, h, w]` to `[..., c, h * r, w * r]`, where `r` is
    `upscale_factor`: output `[c, y, x]` is input `[(c * r + y mod r) * r + x mod r, y
    floordiv r, x floordiv r]`. The number of channels must be a multiple of `r * r`,
    which is checked at run time if it is undecided.

    Example:

    ```mlir
    %y = relax.pixel_shuffle %x by 2 : (tensor<1x12x?x?xf32, #relax.shape<[1, 12, h, w]>>) -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, 2*w]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, I64Attr:$upscale_factor);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `by` $upscale_factor attr-dict `:` functional-type($data, $result)";
  let hasFolder = 1;
}

#endif // RELAX_OPS_IMAGE_TD
