# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling over one to three axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import op
from ....dtypes import limits
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .convolution import check_axes
from .windows import Windows, padded, read_windows

_MAX = {1: op.max_pool1d, 2: op.max_pool2d, 3: op.max_pool3d}
_MEAN = {1: op.avg_pool1d, 2: op.avg_pool2d, 3: op.avg_pool3d}
_SUM = {1: op.conv1d, 2: op.conv2d, 3: op.conv3d}


def _windows(ctx: Lowering, x: Value) -> Windows:
    check_axes(ctx, x.ndim - 2)
    return read_windows(ctx, x.shape[2:], ctx.ints("kernel_shape"))


def _options(ctx: Lowering, windows: Windows) -> dict[str, Any]:
    return {
        "pool_size": windows.kernel,
        "strides": windows.strides,
        "padding": windows.padding if windows.is_padded_by_numbers else [0] * len(windows.kernel),
        "dilation": windows.dilations,
        "ceil_mode": bool(ctx.int("ceil_mode", 0)),
    }


@register("MaxPool")
def max_pool(ctx: Lowering, x: Value) -> tuple[Value, Value | None] | Value:
    windows = _windows(ctx, x)
    options = _options(ctx, windows)
    if windows.is_padded_by_numbers:
        values = _MAX[x.ndim - 2](x, **options)
    else:
        values = _MAX[x.ndim - 2](padded(x, windows.pads, limits(x.dtype)[0]), **options)
    if not ctx.uses_output(1):
        return values
    return values, _positions(ctx, x, windows, list(values.shape[2:]))


def _positions(ctx: Lowering, x: Value, windows: Windows, sizes: list[ExprLike]) -> Value:
    """Where the first maximum of each window is in the flattened input.

    Each axis becomes two, of windows and of places in a window; `storage_order` says which axis of the input runs
    fastest in the positions.
    """
    count = len(sizes)
    order = list(range(count)) if not ctx.int("storage_order", 0) else list(reversed(range(count)))
    rows, is_inside = x, None
    places: list[Value] = []
    for axis in range(count):
        size, stride, dilation = x.shape[2 + axis], windows.strides[axis], windows.dilations[axis]
        starts = op.arange(0, sizes[axis] * stride, stride, "i64")
        steps = op.arange(0, windows.kernel[axis] * dilation, dilation, "i64")
        at = op.subtract(
            op.add(op.expand_dims(starts, [1]), op.expand_dims(steps, [0])), ctx.scalar(windows.pads[axis][0], "i64")
        )
        inside = op.logical_and(op.greater_equal(at, ctx.scalar(0, "i64")), op.less(at, ctx.scalar(size, "i64")))
        rows = op.take(rows, at, 2 + 2 * axis, mode="clip")  # each axis before has become two
        shape: list[ExprLike] = [1] * (2 * count)
        shape[2 * axis], shape[2 * axis + 1] = sizes[axis], windows.kernel[axis]
        inside, at = op.reshape(inside, shape), op.reshape(at, shape)
        is_inside = inside if is_inside is None else op.logical_and(is_inside, inside)
        places.append(at)
    place = op.constant(np.int64(0))
    for axis in order:
        place = op.add(op.multiply(place, ctx.scalar(x.shape[2 + axis], "i64")), places[axis])
    area = math.prod(windows.kernel)
    axes = [*range(0, 2 * count, 2), *range(1, 2 * count, 2)]
    assert is_inside is not None  # there is an axis
    rows = op.where(is_inside, rows, ctx.scalar(limits(x.dtype)[0], x.dtype))
    rows = op.reshape(op.permute_dims(rows, [0, 1, *(axis + 2 for axis in axes)]), (*x.shape[:2], *sizes, area))
    place = op.reshape(op.permute_dims(place, axes), (*sizes, area))
    chosen = op.argmax(rows, rows.ndim - 1, True)
    found = op.gather_elements(op.broadcast_to(place, rows.shape), chosen, rows.ndim - 1)
    found = op.reshape(found, (*x.shape[:2], *sizes))
    images = op.reshape(op.arange(0, x.shape[0] * x.shape[1], 1, "i64"), (*x.shape[:2], *[1] * count))
    return op.add(found, op.multiply(images, ctx.scalar(math.prod(x.shape[2:]), "i64")))


