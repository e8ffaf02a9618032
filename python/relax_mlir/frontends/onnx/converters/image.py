# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images between their elements: sampling by a grid, regions of interest, windows that are shifted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .... import op
from ....op.image import bilinear, gathered
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .windows import Windows

_CUBIC = -0.75


@register("GridSample")
def grid_sample(ctx: Lowering, x: Value, grid: Value) -> Value:
    """Elements at the places that a grid names, in which -1 and 1 are the ends of each axis; the last axis first."""
    if x.ndim < 3 or grid.ndim != x.ndim:
        ctx.fail(f"the ranks are {x.ndim} and {grid.ndim}; expected at least 3, and two of the same")
    sizes, n, channels = x.shape[2:], x.shape[0], x.shape[1]
    count = len(sizes)
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(ctx.text("mode", "linear"), ctx.text("mode", "linear"))
    padding, corners = ctx.text("padding_mode", "zeros"), bool(ctx.int("align_corners", 0))
    if padding not in ("zeros", "border", "reflection"):
        raise ctx.unsupported(f"the padding '{padding}'", "padding_mode")
    output = grid.shape[1:-1]
    points = math.prod(output)
    places = []
    for axis, size in enumerate(sizes):
        entry = op.reshape(op.strided_slice(grid, [count + 1], [count - 1 - axis], [count - axis]), (n, points))
        entry = _denormalized(ctx, entry, size, corners)
        entry = op.round(entry) if mode == "nearest" else entry
        places.append(_moved_inside(ctx, entry, size, padding, corners))
    taps = {"nearest": (0, 1), "linear": (0, 2), "cubic": (-1, 3)}.get(mode)
    if taps is None:
        raise ctx.unsupported(f"the mode '{mode}'", "mode")
    bases = [op.floor(place) for place in places]
    flat = op.reshape(x, (n, channels, math.prod(sizes)))
    made = None
    for steps in itertools.product(range(*taps), repeat=count):
        index, weight, is_inside = None, None, None
        for axis, step in enumerate(steps):
            at = op.add(bases[axis], ctx.scalar(step, x.dtype))
            part = _weight(ctx, op.subtract(places[axis], bases[axis]), step, mode)
            weight = part if weight is None or part is None else op.multiply(weight, part)
            inside = _inside(ctx, at, sizes[axis])
            is_inside = inside if is_inside is None else op.logical_and(is_inside, inside)
            at = _limited(ctx, _moved_inside(ctx, at, sizes[axis], padding, corners), sizes[axis])
            at = op.astype(at, "i64")
            index = at if index is None else op.add(op.multiply(index, ctx.scalar(sizes[axis], "i64")), at)
        assert index is not None and is_inside is not None
        value = gathered(flat, index)
        if padding == "zeros":
            value = op.where(op.expand_dims(is_inside, [1]), value, ctx.scalar(0, x.dtype))
        value = value if weight is None else op.multiply(value, op.expand_dims(weight, [1]))
        made = value if made is None else op.add(made, value)
    assert made is not None
    return op.reshape(made, (n, channels, *output))


def _denormalized(ctx: Lowering, x: Value, size: ExprLike, corners: bool) -> Value:
    """From [-1, 1] to places of elements."""
    one, half, length = ctx.scalar(1, x.dtype), ctx.scalar(0.5, x.dtype), ctx.scalar(size, x.dtype)
    shifted = op.add(x, one)
    if corners:
        return op.multiply(op.multiply(shifted, half), op.subtract(length, one))
    return op.multiply(op.subtract(op.multiply(shifted, length), one), half)


def _moved_inside(ctx: Lowering, x: Value, size: ExprLike, padding: str, corners: bool) -> Value:
    """Places outside moved to the border, or mirrored at it."""
    if padding == "border":
        return _limited(ctx, x, size)
    if padding == "zeros":
        return x
    least = ctx.scalar(0.0 if corners else -0.5, x.dtype)
    length = ctx.scalar(size, x.dtype)
    width = op.subtract(length, ctx.scalar(1, x.dtype)) if corners else length
    period = op.add(width, width)
    empty = op.equal(width, ctx.scalar(0, x.dtype))
    rest = op.floor_mod(op.subtract(x, least), op.where(empty, ctx.scalar(1, x.dtype), period))
    mirrored = op.add(least, op.where(op.greater(rest, width), op.subtract(period, rest), rest))
    is_inside = op.logical_and(op.greater_equal(x, least), op.less_equal(x, op.add(least, width)))
    return op.where(is_inside, x, op.where(empty, least, mirrored))


def _limited(ctx: Lowering, x: Value, size: ExprLike) -> Value:
    last = op.subtract(ctx.scalar(size, x.dtype), ctx.scalar(1, x.dtype))
    return op.minimum(op.maximum(x, ctx.scalar(0, x.dtype)), last)


def _inside(ctx: Lowering, x: Value, size: ExprLike) -> Value:
    return op.logical_and(op.greater_equal(x, ctx.scalar(0, x.dtype)), op.less(x, ctx.scalar(size, x.dtype)))


