# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians, running extremes, modes and distances: compositions of sorting, scans and reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ..lowering import Lowering, in_f32
from ..registry import register


@register("aten::median.default", "aten::nanmedian.default")
def median_of_all(ctx: Lowering, x: Value) -> Value:
    flat = op.flatten(x)
    return op.squeeze(_median(ctx, flat, 0, "nanmedian" in ctx.name)[0], [0])


@register("aten::median.dim", "aten::nanmedian.dim")
def median_of_axis(ctx: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    axis = ctx.axis(dim, x.ndim)
    value, place = _median(ctx, x, axis, "nanmedian" in ctx.name)
    return (value, place) if keepdim else (op.squeeze(value, [axis]), op.squeeze(place, [axis]))


def _median(ctx: Lowering, x: Value, axis: int, ignores_nan: bool) -> tuple[Value, Value]:
    """The lower one of two in the middle, and where it is. A NaN is the median unless it is ignored."""
    order = op.argsort(x, axis, False, "i64")  # NaN last
    count = ctx.tensor(x.shape[axis], "i64")
    one, two = ctx.tensor(1, "i64"), ctx.tensor(2, "i64")
    if is_float(x.dtype):
        numbers = op.sum(op.astype(op.logical_not(op.isnan(x)), "i64"), [axis], True)
        middle = op.floor_divide(op.subtract(op.maximum(numbers, one), one), two)
        if not ignores_nan:
            middle = op.where(op.less(numbers, count), numbers, middle)
    else:
        shape = list(x.shape)
        shape[axis] = 1
        middle = op.broadcast_to(op.floor_divide(op.subtract(count, one), two), shape)
    place = op.gather_elements(order, middle, axis)
    return op.gather_elements(x, place, axis), place


@register("aten::cummax", "aten::cummin")
def running_extreme(ctx: Lowering, x: Value, dim: int) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    return (op.cummax if "cummax" in ctx.name else op.cummin)(x, ctx.axis(dim, x.ndim))


@register("aten::dist")
@in_f32
def distance(ctx: Lowering, lhs: Value, rhs: Value, p: float = 2) -> Value:
    return _norm(ctx, op.subtract(*ctx.same(lhs, rhs)), p, None)


@register("aten::_cdist_forward")
@in_f32
def distances(ctx: Lowering, lhs: Value, rhs: Value, p: float, compute_mode: int | None = None) -> Value:
    """The distance of each row of one to each row of the other."""
    rows, columns = op.expand_dims(lhs, [lhs.ndim - 1]), op.expand_dims(rhs, [rhs.ndim - 2])
    difference = op.subtract(rows, columns)
    return _norm(ctx, difference, p, [difference.ndim - 1])


@register("aten::_pdist_forward")
@in_f32
def distances_of_pairs(ctx: Lowering, x: Value, p: float = 2) -> Value:
    """The distances of row `i` to the rows behind it, for each `i`: a pair finds its row among the running counts."""
    rows = x.shape[0]
    total = ctx.tensor(rows, "i64")
    one = ctx.tensor(1, "i64")
    counts = op.subtract(op.subtract(total, one), op.arange(0, rows, 1, "i64"))
    ends = op.cumsum(counts, 0)
    pairs = op.arange(0, ctx.shape[0], 1, "i64")
    first = op.bucketize(pairs, ends, right=True)
    starts = op.subtract(ends, counts)
    second = op.add(op.subtract(pairs, op.take(starts, first, 0)), op.add(op.astype(first, "i64"), one))
    return _norm(ctx, op.subtract(op.take(x, first, 0), op.take(x, second, 0)), p, [1])


def _norm(ctx: Lowering, x: Value, p: float, axes: Sequence[int] | None) -> Value:
    x = op.abs(x)
    axes = list(range(x.ndim)) if axes is None else list(axes)
    if not axes:
        return x
    if p == 0:
        return op.sum(op.astype(op.not_equal(x, ctx.tensor(0.0, x.dtype)), x.dtype), axes)
    if math.isinf(p):
        return op.max(x, axes)
    if p == 1:
        return op.sum(x, axes)
    if p == 2:
        return op.sqrt(op.sum(op.square(x), axes))
    total = op.sum(op.power(x, ctx.tensor(float(p), x.dtype)), axes)
    return op.power(total, ctx.tensor(1.0 / p, x.dtype))


@register("aten::_trilinear")
@in_f32
def trilinear(
    ctx: Lowering,
    first: Value,
    second: Value,
    third: Value,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Value:
    """The product of three tensors after axes are inserted, summed over some."""
    parts = [
        op.expand_dims(part, sorted(axes)) if axes else part
        for part, axes in ((first, expand1), (second, expand2), (third, expand3))
    ]
    return op.sum(op.multiply(op.multiply(parts[0], parts[1]), parts[2]), list(sumdim))


@register("aten::mode")
def mode(ctx: Lowering, x: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The least of the elements that occur most often, and where it is last."""
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    axis = ctx.axis(dim, x.ndim)
    order = [*(place for place in range(x.ndim) if place != axis), axis]
    rows = op.permute_dims(x, order)
    last = rows.ndim - 1
    same = op.equal(op.expand_dims(rows, [last + 1]), op.expand_dims(rows, [last]))
    counts = op.sum(op.astype(same, "i64"), [last + 1])
    most = op.equal(counts, op.max(counts, [last], True))
    ranks = op.argsort(op.argsort(rows, last, False, "i64"), last, False, "i64")  # equal elements in their order
    size = ctx.tensor(rows.shape[last], "i64")
    least = op.argmin(op.where(most, ranks, size), last, True)
    value = op.gather_elements(rows, least, last)
    places = op.arange(0, rows.shape[last], 1, "i64")
    place = op.max(op.where(op.equal(rows, value), places, ctx.tensor(-1, "i64")), [last], True)
    if not keepdim:
        return op.squeeze(value, [last]), op.squeeze(place, [last])
    back = [order.index(axis) for axis in range(x.ndim)]
    return op.permute_dims(value, back), op.permute_dims(place, back)