@register("AveragePool")
def average_pool(ctx: Lowering, x: Value) -> Value:
    windows = _windows(ctx, x)
    options, counts_pads = _options(ctx, windows), bool(ctx.int("count_include_pad", 0))
    pool = _MEAN[x.ndim - 2]
    narrow = x.dtype in ("f16", "bf16")
    given = op.astype(x, "f32") if narrow else x
    if windows.is_padded_by_numbers:
        made = pool(given, count_include_pad=counts_pads, **options)
    else:
        made = pool(padded(given, windows.pads), **options)
        if not counts_pads:
            share = pool(padded(op.ones((1, 1, *x.shape[2:]), given.dtype), windows.pads), **options)
            made = op.divide(made, share)
    return ctx.cast(made, x.dtype)


@register("LpPool")
def lp_pool(ctx: Lowering, x: Value) -> Value:
    """The root of the sum of powers under each window, a convolution of each channel with ones."""
    windows, order = _windows(ctx, x), ctx.int("p", 2)
    count = x.ndim - 2
    powers = op.power(op.abs(x), ctx.scalar(order, x.dtype))
    rows = op.reshape(powers, (x.shape[0] * x.shape[1], 1, *x.shape[2:]))
    pads = list(windows.pads)
    if ctx.int("ceil_mode", 0):
        pads = [
            (before, after + _overhang(x.shape[2 + axis], windows, axis)) for axis, (before, after) in enumerate(pads)
        ]
    ones = op.ones((1, 1, *windows.kernel), x.dtype)
    sums = _SUM[count](padded(rows, pads), ones, strides=windows.strides, dilation=windows.dilations)
    sums = op.reshape(sums, (*x.shape[:2], *sums.shape[2:]))
    return op.power(sums, ctx.scalar(1 / order, x.dtype))


def _overhang(size: ExprLike, windows: Windows, axis: int) -> ExprLike:
    """How far the last window hangs over the padding where its number is rounded up."""
    before, after = windows.pads[axis]
    rest = (size + before + after - windows.span(axis)) % windows.strides[axis]
    return (windows.strides[axis] - rest) % windows.strides[axis]


def _global(name: str, function: Any) -> None:
    @register(name)
    def convert(ctx: Lowering, x: Value) -> Value:
        narrow = x.dtype in ("f16", "bf16")
        made = function(ctx, op.astype(x, "f32") if narrow else x, list(range(2, x.ndim)))
        return ctx.cast(made, x.dtype)


def _global_lp(ctx: Lowering, x: Value, axes: list[int]) -> Value:
    order = ctx.int("p", 2)
    sums = op.sum(op.power(op.abs(x), ctx.scalar(order, x.dtype)), axes, True)
    return op.power(sums, ctx.scalar(1 / order, x.dtype))


_global("GlobalAveragePool", lambda ctx, x, axes: op.mean(x, axes, True))
_global("GlobalMaxPool", lambda ctx, x, axes: op.max(x, axes, True))
_global("GlobalLpPool", _global_lp)


@register_data("MaxUnpool")
def max_unpool(ctx: Lowering, x: Data, indices: Data, shape: Data | None = None) -> Value:
    """Puts each element at its position in a tensor of zeros; a larger shape is padded at the ends."""
    values, where = ctx.value(x), ctx.value(indices)
    windows = _windows(ctx, values)
    sizes = [
        (size - 1) * windows.strides[axis] + windows.span(axis) - windows.pads[axis][0] - windows.pads[axis][1]
        for axis, size in enumerate(values.shape[2:])
    ]
    whole = (*values.shape[:2], *sizes)
    empty = op.zeros((math.prod(whole),), values.dtype)
    made = op.reshape(op.scatter_elements(empty, op.flatten(where), op.flatten(values)), whole)
    if shape is None:
        return made
    wanted = ctx.sizes(shape, "the output shape")
    return padded(made, [(0, have - size) for size, have in zip(sizes, wanted[2:])])