def _weight(ctx: Lowering, fraction: Value, step: int, mode: str) -> Value | None:
    """The weight of a neighbor; None for the only one."""
    if mode == "nearest":
        return None

    def number(value: float) -> Value:
        return ctx.scalar(value, fraction.dtype)

    if mode == "linear":
        return fraction if step else op.subtract(number(1), fraction)
    far = op.abs(op.subtract(fraction, number(step)))
    a = _CUBIC
    factors = (a + 2, -(a + 3), 0.0, 1.0) if step in (0, 1) else (a, -5 * a, 8 * a, -4 * a)
    made = number(factors[0])
    for factor in factors[1:]:
        made = op.add(op.multiply(made, far), number(factor))
    return made


def deformed_windows(
    ctx: Lowering, image: Value, offset: Value, mask: Value | None, windows: Windows, parts: int
) -> Value:
    """The elements of shifted windows: [n, c, kernel size, places]."""
    n, c, height, width = image.shape
    rows, columns = offset.shape[2:]
    kernel = [int(size) for size in windows.kernel]
    area, places = math.prod(kernel), rows * columns
    shifts = op.reshape(offset, (n * parts, area, 2, places))
    positions = []
    for axis, (length, count) in enumerate(zip((rows, columns), kernel)):
        starts = op.arange(0, length * windows.strides[axis], windows.strides[axis], "i64")
        steps = op.arange(0, count * windows.dilations[axis], windows.dilations[axis], "i64")
        outer = [1, 1, rows, 1] if axis == 0 else [1, 1, 1, columns]
        inner = [kernel[0], 1, 1, 1] if axis == 0 else [1, kernel[1], 1, 1]
        at = op.add(op.reshape(starts, outer), op.reshape(steps, inner))
        at = op.subtract(op.broadcast_to(at, (*kernel, rows, columns)), ctx.scalar(windows.pads[axis][0], "i64"))
        at = op.astype(op.reshape(at, (1, area, places)), image.dtype)
        shift = op.squeeze(op.strided_slice(shifts, [2], [axis], [axis + 1]), [2])
        positions.append(op.reshape(op.add(at, shift), (n * parts, area * places)))
    flat = op.reshape(image, (n * parts, c // parts, height * width))
    y, x = positions
    made, *others = bilinear(flat, y, x, height, width)
    for other in others:
        made = op.add(made, other)
    made = op.reshape(made, (n, parts, c // parts, area, places))
    if mask is not None:
        made = op.multiply(made, op.reshape(mask, (n, parts, 1, area, places)))
    return op.reshape(made, (n, c, area, places))


@register("RoiAlign")
def roi_align(ctx: Lowering, x: Value, rois: Value, batches: Value) -> Value:
    default = "output_half_pixel" if ctx.version < 16 else "half_pixel"
    return op.roi_align(
        x,
        rois,
        batches,
        (ctx.int("output_height", 1), ctx.int("output_width", 1)),
        ctx.float("spatial_scale", 1.0),
        ctx.int("sampling_ratio", 0),
        aligned=ctx.text("coordinate_transformation_mode", default) == "half_pixel",
        mode=ctx.text("mode", "avg"),
    )


@register_data("Col2Im")
def col2im(ctx: Lowering, x: Data, shape: Data, block: Data) -> Value:
    """Adds blocks to an image, where they overlap."""
    value = ctx.value(x)
    sizes, kernel = ctx.sizes(shape, "the image shape"), ctx.numbers(block, "the block shape")
    count = len(kernel)
    strides, dilations = ctx.ints("strides", [1] * count), ctx.ints("dilations", [1] * count)
    pads = ctx.ints("pads", [0] * 2 * count)
    whole = [size + pads[axis] + pads[axis + count] for axis, size in enumerate(sizes)]
    index: Value | None = None
    shape_of: list[ExprLike] = []
    for axis in range(count):
        steps = (whole[axis] - (kernel[axis] - 1) * dilations[axis] - 1) // strides[axis] + 1
        shape_of.append(steps)
        inner = op.arange(0, kernel[axis] * dilations[axis], dilations[axis], "i64")
        outer = op.arange(0, steps * strides[axis], strides[axis], "i64")
        at = op.add(
            op.reshape(inner, _only(2 * count, axis, kernel[axis])),
            op.reshape(outer, _only(2 * count, count + axis, steps)),
        )
        index = at if index is None else op.add(op.multiply(index, ctx.scalar(whole[axis], "i64")), at)
    assert index is not None
    n, area, blocks = value.shape[0], math.prod(kernel), math.prod(shape_of)
    channels = value.shape[1] // area
    index = op.reshape(op.broadcast_to(index, (*kernel, *shape_of)), (1, area * blocks))
    updates = op.reshape(value, (n * channels, area * blocks))
    index = op.broadcast_to(index, (n * channels, area * blocks))
    image = op.scatter_elements(op.zeros((n * channels, math.prod(whole)), value.dtype), index, updates, 1, "add")
    image = op.reshape(image, (n, channels, *whole))
    if not any(pads):
        return image
    starts = pads[:count]
    return op.strided_slice(
        image, list(range(2, 2 + count)), starts, [start + size for start, size in zip(starts, sizes)]
    )


def _only(rank: int, axis: int, size: ExprLike) -> Sequence[ExprLike]:
    """A shape with one size that is not 1."""
    return [size if place == axis else 1 for place in range(rank)]
