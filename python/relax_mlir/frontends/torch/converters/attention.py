# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot-product attention, which stays whole."""

from __future__ import annotations

from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
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
    operands = [_with_heads(ctx, operand, leading) for operand in (query, key, value)]
    if attn_mask is not None:
        attn_mask = attn_mask if attn_mask.dtype == "bool" else ctx.cast(attn_mask, query.dtype)
        attn_mask = _mask(ctx, attn_mask, leading)
    made = op.attention(*operands, attn_mask, scale, "TopLeft" if is_causal else None)
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
