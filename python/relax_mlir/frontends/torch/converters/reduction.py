# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums, means, extremes and other reductions, and running sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....symbolic import ExprLike
from ....values import Value
from ...conditions import compare, prove
from ..lowering import Lowering, in_f32
from ..registry import register

Axes = int | Sequence[int] | None


def _count(ctx: Lowering, x: Value, axes: Sequence[int]) -> ExprLike:
    """How many elements are reduced to one."""
    count: ExprLike = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


@register("aten::sum", "aten::sum.dim_IntList")
def sum_(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False, *, dtype: str | None = None) -> Value:
    return op.sum(ctx.cast(x, ctx.dtype), ctx.axes(dim, x.ndim), keepdim) if x.ndim else ctx.cast(x, ctx.dtype)


@register("aten::nansum")
def nansum(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False, *, dtype: str | None = None) -> Value:
    if is_float(x.dtype):
        x = op.where(op.isnan(x), ctx.tensor(0.0, x.dtype), x)
    return sum_(ctx, x, dim, keepdim)


@register("aten::mean", "aten::mean.dim")
def mean(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False, *, dtype: str | None = None) -> Value:
    x = ctx.cast(x, ctx.dtype)
    return op.mean(x, ctx.axes(dim, x.ndim), keepdim) if x.ndim else x


@register("aten::prod.default")
def prod(ctx: Lowering, x: Value, *, dtype: str | None = None) -> Value:
    x = ctx.cast(x, ctx.dtype)
    return op.prod(x) if x.ndim else x


@register("aten::prod.dim_int")
def prod_of_axis(ctx: Lowering, x: Value, dim: int, keepdim: bool = False, *, dtype: str | None = None) -> Value:
    x = ctx.cast(x, ctx.dtype)
    return op.prod(x, [ctx.axis(dim, x.ndim)], keepdim) if x.ndim else x


@register("aten::any", "aten::any.dim", "aten::any.dims")
def any_(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False) -> Value:
    return ctx.cast(_logical(ctx, op.any, x, dim, keepdim), ctx.dtype)


@register("aten::all", "aten::all.dim", "aten::all.dims")
def all_(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False) -> Value:
    return ctx.cast(_logical(ctx, op.all, x, dim, keepdim), ctx.dtype)


@register("aten::_is_all_true")
def is_all_true(ctx: Lowering, x: Value) -> Value:
    return _logical(ctx, op.all, x, None, False)


@register("aten::_is_any_true")
def is_any_true(ctx: Lowering, x: Value) -> Value:
    return _logical(ctx, op.any, x, None, False)


def _logical(ctx: Lowering, function: Any, x: Value, dim: Axes, keepdim: bool) -> Value:
    """A reduction of truth, in which NaN is true."""
    x = ctx.cast(x, "bool")
    return function(x, ctx.axes(dim, x.ndim), keepdim) if x.ndim else x


@register("aten::amax")
def amax(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False) -> Value:
    return _extreme(ctx, op.max, x, ctx.axes(dim, x.ndim), keepdim)


@register("aten::amin")
def amin(ctx: Lowering, x: Value, dim: Axes = None, keepdim: bool = False) -> Value:
    return _extreme(ctx, op.min, x, ctx.axes(dim, x.ndim), keepdim)


@register("aten::max.default")
def max_of_all(ctx: Lowering, x: Value) -> Value:
    return _extreme(ctx, op.max, x, ctx.axes(None, x.ndim), False)


@register("aten::min.default")
def min_of_all(ctx: Lowering, x: Value) -> Value:
    return _extreme(ctx, op.min, x, ctx.axes(None, x.ndim), False)


@register("aten::aminmax")
def aminmax(ctx: Lowering, x: Value, *, dim: int | None = None, keepdim: bool = False) -> tuple[Value, Value]:
    axes = ctx.axes(dim, x.ndim)
    return _extreme(ctx, op.min, x, axes, keepdim), _extreme(ctx, op.max, x, axes, keepdim)


