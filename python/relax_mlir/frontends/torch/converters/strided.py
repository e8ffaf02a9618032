# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views by strides, which see the elements as they lie in memory.

A program of values has no memory that it could show in another way. Where a tensor is contiguous, its elements lie in
the order of the tensor, and a view by strides is a gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register


@register("aten::as_strided", "aten::as_strided_copy")
def as_strided(
    ctx: Lowering, x: Value, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any = None
) -> Value:
    places = _places(ctx, x, size, stride, storage_offset)
    return op.take(op.reshape(x, (-1,)), places, 0)


@register("aten::as_strided_scatter")
def as_strided_scatter(
    ctx: Lowering,
    x: Value,
    source: Value,
    size: Sequence[Any],
    stride: Sequence[Any],
    storage_offset: Any = None,
) -> Value:
    places = _places(ctx, x, size, stride, storage_offset)
    made = op.index_put(op.reshape(x, (-1,)), [places], ctx.cast(source, x.dtype), False)
    return op.reshape(made, ctx.shape)


def _places(ctx: Lowering, x: Value, size: Sequence[Any], stride: Sequence[Any], offset: Any) -> Value:
    """The position of each element of the view among those of the tensor."""
    _require_contiguous(ctx)
    offset = offset or 0
    last: ExprLike = offset
    places = ctx.integer(offset)
    for axis, (count, step) in enumerate(zip(size, stride)):
        last = last + (count - 1) * step
        along = op.multiply(op.arange(0, count, 1, "i64"), ctx.integer(step))
        places = op.add(places, op.reshape(along, (count, *[1] * (len(size) - 1 - axis))))
    total: ExprLike = 1
    for length in x.shape:
        total = total * length
    ctx.require(compare("<", last, total), "the view reaches beyond the elements of the tensor")
    return op.broadcast_to(places, tuple(size))


def _require_contiguous(ctx: Lowering) -> None:
    """Refuses tensors whose elements lie in another order, or not at the beginning of their memory."""
    example = ctx.example(0)
    step: ExprLike = 1
    for size, stride in reversed(list(zip(ctx.shape_of(example), example.stride()))):
        if not ctx.is_one(size) and not ctx.equal(ctx.symbols.expr(stride), step):
            raise ctx.unsupported("the tensor is not contiguous, so its memory is not known; call contiguous() before")
        step = step * size
    if not ctx.equal(ctx.symbols.expr(example.storage_offset()), 0):
        raise ctx.unsupported("the tensor is a part of another one, whose memory is not known; call clone() before")
