# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of `com.microsoft` that exporters and optimizers write."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .activation import elu, hard_sigmoid
from .attention import Mask, attend, join_heads, rotated, split_heads
from .convolution import convolve, with_bias
from .linear import factor, gemm
from .normalization import rms_norm
from .quantized import dynamically_quantized, integer_product, spread, to_quantized

_MS = "com.microsoft::"


# --- activations and normalization


def _with_bias(x: Value, bias: Value | None) -> Value:
    return x if bias is None else op.add(x, bias)


@register(f"{_MS}Gelu", f"{_MS}BiasGelu")
def gelu(ctx: Lowering, x: Value, bias: Value | None = None) -> Value:
    return op.gelu(_with_bias(x, bias))


@register(f"{_MS}FastGelu")
def fast_gelu(ctx: Lowering, x: Value, bias: Value | None = None) -> Value:
    return op.gelu_tanh(_with_bias(x, bias))


@register(f"{_MS}QuickGelu")
def quick_gelu(ctx: Lowering, x: Value) -> Value:
    return op.multiply(x, op.sigmoid(op.multiply(x, ctx.scalar(ctx.float("alpha", 1.702), x.dtype))))


def _layer_norm(ctx: Lowering, x: Value, scale: Value, bias: Value | None) -> Value:
    wide = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    made = op.layer_norm(ctx.cast(x, wide), [x.ndim - 1], None, None, ctx.float("epsilon", 1e-5))
    made = op.multiply(made, ctx.cast(scale, wide))
    return ctx.cast(_with_bias(made, None if bias is None else ctx.cast(bias, wide)), x.dtype)


@register(f"{_MS}SimplifiedLayerNormalization", "SimplifiedLayerNormalization")
def simplified_layer_normalization(ctx: Lowering, x: Value, scale: Value) -> Value:
    return rms_norm(ctx, x, scale, ctx.axis(ctx.int("axis", -1), x.ndim), ctx.float("epsilon", 1e-5))


@register(f"{_MS}SkipLayerNormalization")
def skip_layer_normalization(
    ctx: Lowering, x: Value, skip: Value, scale: Value, beta: Value | None = None, bias: Value | None = None
) -> tuple[Value | None, ...]:
    """Normalizes a sum, which is the last result."""
    total = _with_bias(op.add(x, skip), bias)
    return _layer_norm(ctx, total, scale, beta), None, None, total


@register(f"{_MS}SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(
    ctx: Lowering, x: Value, skip: Value, scale: Value, bias: Value | None = None
) -> tuple[Value | None, ...]:
    total = _with_bias(op.add(x, skip), bias)
    return rms_norm(ctx, total, scale, x.ndim - 1, ctx.float("epsilon", 1e-5)), None, None, total


@register(f"{_MS}EmbedLayerNormalization")
def embed_layer_normalization(
    ctx: Lowering,
    ids: Value,
    segments: Value | None,
    words: Value,
    places: Value,
    kinds: Value | None,
    scale: Value,
    bias: Value,
    mask: Value | None = None,
    positions: Value | None = None,
) -> tuple[Value, Value, Value]:
    """The sum of embeddings of words, positions and segments, normalized; also how many tokens each row has."""
    batch, length = ids.shape
    total = op.take(words, ids, 0)
    at = op.arange(0, length, 1, "i64") if positions is None else positions
    total = op.add(total, op.take(places, at, 0))
    if segments is not None and kinds is not None:
        total = op.add(total, op.take(kinds, segments, 0))
    if mask is None:
        counts = op.zeros((batch,), "i32")
    else:
        counts = op.sum(op.astype(mask, "i32"), [1])
    return _layer_norm(ctx, total, scale, bias), counts, total


# --- products


@register(f"{_MS}FusedMatMul", f"{_MS}TransposeMatMul")
def fused_matmul(ctx: Lowering, a: Value, b: Value) -> Value:
    if ctx.int("transBatchA", 0) or ctx.int("transBatchB", 0):
        raise ctx.unsupported("operands whose batches are transposed", "transBatchA")
    a = _transposed(a) if ctx.int("transA", 0) else a
    b = _transposed(b) if ctx.int("transB", 0) else b
    made, alpha = op.matmul(a, b), ctx.float("alpha", 1.0)
    return made if alpha == 1 else op.multiply(made, factor(ctx, alpha, made.dtype))


