# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images at places of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


@register("aten::grid_sampler_2d", "aten::grid_sampler")
def grid_sample(
    ctx: Lowering, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    """Pixel `(i, j)` of the result is `x [n, c, h, w]` at the place that `grid [n, i, j, 2]` has, from -1 to 1."""
    if interpolation_mode not in (_BILINEAR, _NEAREST) or x.ndim != 4:
        raise ctx.unsupported("modes other than bilinear and nearest, or other than images")
    axes = []
    for index, size in ((0, x.shape[3]), (1, x.shape[2])):
        place = op.squeeze(op.strided_slice(grid, [3], [index], [index + 1]), [3])
        axes.append(_place(ctx, place, size, padding_mode, align_corners))
    (column, width), (row, height) = axes
    if interpolation_mode == _NEAREST:
        return _read(ctx, x, op.round(row), op.round(column), height, width)
    left, top = op.floor(column), op.floor(row)
    one = ctx.tensor(1.0, x.dtype)
    total = None
    for down in (0, 1):
        for right in (0, 1):
            at_row = op.add(top, one) if down else top
            at_column = op.add(left, one) if right else left
            share = [op.subtract(row, top), op.subtract(column, left)]
            weight = op.multiply(
                share[0] if down else op.subtract(one, share[0]), share[1] if right else op.subtract(one, share[1])
            )
            part = _read(ctx, x, at_row, at_column, height, width)
            part = op.multiply(part, op.expand_dims(weight, [1]))
            total = part if total is None else op.add(total, part)
    assert total is not None
    return total


def _place(ctx: Lowering, place: Value, size: Any, padding: int, align_corners: bool) -> tuple[Value, Value]:
    """Where in the pixels a coordinate is, and how many there are."""
    count = ctx.tensor(size, place.dtype)
    one, two, half = (ctx.tensor(value, place.dtype) for value in (1.0, 2.0, 0.5))
    shifted = op.add(place, one)
    if align_corners:
        pixel = op.multiply(shifted, op.divide(op.subtract(count, one), two))
    else:
        pixel = op.subtract(op.divide(op.multiply(shifted, count), two), half)
    if padding == _REFLECTION:
        low = ctx.tensor(0.0, place.dtype) if align_corners else op.negative(half)
        span = op.subtract(count, one) if align_corners else count
        pixel = _reflected(ctx, pixel, low, span)
    if padding in (_BORDER, _REFLECTION):
        pixel = op.minimum(op.maximum(pixel, ctx.tensor(0.0, place.dtype)), op.subtract(count, one))
    return pixel, count


def _reflected(ctx: Lowering, pixel: Value, low: Value, span: Value) -> Value:
    """Back and forth between both ends; everything is one place where there is no room."""
    zero, one, two = (ctx.tensor(value, pixel.dtype) for value in (0.0, 1.0, 2.0))
    has_room = op.greater(span, zero)
    length = op.where(has_room, span, one)
    distance = op.abs(op.subtract(pixel, low))
    rest = op.mod(distance, length)
    turns = op.floor(op.divide(distance, length))
    is_even = op.equal(op.floor_mod(turns, two), zero)
    made = op.where(is_even, op.add(rest, low), op.add(op.subtract(length, rest), low))
    return op.where(has_room, made, zero)


def _read(ctx: Lowering, x: Value, row: Value, column: Value, height: Value, width: Value) -> Value:
    """The pixels at whole places `[n, i, j]`, zero outside."""
    zero = ctx.tensor(0.0, row.dtype)
    is_inside = op.logical_and(
        op.logical_and(op.greater_equal(row, zero), op.less(row, height)),
        op.logical_and(op.greater_equal(column, zero), op.less(column, width)),
    )
    row, column = (op.astype(op.where(is_inside, part, zero), "i64") for part in (row, column))
    images = op.reshape(op.arange(0, x.shape[0], 1, "i64"), (-1, 1, 1))
    channels_last = op.permute_dims(x, [0, 2, 3, 1])
    pixels = op.index_tensor(channels_last, [images, row, column])  # [n, i, j, c]
    kept = op.where(op.expand_dims(is_inside, [3]), pixels, op.constant(np.zeros((), np.float32), x.dtype))
    return op.permute_dims(kept, [0, 3, 1, 2])
