# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot-product attention, which stays whole."""

from __future__ import annotations

import math
from typing import Any

from .... import op
from ....values import Value
from ..dtypes import from_torch
from ..lowering import Lowering, wide_type
from ..registry import register


@register("aten::scaled_dot_product_attention")
def attention(
    ctx: Lowering,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """PyTorch has heads before tokens, `relax.attention` behind them; leading axes become one batch."""
    if dropout_p:
        raise ctx.unsupported("it drops at random; export the model after model.eval()")
    shape = ctx.shape
    leading = shape[:-3] if len(shape) > 3 else ()
    q, k, v = (_with_heads(ctx, operand, leading) for operand in (query, key, value))
    if attn_mask is not None:
        attn_mask = attn_mask if attn_mask.dtype == "bool" else ctx.cast(attn_mask, query.dtype)
        attn_mask = _mask(ctx, attn_mask, leading)
    made = op.attention(q, k, v, attn_mask, scale, "TopLeft" if is_causal else None)
    made = op.permute_dims(made, [0, 2, 1, 3])
    return made if len(shape) == 4 else op.reshape(made, shape)


def _with_heads(ctx: Lowering, x: Value, leading: tuple[Any, ...]) -> Value:
    """An operand as `[batch, tokens, heads, features]`."""
    if len(x.shape) > 3 and not all(map(ctx.equal, x.shape[:-3], leading)):
        x = op.broadcast_to(x, (*leading, *x.shape[-3:]))
    if len(x.shape) != 4:
        heads = x.shape[-3] if len(x.shape) > 2 else 1
        batch: Any = 1
        for size in leading:
            batch = batch * size
        x = op.reshape(x, (batch, heads, *x.shape[-2:]))
    return op.permute_dims(x, [0, 2, 1, 3])


def _mask(ctx: Lowering, mask: Value, leading: tuple[Any, ...]) -> Value:
    """A mask or a bias of at most four axes."""
    if mask.ndim <= 4 and len(leading) <= 1:
        return mask
    mask = op.broadcast_to(mask, (*leading, *mask.shape[-3:]))
    batch: Any = 1
    for size in leading:
        batch = batch * size
    return op.reshape(mask, (batch, *mask.shape[-3:]))


@register("aten::_scaled_dot_product_flash_attention_for_cpu")
def attention_with_sums(
    ctx: Lowering,
    query: Value,
    key: Value,
    value: Value,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Value | None = None,
    scale: float | None = None,
) -> tuple[Value, Value | None]:
    """The result with the logarithm of the sum of each row's exponentials, from which the gradient is computed."""
    made = attention(ctx, query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    if not ctx.uses_result(1):
        return made, None
    scores = _scores(ctx, query, _repeated(ctx, key, query), attn_mask, is_causal, scale)
    return made, ctx.cast(op.logsumexp(scores, [3]), from_torch(ctx.results[1].dtype))


@register("aten::_scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(
    ctx: Lowering,
    grad: Value,
    query: Value,
    key: Value,
    value: Value,
    out: Value,
    logsumexp: Value,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Value | None = None,
    scale: float | None = None,
) -> tuple[Value, Value, Value]:
    """The gradients of query, key and value.

    With weights `p = exp(s - logsumexp)` of the scores `s`, the gradient of the scores is `p * (grad @ value^T - d)`,
    where `d` is the sum of `grad * out` of each row.
    """
    wide = wide_type(query.dtype)
    grad, out = ctx.cast(grad, wide), ctx.cast(out, wide)
    keys, values = (ctx.cast(_repeated(ctx, part, query), wide) for part in (key, value))
    scores = _scores(ctx, query, keys, attn_mask, is_causal, scale)
    sums = op.expand_dims(ctx.cast(logsumexp, wide), [3])
    sees_none = op.equal(sums, ctx.tensor(-math.inf, wide))
    weights = op.where(sees_none, ctx.tensor(0.0, wide), op.exp(op.subtract(scores, sums)))
    share = op.sum(op.multiply(grad, out), [3], True)
    of_scores = op.multiply(weights, op.subtract(op.matmul(grad, _turned(values)), share))
    of_scores = op.multiply(of_scores, ctx.tensor(_scale(ctx, query, scale), wide))
    of_query = op.matmul(of_scores, keys)
    of_key = _collected(ctx, op.matmul(_turned(of_scores), ctx.cast(query, wide)), key)
    of_value = _collected(ctx, op.matmul(_turned(weights), grad), value)
    return ctx.cast(of_query, query.dtype), ctx.cast(of_key, key.dtype), ctx.cast(of_value, value.dtype)


def _turned(x: Value) -> Value:
    return op.permute_dims(x, [0, 1, 3, 2])


def _scale(ctx: Lowering, query: Value, scale: float | None) -> float:
    if scale is not None:
        return float(scale)
    size = query.shape[-1]
    if not isinstance(size, int):
        raise ctx.unsupported(f"heads of the dynamic size {size} without a scale; pass scale=")
    return 1.0 / math.sqrt(size)


def _scores(ctx: Lowering, query: Value, key: Value, mask: Value | None, is_causal: bool, scale: float | None) -> Value:
    """The scaled products `[b, h, n, m]`, minus infinity where a query does not see a key."""
    wide = wide_type(query.dtype)
    made = op.matmul(ctx.cast(query, wide), _turned(ctx.cast(key, wide)))
    made = op.multiply(made, ctx.tensor(_scale(ctx, query, scale), wide))
    hidden = ctx.tensor(-math.inf, wide)
    if mask is not None:
        made = op.where(mask, made, hidden) if mask.dtype == "bool" else op.add(made, ctx.cast(mask, wide))
    if is_causal:
        rows, columns = (op.arange(0, size, 1, "i64") for size in made.shape[2:])
        made = op.where(op.less_equal(op.expand_dims(columns, [0]), op.expand_dims(rows, [1])), made, hidden)
    return made


def _repeated(ctx: Lowering, x: Value, query: Value) -> Value:
    """Keys or values with as many heads as the queries, which share them in groups."""
    heads, wanted = x.shape[1], query.shape[1]
    if ctx.equal(heads, wanted):
        return x
    batch, _, *rest = x.shape
    spread = op.broadcast_to(op.expand_dims(x, [2]), (batch, heads, wanted // heads, *rest))
    return op.reshape(spread, (batch, wanted, *rest))


def _collected(ctx: Lowering, grad: Value, x: Value) -> Value:
    """The gradient of what `_repeated` has repeated."""
    heads, wanted = x.shape[1], grad.shape[1]
    if ctx.equal(heads, wanted):
        return grad
    batch, _, *rest = grad.shape
    return op.sum(op.reshape(grad, (batch, heads, wanted // heads, *rest)), [2])
