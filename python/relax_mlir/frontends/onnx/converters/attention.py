# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention and rotary positions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data


@dataclasses.dataclass(frozen=True)
class Mask:
    """Which keys a query sees, beside a mask that is given.

    Attributes:
      causal: whether it sees none behind its own place.
      left, right: how far it sees before and behind its place; -1 for any distance.
      offset: how many keys there are before the first query; one number, or a tensor with one for each batch.
      lengths: of the keys that count, one for each batch.
    """

    causal: bool = False
    left: int = -1
    right: int = -1
    offset: ExprLike | Value = 0
    lengths: Value | None = None


def split_heads(x: Value, heads: ExprLike) -> Value:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    batch, length, width = x.shape
    return op.permute_dims(op.reshape(x, (batch, length, heads, width // heads)), [0, 2, 1, 3])


def join_heads(x: Value) -> Value:
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    batch, heads, length, size = x.shape
    return op.reshape(op.permute_dims(x, [0, 2, 1, 3]), (batch, length, heads * size))


@register("Attention")
def attention(ctx: Lowering, q: Value, k: Value, v: Value, *others: Value | None) -> tuple[Value | None, ...]:
    bias, past_key, past_value, lengths = [*others, *[None] * 4][:4]
    packed = q.ndim == 3
    if packed:
        q = split_heads(q, ctx.int("q_num_heads"))
        k, v = (split_heads(part, ctx.int("kv_num_heads")) for part in (k, v))
    new = k.shape[2]
    if past_key is not None and past_value is not None:
        k, v = op.concat([past_key, k], 2), op.concat([past_value, v], 2)
    offset: Any = 0
    if past_key is not None:
        offset = past_key.shape[2]
    elif lengths is not None:
        offset = op.subtract(op.astype(lengths, "i64"), ctx.scalar(q.shape[2], "i64"))
    mask = Mask(
        bool(ctx.int("is_causal", 0)),
        ctx.int("left_window_size", -1),
        ctx.int("right_window_size", -1),
        offset,
        lengths,
    )
    if bias is not None:
        bias = _padded_mask(ctx, bias, k.shape[2])
    made = None
    if not ctx.uses_output(3):
        made = _fused(ctx, q, k, v, bias, mask, ctx.equal(new, q.shape[2]))
    scores = None
    if made is None:
        made, scores = attend(ctx, q, k, v, bias, mask, ctx.float("scale", None), ctx.int("qk_matmul_output_mode", 0))
    return (join_heads(made) if packed else made), k, v, scores


def _padded_mask(ctx: Lowering, mask: Value, length: ExprLike) -> Value:
    """A mask for all keys; those that a shorter one does not have are hidden."""
    have = mask.shape[-1]
    if ctx.equal(have, length) or ctx.is_one(have):
        return mask
    widths = [0] * (2 * mask.ndim - 1) + [length - have]
    if mask.dtype == "bool":
        return op.astype(op.pad(op.astype(mask, "u8"), widths), "bool")
    return op.pad(mask, widths, pad_value=-math.inf)


def _fused(
    ctx: Lowering, q: Value, k: Value, v: Value, bias: Value | None, mask: Mask, same_length: bool
) -> Value | None:
    """The op for attention, where it computes the same: in f32, without caps, windows and lengths."""
    is_plain = mask.left < 0 and mask.right < 0 and mask.lengths is None and not ctx.float("softcap", 0.0)
    if (
        not is_plain
        or q.dtype != "f32"
        or "softmax_precision" in ctx.node.attributes
        or (bias is not None and bias.dtype != "bool")
    ):
        return None
    causal = None
    if mask.causal:
        if not (isinstance(mask.offset, int) and mask.offset == 0) and not same_length:
            return None
        causal = "TopLeft" if isinstance(mask.offset, int) and mask.offset == 0 else "BottomRight"
    q, k, v = (op.permute_dims(part, [0, 2, 1, 3]) for part in (q, k, v))
    made = op.attention(q, k, v, bias, scale=ctx.float("scale", None), causal_mask=causal)
    return op.permute_dims(made, [0, 2, 1, 3])


def repeat_heads(x: Value, heads: ExprLike) -> Value:
    """Each head of keys and values as often as queries share it."""
    batch, count, length, size = x.shape
    if count == heads:
        return x
    wide = op.broadcast_to(op.expand_dims(x, [2]), (batch, count, heads // count, length, size))
    return op.reshape(wide, (batch, heads, length, size))


def attend(
    ctx: Lowering,
    q: Value,
    k: Value,
    v: Value,
    bias: Value | None,
    mask: Mask,
    scale: float | None,
    mode: int = 0,
    sink: Value | None = None,
) -> tuple[Value, Value]:
    """Attention step by step, rounding each in the type of the operands; gives also the scores that `mode` asks for.

    Args:
      sink: for each head a score that takes part in the softmax without a key of its own.
    """
    dtype = q.dtype
    if scale is None:
        size = op.sqrt(op.sqrt(ctx.scalar(q.shape[3], "f32")))
        factor = op.astype(op.divide(ctx.scalar(1, "f32"), size), dtype)
    else:
        factor = ctx.scalar(math.sqrt(scale), dtype)
    k, v = repeat_heads(k, q.shape[1]), repeat_heads(v, q.shape[1])
    scores = op.matmul(op.multiply(q, factor), op.permute_dims(op.multiply(k, factor), [0, 1, 3, 2]))
    shown = scores
    cap = ctx.float("softcap", 0.0)
    if cap:
        scores = op.multiply(op.tanh(op.divide(scores, ctx.scalar(cap, dtype))), ctx.scalar(cap, dtype))
        shown = scores
    added = _bias(ctx, bias, mask, q.shape[2], k.shape[2], dtype)
    hidden = None
    if added is not None:
        scores = op.add(scores, added)
        least = op.max(added, [added.ndim - 1], True)
        hidden = op.equal(least, ctx.scalar(-math.inf, dtype))
    shown = scores if mode == 2 else shown
    precision = ctx.dtype("softmax_precision", None) or dtype
    weights = _softmax_with(ctx, ctx.cast(scores, precision), sink)
    if hidden is not None:
        weights = op.where(hidden, ctx.scalar(0, precision), weights)
    weights = ctx.cast(weights, dtype)
    return op.matmul(weights, v), (weights if mode == 3 else shown)


def _softmax_with(ctx: Lowering, scores: Value, sink: Value | None) -> Value:
    """The softmax of [batch, heads, queries, keys], with one more score for each head if there is a sink."""
    if sink is None:
        return _softmax(ctx, scores)
    batch, heads, queries, keys = scores.shape
    column = op.reshape(ctx.cast(sink, scores.dtype), (1, heads, 1, 1))
    joined = op.concat([scores, op.broadcast_to(column, (batch, heads, queries, 1))], 3)
    return op.strided_slice(_softmax(ctx, joined), [3], [0], [keys])


def _softmax(ctx: Lowering, x: Value) -> Value:
    """Exponentials that make up one; in narrow floats each step is rounded, as the definition does."""
    if x.dtype in ("f32", "f64"):
        return op.softmax(x, -1)
    axis = [x.ndim - 1]
    most = op.max(x, axis, True)
    most = op.where(op.equal(most, ctx.scalar(-math.inf, x.dtype)), ctx.scalar(0, x.dtype), most)
    powers = op.exp(op.subtract(x, most))
    return op.divide(powers, op.sum(powers, axis, True))


def _bias(ctx: Lowering, bias: Value | None, mask: Mask, queries: ExprLike, keys: ExprLike, dtype: str) -> Value | None:
    """What is added to the scores: minus infinity where a key is hidden; None for nothing."""
    zero, least = ctx.scalar(0, dtype), ctx.scalar(-math.inf, dtype)
    seen = _seen(ctx, mask, queries, keys)
    made = None if seen is None else op.where(seen, zero, least)
    if bias is None:
        return made
    if bias.dtype == "bool":
        bias = op.where(bias, zero, least)
    return bias if made is None else op.add(bias, made)


def _seen(ctx: Lowering, mask: Mask, queries: ExprLike, keys: ExprLike) -> Value | None:
    """Which keys each query sees: [queries, keys], or [batch, 1, queries, keys]; None for all."""
    at_key = op.reshape(op.arange(0, keys, 1, "i64"), (1, keys))
    at_query = op.reshape(op.arange(0, queries, 1, "i64"), (queries, 1))
    if isinstance(mask.offset, Value):
        at_query = op.add(at_query, op.reshape(mask.offset, (mask.offset.shape[0], 1, 1, 1)))
    elif not (isinstance(mask.offset, int) and mask.offset == 0):
        at_query = op.add(at_query, ctx.scalar(mask.offset, "i64"))
    found = []
    if mask.causal:
        found.append(op.less_equal(at_key, at_query))
    if mask.left >= 0:
        found.append(op.less_equal(op.subtract(at_query, at_key), ctx.scalar(mask.left, "i64")))
    if mask.right >= 0:
        found.append(op.less_equal(op.subtract(at_key, at_query), ctx.scalar(mask.right, "i64")))
    if mask.lengths is not None:
        ends = op.reshape(op.astype(mask.lengths, "i64"), (mask.lengths.shape[0], 1, 1, 1))
        found.append(op.less(at_key, ends))
    made = None
    for part in found:
        made = part if made is None else op.logical_and(made, part)
    return made


@register_data("RotaryEmbedding")
def rotary_embedding(ctx: Lowering, x: Data, cosine: Data, sine: Data, positions: Data | None = None) -> Value:
    """Pairs of elements turned by angles, which tables have for each position."""
    value, packed = ctx.value(x), x.ndim == 3
    heads = ctx.int("num_heads", 0)
    if packed:
        value = split_heads(value, heads)
    made = rotated(
        ctx,
        value,
        ctx.value(cosine),
        ctx.value(sine),
        None if positions is None else ctx.value(positions),
        bool(ctx.int("interleaved", 0)),
        ctx.int("rotary_embedding_dim", 0),
    )
    return join_heads(made) if packed else made


def rotated(
    ctx: Lowering, x: Value, cosine: Value, sine: Value, positions: Value | None, interleaved: bool, size: int
) -> Value:
    """[batch, heads, length, size] with the first `size` elements of each head turned, or all for 0.

    Args:
      cosine, sine: [positions, size / 2], or without positions [batch, length, size / 2].
    """
    batch, heads, length, width = x.shape
    turned, rest = x, None
    if size and size != width:
        turned = op.strided_slice(x, [3], [0], [size])
        rest = op.strided_slice(x, [3], [size], [width])
        width = size
    half = width // 2
    if positions is not None:
        cosine, sine = (op.take(table, positions, 0) for table in (cosine, sine))
    cosine, sine = (op.expand_dims(op.strided_slice(table, [2], [0], [half]), [1]) for table in (cosine, sine))
    if interleaved:
        pairs = op.reshape(turned, (batch, heads, length, half, 2))
        first, second = (op.squeeze(op.strided_slice(pairs, [4], [place], [place + 1]), [4]) for place in (0, 1))
    else:
        first = op.strided_slice(turned, [3], [0], [half])
        second = op.strided_slice(turned, [3], [half], [2 * half])
    real = op.subtract(op.multiply(cosine, first), op.multiply(sine, second))
    imaginary = op.add(op.multiply(sine, first), op.multiply(cosine, second))
    if interleaved:
        made = op.reshape(op.stack([real, imaginary], 4), (batch, heads, length, width))
    else:
        made = op.concat([real, imaginary], 3)
    return made if rest is None else op.concat([made, rest], 3)
