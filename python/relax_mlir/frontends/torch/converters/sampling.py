# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images and volumes at places of a grid."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


@register("aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::grid_sampler")
def grid_sample(
    ctx: Lowering, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    """Pixel `(i, j)` of the result is `x [n, c, h, w]` at the place that `grid [n, i, j, 2]` has, from -1 to 1; and
    likewise of volumes. The grid has the last axis first."""
    if interpolation_mode not in (_BILINEAR, _NEAREST):
        raise ctx.unsupported("modes other than bilinear and nearest")
    count = x.ndim - 2
    places, sizes = [], []
    for axis in range(count):
        place = op.take(grid, ctx.tensor(count - 1 - axis, "i64"), grid.ndim - 1)
        place, size = _place(ctx, place, x.shape[2 + axis], padding_mode, align_corners)
        places.append(place)
        sizes.append(size)
    if interpolation_mode == _NEAREST:
        return _read(ctx, x, [op.round(place) for place in places], sizes)
    one = ctx.tensor(1.0, grid.dtype)
    low = [op.floor(place) for place in places]
    share = [op.subtract(place, below) for place, below in zip(places, low)]
    total = None
    for corner in itertools.product((0, 1), repeat=count):
        at = [op.add(below, one) if up else below for up, below in zip(corner, low)]
        weights = [part if up else op.subtract(one, part) for up, part in zip(corner, share)]
        weight = functools.reduce(op.multiply, weights)
        part = op.multiply(_read(ctx, x, at, sizes), op.expand_dims(weight, [1]))
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


def _read(ctx: Lowering, x: Value, places: Sequence[Value], sizes: Sequence[Value]) -> Value:
    """The pixels at whole places `[n, i, j]`, zero outside."""
    zero = ctx.tensor(0.0, places[0].dtype)
    inside = [op.logical_and(op.greater_equal(place, zero), op.less(place, size)) for place, size in zip(places, sizes)]
    is_inside = functools.reduce(op.logical_and, inside)
    indices = [op.astype(op.where(is_inside, place, zero), "i64") for place in places]
    images = op.reshape(op.arange(0, x.shape[0], 1, "i64"), (-1, *[1] * len(places)))
    last = x.ndim - 1
    channels_last = op.permute_dims(x, [0, *range(2, x.ndim), 1])
    pixels = op.index_tensor(channels_last, [images, *indices])  # [n, i, j, c]
    kept = op.where(op.expand_dims(is_inside, [last]), pixels, ctx.tensor(0.0, x.dtype))
    return op.permute_dims(kept, [0, last, *range(1, last)])
