# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, the largest elements, and searching in what is sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register


@register("aten::sort", "aten::sort.stable")
def sort(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> tuple[Value, Value]:
    """Equal elements stay in their order, whether that is asked for or not."""
    if "stable" in ctx.name and args and not isinstance(args[0], int):
        args = args[1:]
    dim, descending = (*args, *(-1, False)[len(args) :])[:2]
    dim, descending = kwargs.get("dim", dim), kwargs.get("descending", descending)
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    axis = ctx.axis(dim, x.ndim)
    numbers = op.astype(x, "i8") if x.dtype == "bool" else x
    return ctx.cast(op.sort(numbers, axis, descending), x.dtype), op.argsort(numbers, axis, descending, "i64")


@register("aten::argsort", "aten::argsort.stable")
def argsort(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    if "stable" in ctx.name and args and isinstance(args[0], bool):
        args = args[1:]
    dim, descending = (*args, *(-1, False)[len(args) :])[:2]
    dim, descending = kwargs.get("dim", dim), kwargs.get("descending", descending)
    if x.ndim == 0:
        return op.constant(np.int64(0))
    numbers = op.astype(x, "i8") if x.dtype == "bool" else x
    return op.argsort(numbers, ctx.axis(dim, x.ndim), descending, "i64")


@register("aten::topk")
def topk(
    ctx: Lowering, x: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    return op.topk(x, k, ctx.axis(dim, x.ndim), "both", largest, "i64")


@register("aten::kthvalue")
def kthvalue(ctx: Lowering, x: Value, k: Any, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    axis = ctx.axis(dim, x.ndim)
    values, indices = op.topk(x, k, axis, "both", False, "i64")
    value, index = (op.strided_slice(part, [axis], [k - 1], [k]) for part in (values, indices))
    return (value, index) if keepdim else (op.squeeze(value, [axis]), op.squeeze(index, [axis]))


@register("aten::bucketize.Tensor", "aten::bucketize.Scalar")
def bucketize(ctx: Lowering, x: Any, boundaries: Value, *, out_int32: bool = False, right: bool = False) -> Value:
    return _searched(ctx, boundaries, x, right)


@register("aten::searchsorted.Tensor", "aten::searchsorted.Scalar")
def searchsorted(
    ctx: Lowering,
    sorted_sequence: Value,
    x: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    if sorter is not None:
        sorted_sequence = op.gather_elements(sorted_sequence, sorter, sorted_sequence.ndim - 1)
    return _searched(ctx, sorted_sequence, x, right or side == "right")


def _searched(ctx: Lowering, boundaries: Value, x: Any, right: bool) -> Value:
    """The number of boundaries below each element, or with `right` not above it; rows of boundaries for rows."""
    x = ctx.tensor(x, x.dtype if isinstance(x, Value) else boundaries.dtype)
    dtype = _wider(x.dtype, boundaries.dtype)
    x, boundaries = ctx.cast(x, dtype), ctx.cast(boundaries, dtype)
    if boundaries.ndim == 1:
        return op.bucketize(x, boundaries, out_int32=ctx.dtype == "i32", right=right)
    compare = op.less_equal if right else op.less
    below = compare(op.expand_dims(boundaries, [boundaries.ndim - 1]), op.expand_dims(x, [x.ndim]))
    return op.sum(op.astype(below, ctx.dtype), [below.ndim - 1])


def _wider(lhs: str, rhs: str) -> str:
    import torch

    from ..dtypes import from_torch, to_torch

    return from_torch(torch.promote_types(to_torch(lhs), to_torch(rhs)))


@register("aten::histc")
def histogram(ctx: Lowering, x: Value, bins: int = 100, min: Any = 0, max: Any = 0) -> Value:
    """How many elements fall into each of equal bins; the last one holds its upper end."""
    flat = op.astype(op.flatten(x), "f64")
    if min == max == 0:
        low, high = op.min(flat), op.max(flat)
        is_point = op.equal(low, high)
        one = op.constant(np.float64(1))
        low, high = op.where(is_point, op.subtract(low, one), low), op.where(is_point, op.add(high, one), high)
    else:
        low, high = op.constant(np.float64(min)), op.constant(np.float64(max))
    is_inside = op.logical_and(op.greater_equal(flat, low), op.less_equal(flat, high))
    scaled = op.divide(op.multiply(op.subtract(flat, low), op.constant(np.float64(bins))), op.subtract(high, low))
    place = op.minimum(op.floor(scaled), op.constant(np.float64(bins - 1)))
    place = op.astype(op.where(is_inside, place, op.constant(np.float64(bins))), "i64")
    counts = op.index_put(op.zeros((bins + 1,), "i64"), [place], op.constant(np.int64(1)), True)
    return ctx.cast(op.strided_slice(counts, [0], [0], [bins]), ctx.dtype)


@register("aten::bincount")
def bincount(ctx: Lowering, x: Value, weights: Value | None = None, minlength: int = 0) -> Value:
    """The number of bins is one more than the greatest element, but at least `minlength`."""
    from ..scalars import define_size

    ctx.check_not_negative(x, "an element")
    numbers = op.concat([op.astype(x, "i64"), op.constant(np.array([minlength - 1]))], 0)
    greatest = op.add(op.max(numbers), op.constant(np.int64(1)))
    symbol = ctx.results[0].shape[0].node.expr
    size = define_size(ctx.symbols, greatest, "bins", symbol if symbol not in ctx.symbols.values else None)
    values = op.constant(np.int64(1)) if weights is None else ctx.cast(weights, ctx.dtype)
    return op.index_put(op.zeros((size,), ctx.dtype), [op.astype(x, "i64")], values, True)


@register("aten::_unique2", "aten::unique_dim", "aten::_unique")
def unique(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> tuple[Value | None, ...]:
    """Distinct elements in ascending order, with the inverse and the counts where they are asked for."""
    axis = None
    if "unique_dim" in ctx.name:
        axis, args = ctx.axis(args[0], x.ndim), args[1:]
    numbers = op.astype(x, "i8") if x.dtype == "bool" else x
    made = op.unique(numbers, sorted=True, return_inverse=True, return_counts=True, axis=axis)
    values, inverse, counts = made
    inverse = op.reshape(inverse, x.shape) if axis is None else inverse
    parts = (ctx.cast(values, x.dtype), inverse, counts)
    # What was not asked for is empty, and used by nobody.
    return tuple(part if ctx.uses_result(index) else None for index, part in enumerate(parts[: len(ctx.results)]))