def _extreme(ctx: Lowering, function: Any, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    if x.ndim == 0:
        return x
    if x.dtype == "bool":
        return (op.any if function is op.max else op.all)(x, axes, keepdim)
    return function(x, axes, keepdim)


@register("aten::max.dim")
def max_of_axis(ctx: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return _extreme_with_index(ctx, op.max, op.argmax, x, dim, keepdim)


@register("aten::min.dim")
def min_of_axis(ctx: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return _extreme_with_index(ctx, op.min, op.argmin, x, dim, keepdim)


def _extreme_with_index(
    ctx: Lowering, extreme: Any, position: Any, x: Value, dim: int, keepdim: bool
) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x, op.constant(np.int64(0))
    axis = ctx.axis(dim, x.ndim)
    numbers = ctx.cast(x, "i8") if x.dtype == "bool" else x
    return ctx.cast(extreme(numbers, [axis], keepdim), x.dtype), position(numbers, axis, keepdim)


@register("aten::argmax")
def argmax(ctx: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _position(ctx, op.argmax, x, dim, keepdim)


@register("aten::argmin")
def argmin(ctx: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _position(ctx, op.argmin, x, dim, keepdim)


def _position(ctx: Lowering, function: Any, x: Value, dim: int | None, keepdim: bool) -> Value:
    if x.ndim == 0:
        return op.constant(np.int64(0))
    x = ctx.cast(x, "i8") if x.dtype == "bool" else x
    if dim is not None:
        return function(x, ctx.axis(dim, x.ndim), keepdim)
    found = function(op.flatten(x), 0, False)
    return op.reshape(found, ctx.shape) if keepdim else found


@register("aten::var", "aten::var.correction", "aten::std", "aten::std.correction")
def variance(ctx: Lowering, x: Value, dim: Any = None, *args: Any, **kwargs: Any) -> Value:
    """PyTorch divides by the number of elements less the correction, and gives NaN or infinity where that is not
    positive."""
    dim, correction, keepdim = _variance_arguments(ctx, dim, args, kwargs)
    return _spread(ctx, x, ctx.axes(dim, x.ndim), correction, keepdim, root="std" in ctx.name)


@register("aten::var_mean", "aten::var_mean.correction", "aten::std_mean", "aten::std_mean.correction")
def variance_and_mean(ctx: Lowering, x: Value, dim: Any = None, *args: Any, **kwargs: Any) -> tuple[Value, Value]:
    dim, correction, keepdim = _variance_arguments(ctx, dim, args, kwargs)
    axes = ctx.axes(dim, x.ndim)
    spread = _spread(ctx, x, axes, correction, keepdim, root="std" in ctx.name)
    return spread, op.mean(x, axes, keepdim) if x.ndim else x


def _variance_arguments(ctx: Lowering, dim: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[Axes, float, bool]:
    """The axes, the correction and whether axes stay, of all overloads."""
    overload = ctx.name.partition(".")[2]
    if overload == "default":  # var(x, unbiased=True)
        return None, 1 if dim is None or dim else 0, False
    if overload.startswith("correction"):
        correction = kwargs.get("correction")
        return dim, 1 if correction is None else correction, kwargs.get("keepdim", False)
    defaults = (True, False)  # var.dim(x, dim, unbiased=True, keepdim=False)
    unbiased, keepdim, *_ = args + defaults[len(args) :]
    return dim, int(kwargs.get("unbiased", unbiased)), kwargs.get("keepdim", keepdim)


def _spread(ctx: Lowering, x: Value, axes: Sequence[int], correction: float, keepdim: bool, root: bool) -> Value:
    if x.ndim == 0:
        return ctx.tensor(math.nan if correction else 0.0, x.dtype)
    if correction == 0:
        return (op.std if root else op.variance)(x, axes, keepdim)
    count = _count(ctx, x, axes)
    total = ctx.tensor(count, "f64")
    rest = op.maximum(op.subtract(total, op.constant(np.float64(correction))), op.constant(np.float64(0)))
    factor = op.divide(total, rest)
    if root:
        return op.multiply(op.std(x, axes, keepdim), op.astype(op.sqrt(factor), x.dtype))
    return op.multiply(op.variance(x, axes, keepdim), op.astype(factor, x.dtype))


@register("aten::logsumexp")
def logsumexp(ctx: Lowering, x: Value, dim: Axes, keepdim: bool = False) -> Value:
    x = ctx.cast(x, ctx.dtype)
    return op.logsumexp(x, ctx.axes(dim, x.ndim), keepdim) if x.ndim else x


@register("aten::cumsum")
def cumsum(ctx: Lowering, x: Value, dim: int, *, dtype: str | None = None) -> Value:
    return _running(ctx, op.cumsum, x, dim)


@register("aten::cumprod")
def cumprod(ctx: Lowering, x: Value, dim: int, *, dtype: str | None = None) -> Value:
    return _running(ctx, op.cumprod, x, dim)


def _running(ctx: Lowering, function: Any, x: Value, dim: int) -> Value:
    x = ctx.cast(x, ctx.dtype)
    return function(x, ctx.axis(dim, x.ndim)) if x.ndim else x


@register("aten::logcumsumexp")
@in_f32
def running_logsumexp(ctx: Lowering, x: Value, dim: int) -> Value:
    """A scan along the axis, so that nothing overflows."""
    if x.ndim == 0:
        return x
    axis = ctx.axis(dim, x.ndim)
    order = [axis, *(place for place in range(x.ndim) if place != axis)]
    rows = op.permute_dims(x, order)

    def body(total: Value, row: Value) -> tuple[Value, Value]:
        infinity = ctx.tensor(-math.inf, x.dtype)
        is_nothing = op.logical_and(op.equal(total, infinity), op.equal(row, infinity))
        total = op.where(is_nothing, infinity, op.log_add_exp(total, row))
        return total, total

    start = op.full(rows.shape[1:], ctx.tensor(-math.inf, x.dtype))
    _, made = op.scan(body, start, rows)
    return op.permute_dims(made, [order.index(place) for place in range(x.ndim)])


@register("aten::diff")
def diff(
    ctx: Lowering, x: Value, n: int = 1, dim: int = -1, prepend: Value | None = None, append: Value | None = None
) -> Value:
    """Differences of neighbors, after joining `prepend` and `append`, `n` times."""
    if n == 0:
        return x
    axis = ctx.axis(dim, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    x = op.concat([ctx.cast(part, ctx.dtype) for part in parts], axis) if len(parts) > 1 else x
    end = 2**63 - 1
    for _ in range(n):
        if prove(compare("==", x.shape[axis], 0), ctx.symbols.facts):
            break  # as in eager mode, nothing is left
        after, before = op.strided_slice(x, [axis], [1], [end]), op.strided_slice(x, [axis], [0], [x.shape[axis] - 1])
        ctx.require(compare(">=", x.shape[axis], 1), "an axis of no elements has no differences")
        x = op.logical_xor(after, before) if x.dtype == "bool" else op.subtract(after, before)
    return x


@register("aten::count_nonzero")
def count_nonzero(ctx: Lowering, x: Value, dim: Axes = None) -> Value:
    return op.sum(op.astype(ctx.cast(x, "bool"), "i64"), ctx.axes(dim, x.ndim), False)


@register("aten::linalg_vector_norm")
@in_f32
def vector_norm(
    ctx: Lowering, x: Value, ord: float = 2, dim: Axes = None, keepdim: bool = False, *, dtype: str | None = None
) -> Value:
    x = op.abs(ctx.cast(x, ctx.dtype))
    axes = ctx.axes(dim, x.ndim)
    if not x.ndim:
        return x if ord != 0 else op.astype(op.not_equal(x, ctx.tensor(0.0, x.dtype)), x.dtype)
    if ord == 0:
        return op.sum(op.astype(op.not_equal(x, ctx.tensor(0.0, x.dtype)), x.dtype), axes, keepdim)
    if math.isinf(ord):
        return (op.max if ord > 0 else op.min)(x, axes, keepdim)
    if ord == 1:
        return op.sum(x, axes, keepdim)
    if ord == 2:
        return op.sqrt(op.sum(op.square(x), axes, keepdim))
    total = op.sum(op.power(x, ctx.tensor(float(ord), x.dtype)), axes, keepdim)
    return op.power(total, ctx.tensor(1.0 / ord, x.dtype))
