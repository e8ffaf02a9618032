//===- Attention.td - attention and rotary embedding -------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_ATTENTION_TD
#define RELAX_OPS_ATTENTION_TD

include "Relax/RelaxBase.td"

def Relax_AttentionOp : Relax_DeducedOp<"attention", [Pure]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `softmax(query * key^T * scale + bias) * value` for each batch and head, with
    `query [b, n, h, d]`, `key [b, m, k, d]`, `value [b, m, k, e]` and the result
    `[b, n, h, e]`.

    - The number of query heads `h` is a multiple of `k`: query head `i` uses key
      and value head `i floordiv (h floordiv k)` (grouped-query attention; one
      each if they are equal). A violation is an error if it is certain, and
      checked at run time otherwise.
    - `bias` is broadcast to `[b, h, n, m]`. Numbers are added to the scaled
      products; a Boolean mask hides the keys where it is false.
    - `scale` is `1 / sqrt(d)` unless given.
    - `causal_mask` hides the keys that follow a query. With `"TopLeft"` query `i`
      sees the keys `j <= i`; with `"BottomRight"` the last query sees all keys,
      query `i` those with `j <= i + m - n`.
    - With `window_size` and a `causal_mask`, a query sees only the last
      `window_size` of the keys that the mask leaves, itself included.

    A query that sees no key has the result zero. All operands have the same element type,
    except a Boolean `bias`.

    Example:

    ```mlir
    %y = relax.attention %q, %k, %v {causal_mask = "BottomRight"} : (tensor<?x?x32x128xf16, #relax.shape<[b, n, 32, 128]>>, tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>, tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>) -> tensor<?x?x32x128xf16, #relax.shape<[b, n, 32, 128]>>
    ```
  }];
  let arguments = (ins
    Relax_FloatTensor:$query, Relax_FloatTensor:$key, Relax_FloatTensor:$value,
    Optional<Relax_Tensor>:$bias,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<StrAttr>:$causal_mask,
    OptionalAttr<I64Attr>:$window_size);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`,` $bias^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_RotaryEmbeddingOp : Relax_DeducedOp<"rotary_embedding", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of the last dimension of `x [b, n, h, d]` by an angle that is
    proportional to the token's position: pair `i` of the `rotary_dim / 2` pairs
    becomes `(x1 * cos - x2 * sin, x1 * sin + x2 * cos)` with `angle = position *
    scale * theta ^ (-2 * i / rotary_dim)`.

    - `layout` says which elements pair up: `"half_split"` takes `i` and
      `i + rotary_dim / 2` (GPT-NeoX, Hugging Face), `"interleaved"` takes `2*i` and
      `2*i + 1` (GPT-J, GGML's NORM).
    - `rotary_dim` is `d` unless given, even, and at most `d`. The elements after it are
      unchanged.
    - Token `j` of the axis `n` has position `offset + j`, where `offset` is a
      symbolic expression, zero unless given; or `positions + j` for `positions`
      of rank 0; or the value in `positions` of shape `[n]` or `[b, n]`.
    - `freq_factors [rotary_dim / 2]` divides the angle of each pair, and
      `attn_factor` multiplies sine and cosine.
    - `cos` and `sin`, tables of shape `[p, rotary_dim / 2]`, replace the angles: row
      `position` is read, which must be in [0, p). Other positions are an IndexError on
      the CPU, and read the nearest row on a device. Tables exclude `freq_factors`;
      `theta` and `scale` have no effect with them.

    Example:

    ```mlir
    %y = relax.rotary_embedding %x {offset = #relax.expr<m>, theta = 500000.0} : (tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>) -> tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>
    %z = relax.rotary_embedding %x2 positions %p cos %cos sin %sin {layout = "interleaved"} : (tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>
    ```
  }];
  let arguments = (ins
    Relax_FloatTensor:$x,
    Optional<Relax_IndexTensor>:$positions,
    Optional<Relax_FloatTensor>:$cos, Optional<Relax_FloatTensor>:$sin,
    Optional<Relax_FloatTensor>:$freq_factors,
    OptionalAttr<Relax_SymExprAttr>:$offset,
    DefaultValuedStrAttr<StrAttr, "half_split">:$layout,
    OptionalAttr<I64Attr>:$rotary_dim,
    DefaultValuedAttr<F64Attr, "10000.0">:$theta,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "1.0">:$attn_factor);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x (`positions` $positions^)? (`cos` $cos^)? (`sin` $sin^)?
    (`freq_factors` $freq_factors^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

#endif // RELAX_OPS_ATTENTION_TD
