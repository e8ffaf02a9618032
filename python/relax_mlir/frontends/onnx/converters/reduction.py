# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, running sums, and normalized exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .... import op
from ....dtypes import is_float, limits
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .elementwise import truncated_quotient


def reduced_axes(ctx: Lowering, x: Data, axes: Data | None) -> list[int] | None:
    """The axes to reduce, as an operand or as an attribute; None where nothing is reduced."""
    found = ctx.numbers(axes, "the axes") if axes is not None else ctx.ints("axes", None)
    if not found:
        return None if ctx.int("noop_with_empty_axes", 0) else list(range(x.ndim))
    return ctx.axes(found, x.ndim)


def _reduction(
    name: str,
    function: Callable[[Lowering, Value, Sequence[int], bool], Value],
    alone: Callable[[Lowering, Value], Value] | None = None,
) -> None:
    """Registers a reduction.

    Args:
      alone: what it does to each element where nothing is reduced; the element itself unless given.
    """

    @register_data(name)
    def convert(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
        over = reduced_axes(ctx, x, axes)
        value = ctx.value(x)
        if over is None:
            return Data(x.dtype, value=alone(ctx, value) if alone else value)
        keepdims = bool(ctx.int("keepdims", 1))
        narrow = value.dtype in ("f16", "bf16")
        made = function(ctx, op.astype(value, "f32") if narrow else value, over, keepdims)
        return Data(x.dtype, value=ctx.cast(made, value.dtype))


def _sum(ctx: Lowering, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    return op.sum(x, axes, keepdims) if axes else x


def _mean(ctx: Lowering, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    if is_float(x.dtype):
        return op.mean(x, axes, keepdims) if axes else x
    count = math.prod(x.shape[axis] for axis in axes)
    return truncated_quotient(op.sum(x, axes, keepdims), ctx.scalar(count, x.dtype))


def _extreme(largest: bool) -> Callable[[Lowering, Value, Sequence[int], bool], Value]:
    """The greatest or the least element; over none at all, the least or the greatest of the type."""

    def reduce(ctx: Lowering, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
        if not axes:
            return x
        if x.dtype == "bool":
            return (op.any if largest else op.all)(x, axes, keepdims)
        find = op.max if largest else op.min
        sizes = [x.shape[axis] for axis in axes]
        if all(ctx.facts.less(0, size) for size in sizes):
            return find(x, axes, keepdims)
        # One more element along an axis. It is the worst value of the type, so it wins only where the axis is empty.
        neutral = limits(x.dtype)[0 if largest else 1]
        shape = [1 if axis == axes[0] else size for axis, size in enumerate(x.shape)]
        padded = op.concat([x, op.full(tuple(shape), ctx.scalar(neutral, x.dtype))], axes[0])
        first = find(padded, [axes[0]], True)
        rest = [axis for axis in axes[1:]]
        if rest:
            first = reduce(ctx, first, rest, True)
        if keepdims:
            return first
        return op.reshape(first, [size for axis, size in enumerate(first.shape) if axis not in axes])

    return reduce


def _log_sum_exp(ctx: Lowering, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    if not is_float(x.dtype):
        return op.astype(op.log(op.sum(op.exp(op.astype(x, "f64")), axes, keepdims)), x.dtype)
    return op.logsumexp(x, axes, keepdims) if axes else x


def _of_sum(before: Callable[[Value], Value], after: Callable[[Value], Value] | None = None) -> Callable[..., Value]:
    """A sum of a function of each element, and a function of the sum; of integers in floats where it is not whole."""

    def reduce(ctx: Lowering, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
        made = _sum(ctx, before(x), axes, keepdims)
        if after is None:
            return made
        return after(made) if is_float(x.dtype) else op.astype(after(op.astype(made, "f64")), x.dtype)

    return reduce


def _square(x: Value) -> Value:
    return op.multiply(x, x)


_reduction("ReduceSum", _sum)
_reduction("ReduceMean", _mean)
_reduction("ReduceProd", lambda ctx, x, axes, keepdims: op.prod(x, axes, keepdims) if axes else x)
_reduction("ReduceMax", _extreme(True))
_reduction("ReduceMin", _extreme(False))
_reduction("ReduceLogSumExp", _log_sum_exp)
_reduction("ReduceL1", _of_sum(op.abs), lambda ctx, x: op.abs(x))
_reduction("ReduceL2", _of_sum(_square, op.sqrt), lambda ctx, x: op.abs(x))
_reduction("ReduceLogSum", _of_sum(lambda x: x, op.log), lambda ctx, x: op.log(x))
_reduction("ReduceSumSquare", _of_sum(_square), lambda ctx, x: _square(x))


def _running(name: str, function: Callable[..., Value]) -> None:
    @register_data(name)
    def convert(ctx: Lowering, x: Data, axis: Data) -> Data:
        place = ctx.axis(int(ctx.number(axis, "the axis")), x.ndim)
        value = ctx.value(x)
        reverse = ctx.int("reverse", 0)
        value = op.flip(value, place) if reverse else value
        made = function(value, place, exclusive=bool(ctx.int("exclusive", 0)))
        return Data(x.dtype, value=op.flip(made, place) if reverse else made)


_running("CumSum", op.cumsum)
_running("CumProd", op.cumprod)


def _along_axis(name: str, function: Callable[[Value, int], Value]) -> None:
    """Registers a function along an axis; before version 13 it is one over all axes from there on."""

    @register(name)
    def convert(ctx: Lowering, x: Value) -> Value:
        axis = ctx.axis(ctx.int("axis", -1 if ctx.version >= 13 else 1), x.ndim)
        narrow = x.dtype in ("f16", "bf16")
        given = op.astype(x, "f32") if narrow else x
        if ctx.version >= 13:
            made = function(given, axis)
        else:
            rows = op.reshape(given, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])
            made = op.reshape(function(rows, 1), list(x.shape))
        return ctx.cast(made, x.dtype)


def _hardmax(x: Value, axis: int) -> Value:
    places = op.arange(0, x.shape[axis], 1, "i64")
    places = op.reshape(places, [size if place == axis else 1 for place, size in enumerate(x.shape)])
    return op.astype(op.equal(op.argmax(x, axis, True), places), x.dtype)


_along_axis("Softmax", op.softmax)
_along_axis("LogSoftmax", op.log_softmax)
_along_axis("Hardmax", _hardmax)


@register("LpNormalization")
def lp_normalization(ctx: Lowering, x: Value) -> Value:
    """The tensor divided by its norm along an axis; zeros stay zeros."""
    axis, order = ctx.axis(ctx.int("axis", -1), x.ndim), ctx.int("p", 2)
    if order not in (1, 2):
        raise ctx.unsupported(f"the norm of order {order}; expected 1 or 2", "p")
    norm = op.sum(op.abs(x), [axis], True) if order == 1 else op.sqrt(op.sum(_square(x), [axis], True))
    is_zero = op.equal(norm, ctx.scalar(0, x.dtype))
    return op.where(is_zero, ctx.scalar(0, x.dtype), op.divide(x, op.where(is_zero, ctx.scalar(1, x.dtype), norm)))