def _transposed(x: Value) -> Value:
    return op.permute_dims(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@register(f"{_MS}FusedGemm")
def fused_gemm(ctx: Lowering, a: Value, b: Value, c: Value | None = None) -> Value:
    return _activated(ctx, gemm(ctx, a, b, c))


def _activated(ctx: Lowering, x: Value) -> Value:
    """The function that a fused op ends with."""
    kind = ctx.text("activation", "")
    parameters = list(ctx.attribute("activation_params", [])) or [
        ctx.float(name) for name in ("activation_alpha", "activation_beta") if name in ctx.node.attributes
    ]
    if kind == "":
        return x
    if kind == "Relu":
        return op.maximum(x, ctx.scalar(0, x.dtype))
    if kind in ("Sigmoid", "Tanh"):
        return {"Sigmoid": op.sigmoid, "Tanh": op.tanh}[kind](x)
    if kind == "LeakyRelu":
        slope = ctx.scalar(parameters[0] if parameters else 0.01, x.dtype)
        return op.where(op.less(x, ctx.scalar(0, x.dtype)), op.multiply(x, slope), x)
    if kind == "HardSigmoid":
        defaults = [0.2, 0.5]
        alpha, beta = parameters + defaults[len(parameters) :]
        return hard_sigmoid(ctx, x, alpha, beta)
    if kind == "Clip":
        low, high = parameters
        return op.minimum(op.maximum(x, ctx.scalar(low, x.dtype)), ctx.scalar(high, x.dtype))
    if kind == "Elu":
        return elu(ctx, x, parameters[0] if parameters else 1.0)
    raise ctx.unsupported(f"the activation '{kind}'", "activation")


@register(f"{_MS}FusedConv")
def fused_conv(ctx: Lowering, x: Value, w: Value, bias: Value | None = None, z: Value | None = None) -> Value:
    made = with_bias(convolve(ctx, x, w), bias)
    return _activated(ctx, _with_bias(made, z))


@register(f"{_MS}NhwcConv")
def nhwc_conv(ctx: Lowering, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Channels last, in the image and in the kernel."""
    inner = list(range(1, x.ndim - 1))
    order = [0, x.ndim - 1, *inner]
    made = with_bias(convolve(ctx, op.permute_dims(x, order), op.permute_dims(w, order)), bias)
    return op.permute_dims(made, [0, *range(2, x.ndim), 1])


@register_data(f"{_MS}MatMulNBits")
def matmul_nbits(ctx: Lowering, x: Data, packed: Data, scales: Data, *others: Data | None) -> Value:
    """A matrix in blocks of a few bits along its inner dimension, packed with the lowest first."""
    zeros, groups, bias = [*others, *[None] * 3][:3]
    if groups is not None:
        raise ctx.unsupported("blocks in another order (g_idx)")
    k, n, bits, block = ctx.int("K"), ctx.int("N"), ctx.int("bits", 4), ctx.int("block_size")
    if bits not in (2, 4, 8):
        raise ctx.unsupported(f"{bits} bits; expected 2, 4 or 8", "bits")
    blocks = -(-k // block)
    value = ctx.value(x)
    integers = op.reshape(unpacked(ctx, op.reshape(ctx.value(packed), (n * blocks, -1)), bits), (n, blocks, block))
    numbers = op.astype(integers, "f32")
    if zeros is None:
        offset = ctx.scalar(1 << (bits - 1), "f32")
    elif dtypes.is_float(zeros.dtype):
        offset = op.astype(op.reshape(ctx.value(zeros), (n, blocks, 1)), "f32")
    else:
        rows = unpacked(ctx, op.reshape(ctx.value(zeros), (n, -1)), bits)
        offset = op.astype(op.expand_dims(op.strided_slice(rows, [1], [0], [blocks]), [2]), "f32")
    scale = op.astype(op.reshape(ctx.value(scales), (n, blocks, 1)), "f32")
    matrix = op.reshape(op.multiply(op.subtract(numbers, offset), scale), (n, blocks * block))
    matrix = op.strided_slice(matrix, [1], [0], [k]) if blocks * block != k else matrix
    made = op.linear(value, ctx.cast(matrix, value.dtype))
    return _with_bias(made, ctx.value(bias))


def unpacked(ctx: Lowering, x: Value, bits: int) -> Value:
    """The numbers in each byte of the last axis, the lowest first."""
    if bits == 8:
        return x
    count = 8 // bits
    shifts = op.constant((np.arange(count) * bits).astype(np.uint8))
    parts = op.right_shift(op.expand_dims(x, [x.ndim]), shifts)
    parts = op.bitwise_and(parts, ctx.scalar((1 << bits) - 1, "u8"))
    return op.reshape(parts, (*x.shape[:-1], x.shape[-1] * count))


# --- quantized


@register(f"{_MS}MatMulIntegerToFloat")
def matmul_integer_to_float(
    ctx: Lowering, a: Value, b: Value, a_scale: Value, b_scale: Value, *others: Value | None
) -> Value:
    a_zero, b_zero, bias = [*others, *[None] * 3][:3]
    sums = op.astype(integer_product(ctx, a, b, a_zero, b_zero), "f32")
    made = op.multiply(sums, op.multiply(op.astype(a_scale, "f32"), op.astype(b_scale, "f32")))
    return ctx.cast(_with_bias(made, bias), a_scale.dtype)


@register(f"{_MS}DynamicQuantizeMatMul")
def dynamic_quantize_matmul(
    ctx: Lowering, a: Value, b: Value, b_scale: Value, b_zero: Value | None = None, bias: Value | None = None
) -> Value:
    quantized, scale, zero = dynamically_quantized(ctx, a)
    sums = op.astype(integer_product(ctx, quantized, b, zero, b_zero), "f32")
    return _with_bias(op.multiply(sums, op.multiply(scale, b_scale)), bias)


def _dequantized(ctx: Lowering, x: Value, scale: Value, zero: Value | None) -> Value:
    numbers = op.astype(x, "i32")
    if zero is not None:
        numbers = op.subtract(numbers, op.astype(spread(ctx, zero, x, 0), "i32"))
    return op.multiply(op.astype(numbers, "f32"), spread(ctx, scale, x, 0))


def _quantized_binary(name: str, function: Any) -> None:
    @register(f"{_MS}{name}")
    def convert(
        ctx: Lowering, a: Value, a_scale: Value, a_zero: Value | None, b: Value, *others: Value | None
    ) -> Value:
        b_scale, b_zero, scale, zero = [*others, *[None] * 4][:4]
        if b_scale is None or scale is None:
            ctx.fail("the scale of the second input or of the result is left out, which the op needs")
        made = function(_dequantized(ctx, a, a_scale, a_zero), _dequantized(ctx, b, b_scale, b_zero))
        return to_quantized(ctx, op.divide(made, scale), zero, a.dtype)


_quantized_binary("QLinearAdd", op.add)
_quantized_binary("QLinearMul", op.multiply)


def _quantized_unary(name: str, function: Any) -> None:
    @register(f"{_MS}{name}")
    def convert(
        ctx: Lowering, x: Value, x_scale: Value, x_zero: Value, scale: Value, zero: Value | None = None
    ) -> Value:
        made = function(ctx, _dequantized(ctx, x, x_scale, x_zero))
        return to_quantized(ctx, op.divide(made, scale), zero, x.dtype)


_quantized_unary("QLinearSigmoid", lambda ctx, x: op.sigmoid(x))
_quantized_unary(
    "QLinearLeakyRelu",
    lambda ctx, x: op.where(
        op.less(x, ctx.scalar(0, "f32")), op.multiply(x, ctx.scalar(ctx.float("alpha", 0.01), "f32")), x
    ),
)
_quantized_unary("QLinearGlobalAveragePool", lambda ctx, x: op.mean(x, _spatial(ctx, x), True))
_quantized_unary("QLinearSoftmax", lambda ctx, x: op.softmax(x, ctx.int("axis", -1)))


def _spatial(ctx: Lowering, x: Value) -> list[int]:
    return list(range(1, x.ndim - 1)) if ctx.int("channels_last", 0) else list(range(2, x.ndim))


@register(f"{_MS}QLinearConcat")
def qlinear_concat(ctx: Lowering, scale: Value, zero: Value, *parts: Value) -> Value:
    values = [_dequantized(ctx, *parts[index : index + 3]) for index in range(0, len(parts), 3)]
    joined = op.concat(values, ctx.axis(ctx.int("axis"), values[0].ndim))
    return to_quantized(ctx, op.divide(joined, scale), zero, zero.dtype)


# --- attention


def _attended(ctx: Lowering, q: Value, k: Value, v: Value, bias: Value | None, mask: Mask) -> Value:
    made, _ = attend(ctx, q, k, v, bias, mask, ctx.float("scale", None) or None)
    return join_heads(made)


def _key_mask(ctx: Lowering, mask: Value | None, rank_of_keys: Any) -> Value | None:
    """Which keys count, as [batch, 1, 1, keys] or [batch, 1, queries, keys]; lengths of rows as [batch]."""
    if mask is None:
        return None
    if mask.ndim == 1:
        places = op.reshape(op.arange(0, rank_of_keys, 1, "i64"), (1, 1, 1, rank_of_keys))
        return op.less(places, op.reshape(op.astype(mask, "i64"), (mask.shape[0], 1, 1, 1)))
    shown = op.not_equal(mask, ctx.scalar(0, mask.dtype))
    return op.expand_dims(shown, {2: [1, 2], 3: [1], 4: []}[mask.ndim]) if mask.ndim < 4 else shown


def _joined_bias(ctx: Lowering, shown: Value | None, bias: Value | None, dtype: str) -> Value | None:
    if shown is None:
        return bias
    least = ctx.scalar(ctx.float("mask_filter_value", -10000.0), dtype)
    made = op.where(shown, ctx.scalar(0, dtype), least)
    return made if bias is None else op.add(made, bias)


@register(f"{_MS}MultiHeadAttention")
def multi_head_attention(ctx: Lowering, q: Value, *others: Value | None) -> tuple[Value, Value, Value]:
    k, v, bias, mask, added, past_key, past_value = [*others, *[None] * 7][:7]
    heads = ctx.int("num_heads")
    if k is None or v is None or q.ndim != 3:
        raise ctx.unsupported("packed queries, keys and values; give them as three inputs")
    if bias is not None:
        widths = [part.shape[-1] for part in (q, k, v)] if k.ndim == 3 else [q.shape[2]] * 3
        parts: list[Value] = []
        start: ExprLike = 0
        for width in widths:
            parts.append(op.strided_slice(bias, [0], [start], [start + width], assume_inbound=True))
            start = start + width
        q = op.add(q, parts[0])
        k, v = (op.add(part, more) if part.ndim == 3 else part for part, more in zip((k, v), parts[1:]))
    q = split_heads(q, heads)
    k, v = (split_heads(part, heads) if part.ndim == 3 else part for part in (k, v))
    before: Any = 0
    if past_key is not None and past_value is not None:
        before = past_key.shape[2]
        k, v = op.concat([past_key, k], 2), op.concat([past_value, v], 2)
    joined = _joined_bias(ctx, _key_mask(ctx, mask, k.shape[2]), added, q.dtype)
    causal = Mask(bool(ctx.int("unidirectional", 0)), offset=before)
    return _attended(ctx, q, k, v, joined, causal), k, v


@register(f"{_MS}Attention")
def packed_attention(
    ctx: Lowering, x: Value, weight: Value, bias: Value | None = None, *others: Value | None
) -> tuple[Value, Value | None]:
    """Queries, keys and values by one product; past keys and values are stacked in one tensor."""
    mask, past, added = [*others, *[None] * 3][:3]
    heads = ctx.int("num_heads")
    sizes = ctx.ints("qkv_hidden_sizes", None) or [weight.shape[1] // 3] * 3
    projected = _with_bias(op.matmul(x, weight), bias)
    parts, start = [], 0
    for size in sizes:
        parts.append(op.strided_slice(projected, [2], [start], [start + size], assume_inbound=True))
        start = start + size
    q, k, v = (split_heads(part, heads) for part in parts)
    before: Any = 0
    if past is not None:
        past_key, past_value = (op.squeeze(op.strided_slice(past, [0], [place], [place + 1]), [0]) for place in (0, 1))
        before = past_key.shape[2]
        k, v = op.concat([past_key, k], 2), op.concat([past_value, v], 2)
    joined = _joined_bias(ctx, _key_mask(ctx, mask, k.shape[2]), added, q.dtype)
    made = _attended(ctx, q, k, v, joined, Mask(bool(ctx.int("unidirectional", 0)), offset=before))
    return made, op.stack([k, v], 0) if ctx.uses_output(1) else None


@register(f"{_MS}RotaryEmbedding")
def rotary_embedding(ctx: Lowering, x: Value, positions: Value, cosine: Value, sine: Value) -> Value:
    """Positions are one for each token, or the first of each batch's."""
    size, heads = ctx.int("rotary_embedding_dim", 0), ctx.int("num_heads", 0)
    if x.ndim == 3:
        width = size or 2 * cosine.shape[1]
        value = split_heads(x, heads or x.shape[2] // width)
    else:
        value = x
    if positions.ndim == 1:
        steps = op.reshape(op.arange(0, value.shape[2], 1, "i64"), (1, value.shape[2]))
        positions = op.add(op.reshape(positions, (positions.shape[0], 1)), steps)
    made = rotated(ctx, value, cosine, sine, positions, bool(ctx.int("interleaved", 0)), size)
    return join_heads(made) if x.ndim == 3 else made
