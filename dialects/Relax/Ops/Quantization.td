//===- Quantization.td - quantized tensors -----------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_QUANTIZATION_TD
#define RELAX_OPS_QUANTIZATION_TD

include "Relax/RelaxBase.td"

def Relax_QuantizeOp : Relax_DeducedOp<"quantize", [Pure]> {
  let summary = "quantizes floats by scale and zero point";
  let description = [{
    `clamp(round(data / scale) + zero_point)`, rounding ties to even and clamping to the
    range of `out_dtype`, i8 unless given. `out_dtype` may also be a float of 8 bits or
    less. NaN, e.g. 0 divided by a scale of 0, becomes the integer 0, and stays NaN in a
    float.

    `scale` and `zero_point` are scalars, or have rank 1 and one element for each index of
    the dimension `axis` of `data`. The default `zero_point` is zero.

    Example:

    ```mlir
    %q = relax.quantize %x, %scale, %zero : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8xf32>, tensor<i8>) -> tensor<?x8xi8, #relax.shape<[n, 8]>>
    ```
  }];
  let arguments = (ins
    Relax_FloatTensor:$data, Relax_FloatTensor:$scale,
    Optional<Relax_Tensor>:$zero_point,
    DefaultValuedAttr<I64Attr, "-1">:$axis,
    OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $scale (`,` $zero_point^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_DequantizeOp : Relax_DeducedOp<"dequantize", [Pure]> {
  let summary = "dequantizes integers by scale and zero point";
  let description = [{
    `(data - zero_point) * scale`, computed in `out_dtype`, f32 unless given; the
    difference is exact. Operands are as for `relax.quantize`.

    Example:

    ```mlir
    %x = relax.dequantize %q, %scale {axis = 0, out_dtype = f16} : (tensor<?x8xi8, #relax.shape<[n, 8]>>, tensor<?xf16, #relax.shape<[n]>>) -> tensor<?x8xf16, #relax.shape<[n, 8]>>
    ```
  }];
  let arguments = (ins
    Relax_Tensor:$data, Relax_FloatTensor:$scale,
    Optional<Relax_Tensor>:$zero_point,
    DefaultValuedAttr<I64Attr, "-1">:$axis,
    OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data `,` $scale (`,` $zero_point^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

#endif // RELAX_OPS_QUANTIZATION_TD
