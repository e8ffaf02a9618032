# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of neighbors: reductions of segments, and equal elements next to each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register
from .index import positions

_KINDS = {"sum": ("add", 0.0), "mean": ("add", 0.0), "prod": ("mul", 1.0)}
_EXTREMES = {"max": ("max", -math.inf), "min": ("min", math.inf)}


@register("aten::segment_reduce")
def segment_reduce(
    ctx: Lowering,
    data: Value,
    reduce: str,
    *,
    lengths: Value | None = None,
    indices: Value | None = None,
    offsets: Value | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Value:
    """Reduces segments of an axis, of which leading axes have lengths, or offsets, of their own."""
    if indices is not None or (lengths is None and offsets is None):
        raise ctx.unsupported("segments by indices; give lengths or offsets")
    axis = ctx.axis(axis, data.ndim)
    lead, size, rest = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    rows = op.reshape(data, (_product(lead), size, _product(rest)))
    if lengths is None:
        assert offsets is not None
        limits = op.reshape(op.astype(offsets, "i64"), (_product(lead), offsets.shape[axis]))
        ends = op.strided_slice(limits, [1], [1], [2**63 - 1])
        counts = op.subtract(ends, op.strided_slice(limits, [1], [0], [limits.shape[1] - 1]))
    else:
        counts = op.reshape(op.astype(lengths, "i64"), (_product(lead), lengths.shape[axis]))
        ends = op.cumsum(counts, 1)
    last = op.strided_slice(ends, [1], [-1], [2**63 - 1])
    ctx.check(op.less_equal(last, ctx.tensor(size, "i64")), "the segments are longer than the axis")
    segments = ends.shape[1]
    places = op.reshape(op.arange(0, size, 1, "i64"), (1, size, 1))
    segment = op.sum(op.astype(op.less_equal(op.expand_dims(ends, [1]), places), "i64"), [2])
    segment = op.broadcast_to(op.expand_dims(segment, [2]), rows.shape)
    kind, neutral = _KINDS.get(reduce) or _EXTREMES[reduce]
    start = ctx.tensor(neutral if initial is None else float(initial), data.dtype)
    # One segment more takes what lies behind the last one.
    made = op.full((rows.shape[0], segments + 1, rows.shape[2]), start, data.dtype)
    made = op.scatter_elements(made, segment, rows, 1, kind)
    made = op.strided_slice(made, [1], [0], [segments])
    if reduce == "mean":
        made = _mean(ctx, made, op.expand_dims(counts, [2]), initial is None)
    return op.reshape(made, ctx.shape)


def _mean(ctx: Lowering, total: Value, counts: Value, is_open: bool) -> Value:
    """The mean of each segment; one without elements has NaN, unless an initial value was given."""
    is_empty = op.equal(counts, ctx.tensor(0, "i64"))
    divisor = op.astype(op.maximum(counts, ctx.tensor(1, "i64")), total.dtype)
    made = op.divide(total, divisor)
    return op.where(is_empty, ctx.tensor(math.nan, total.dtype), made) if is_open else made


@register("aten::unique_consecutive", "aten::unique_dim_consecutive")
def unique_consecutive(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> tuple[Value | None, ...]:
    """The first of each run of equal elements, or of equal slices of an axis; which run each is in; their lengths."""
    dim = args[0] if "unique_dim" in ctx.name else (args[2] if len(args) > 2 else kwargs.get("dim"))
    if dim is None:
        axis, rows = 0, op.reshape(x, (-1,))
    else:
        axis, rows = ctx.axis(dim, x.ndim), x
    size = rows.shape[axis]
    ctx.require(compare(">=", size, 1), "a tensor of no elements has no runs")
    after = op.strided_slice(rows, [axis], [1], [2**63 - 1])
    before = op.strided_slice(rows, [axis], [0], [size - 1])
    others = [place for place in range(rows.ndim) if place != axis]
    differs = op.not_equal(after, before)
    differs = op.any(differs, others) if others else differs
    is_first = op.concat([op.ones((1,), "bool"), differs], 0)
    starts = positions(ctx, is_first)[0]
    inverse = op.subtract(op.cumsum(op.astype(is_first, "i64"), 0), op.constant(np.int64(1)))
    ends = op.concat([op.strided_slice(starts, [0], [1], [2**63 - 1]), op.reshape(ctx.tensor(size, "i64"), (1,))], 0)
    inverse = op.reshape(inverse, x.shape) if dim is None else inverse
    parts = (op.take(rows, starts, axis), inverse, op.subtract(ends, starts))
    # What was not asked for is empty, and used by nobody.
    return tuple(part if ctx.uses_result(index) else None for index, part in enumerate(parts))


def _product(sizes: Any) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total
