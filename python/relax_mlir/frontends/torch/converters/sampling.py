# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images and volumes at places of a grid."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


@register("aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::grid_sampler")
def grid_sample(
    ctx: Lowering, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    """Pixel `(i, j)` of the result is `x [n, c, h, w]` at the place that `grid [n, i, j, 2]` has, from -1 to 1; and
    likewise of volumes. The grid has the last axis first."""
    count = x.ndim - 2
    taps, sizes = [], []
    for axis in range(count):
        place = op.take(grid, ctx.tensor(count - 1 - axis, "i64"), grid.ndim - 1)
        size = ctx.tensor(x.shape[2 + axis], grid.dtype)
        pixel = _pixel(ctx, place, size, align_corners)
        pad = functools.partial(_padded, ctx, size=size, padding=padding_mode, align_corners=align_corners)
        taps.append(_taps(ctx, pixel, pad, interpolation_mode))
        sizes.append(size)
    total = None
    for chosen in itertools.product(*taps):
        part = _read(ctx, x, [place for place, _ in chosen], sizes)
        weights = [weight for _, weight in chosen if weight is not None]
        if weights:
            part = op.multiply(part, op.expand_dims(functools.reduce(op.multiply, weights), [1]))
        total = part if total is None else op.add(total, part)
    assert total is not None
    return total


def _taps(ctx: Lowering, pixel: Value, pad: Callable[[Value], Value], mode: int) -> list[tuple[Value, Value | None]]:
    """The whole places along an axis that a pixel is computed from, each with its weight."""
    if mode == _NEAREST:
        return [(op.round(pad(pixel)), None)]
    pixel = pad(pixel) if mode == _BILINEAR else pixel
    low = op.floor(pixel)
    share, one = op.subtract(pixel, low), ctx.tensor(1.0, pixel.dtype)
    if mode == _BILINEAR:
        return [(low, op.subtract(one, share)), (op.add(low, one), share)]
    two = ctx.tensor(2.0, pixel.dtype)
    distances = [op.add(share, one), share, op.subtract(one, share), op.subtract(two, share)]
    places = [op.add(low, ctx.tensor(float(step), pixel.dtype)) for step in (-1, 0, 1, 2)]
    weights = [_cubic(ctx, distance, is_near=index in (1, 2)) for index, distance in enumerate(distances)]
    return [(pad(place), weight) for place, weight in zip(places, weights)]


def _cubic(ctx: Lowering, x: Value, is_near: bool) -> Value:
    """The weight at a distance of up to 1, or from there to 2, of Keys' cubic with `a = -3/4`."""
    a = -0.75
    coefficients = (a + 2, -(a + 3), 0.0, 1.0) if is_near else (a, -5 * a, 8 * a, -4 * a)
    total = ctx.tensor(coefficients[0], x.dtype)
    for coefficient in coefficients[1:]:
        total = op.add(op.multiply(total, x), ctx.tensor(coefficient, x.dtype))
    return total


def _pixel(ctx: Lowering, place: Value, size: Value, align_corners: bool) -> Value:
    """Where in the pixels a coordinate from -1 to 1 is."""
    one, two, half = (ctx.tensor(value, place.dtype) for value in (1.0, 2.0, 0.5))
    shifted = op.add(place, one)
    if align_corners:
        return op.multiply(shifted, op.divide(op.subtract(size, one), two))
    return op.subtract(op.divide(op.multiply(shifted, size), two), half)


def _padded(ctx: Lowering, pixel: Value, size: Value, padding: int, align_corners: bool) -> Value:
    """A place, led back to the image where the padding is not zeros."""
    if padding == _ZEROS:
        return pixel
    zero, half, one = (ctx.tensor(value, pixel.dtype) for value in (0.0, 0.5, 1.0))
    if padding == _REFLECTION:
        low = zero if align_corners else op.negative(half)
        pixel = _reflected(ctx, pixel, low, op.subtract(size, one) if align_corners else size)
    return op.minimum(op.maximum(pixel, zero), op.subtract(size, one))


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
