# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`GroupQueryAttention` of `com.microsoft`: attention with a cache whose rows have lengths of their own.

A row of the batch has `past` keys before this call, and the new ones follow them:

    cache of a row   | past keys | new keys | not used |
    position         0          past     past + new    size of the cache

The results `present_key` and `present_value` have the size of the past ones, or `total_sequence_length` where that is
greater: so a buffer of the greatest length keeps its size, and a cache without room grows.
"""

from __future__ import annotations

from typing import Any

from .... import op
from ....symbolic import ExprLike, Sym
from ....values import Value
from ...conditions import compare
from ..data import Data
from ..lowering import Lowering
from ..registry import register_data
from .attention import Mask, attend, join_heads, rotated, split_heads


@register_data("com.microsoft::GroupQueryAttention")
def group_query_attention(ctx: Lowering, query: Data, *others: Data | None) -> tuple[Value, Value, Value]:
    """Causal attention in which several heads of queries share one of keys and values."""
    padded = [*others, *[None] * 13][:13]
    total_length = padded.pop(5)
    k, v, past_key, past_value, lengths, cosine, sine, positions, bias, sink, k_scale, v_scale = map(ctx.value, padded)
    _check_forms(ctx, k_scale, v_scale)
    heads, groups = ctx.int("num_heads"), ctx.int("kv_num_heads")
    q, k, v = _queries_keys_values(ctx, ctx.value(query), k, v, heads, groups)
    if lengths is None or total_length is None:
        ctx.fail("the inputs 'seqlens_k' and 'total_sequence_length' are left out, which the op needs")
    total = ctx.size(total_length, "total_sequence_length")
    batch, new = q.shape[0], q.shape[2]
    past = _past_lengths(ctx, lengths, total, batch, new)
    if ctx.int("do_rotary", 0):
        if cosine is None or sine is None:
            ctx.fail("the tables of cosines and sines are left out, which rotary positions need")
        if positions is None:
            positions = op.add(op.reshape(past, (batch, 1)), op.reshape(op.arange(0, new, 1, "i64"), (1, new)))
        size = 2 * ctx.fixed(cosine.shape[1], "the width of the tables of cosines")
        turn = bool(ctx.int("rotary_interleaved", 0))
        q, k = (rotated(ctx, part, cosine, sine, positions, turn, size) for part in (q, k))
    k, v = (_appended(ctx, *pair, past, total) for pair in ((past_key, k), (past_value, v)))
    window = ctx.int("local_window_size", -1)
    mask = Mask(True, window - 1 if window > 0 else -1, -1, past)
    if bias is not None and not ctx.equal(bias.shape[-1], k.shape[2]):
        bias = op.pad(bias, [0] * 7 + [k.shape[2] - bias.shape[-1]])  # of keys that no query sees
    if sink is None and ctx.int("smooth_softmax", 0) > 0:
        sink = op.zeros((heads,), q.dtype)
    made, _ = attend(ctx, q, k, v, bias, mask, ctx.float("scale", None) or None, sink=sink)
    return join_heads(made), k, v


def _check_forms(ctx: Lowering, *scales: Value | None) -> None:
    """Refuses what is not supported: quantized caches, and scores as a result."""
    for name in ("k_quant_type", "v_quant_type"):
        if ctx.text(name, "NONE") not in ("NONE", ""):
            raise ctx.unsupported("quantized caches; export the model with a cache of floats", name)
    if any(scale is not None for scale in scales):
        raise ctx.unsupported("quantized caches; export the model with a cache of floats")
    if ctx.int("qk_output", 0) or ctx.uses_output(3):
        raise ctx.unsupported("the scores as a result", "qk_output")


def _queries_keys_values(
    ctx: Lowering, q: Value, k: Value | None, v: Value | None, heads: int, groups: int
) -> tuple[Value, Value, Value]:
    """[batch, heads, length, size] each; packed ones follow each other in the last axis of the first input."""
    if k is None or v is None:
        size = q.shape[2] // (heads + 2 * groups)
        ends = [heads * size, (heads + groups) * size, (heads + 2 * groups) * size]
        q, k, v = (
            op.strided_slice(q, [2], [start], [end], assume_inbound=True) for start, end in zip([0, *ends], ends)
        )
    k, v = (part if part.ndim == 4 else split_heads(part, groups) for part in (k, v))
    return split_heads(q, heads), k, v


def _past_lengths(ctx: Lowering, lengths: Value, total: ExprLike, batch: ExprLike, new: ExprLike) -> Value:
    """How many keys each row has before the new ones: [batch], in i64.

    `lengths` has the number of all keys of each row, less one. In a first call, where all keys are new, a row may be
    shorter than the others; the keys after its end belong to no query of it, so that it starts at 0 like the others.
    """
    zero = ctx.scalar(0, "i64")
    ends = op.add(op.reshape(op.astype(lengths, "i64"), (batch,)), ctx.scalar(1, "i64"))
    past = op.subtract(ends, ctx.scalar(new, "i64"))
    if ctx.equal(new, total):
        past = op.zeros((batch,), "i64")
    else:
        is_first = op.equal(ctx.scalar(new, "i64"), ctx.scalar(total, "i64"))
        past = op.where(is_first, zero, past)
    fits = op.logical_and(op.less_equal(zero, past), op.less_equal(ends, ctx.scalar(total, "i64")))
    op.assert_(op.all(fits), f"{ctx.node}: 'seqlens_k' has a row shorter than its new keys, or beyond the total length")
    return past


def _appended(ctx: Lowering, before: Value | None, new: Value, past: Value, total: ExprLike) -> Value:
    """The cache with the new rows from the place `past` of each batch on: [batch, heads, present, size]."""
    batch, heads, count, size = new.shape
    have: Any = 0 if before is None else before.shape[2]
    if before is None and ctx.equal(count, total):
        return new
    present = total if ctx.facts.less_equal(have, total) else Sym.max(have, total)
    if before is None:
        before = op.zeros((batch, heads, present, size), new.dtype)
    elif not ctx.equal(have, present):
        before = op.pad(before, [0, 0, 0, 0, 0, present - have, 0, 0])
    if not ctx.facts.less_equal(count, present):
        ctx.require(compare("<=", count, present), "there are more new keys than 'total_sequence_length' says")
    rows = op.reshape(op.arange(0, count, 1, "i64"), (1, 1, count, 1))
    at = op.add(rows, op.reshape(past, (batch, 1, 1, 1)))
    return op.scatter_elements(before, op.broadcast_to(at, (batch, heads, count, size)), new, 2)
