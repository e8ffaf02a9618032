# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images between their pixels, and choosing boxes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..annotations import Tensor
from ..dtypes import is_float
from ..errors import fail
from ..scope import current_function
from ..symbolic import ExprLike
from ..values import Value
from ._generated import abs as abs_
from ._generated import (
    add,
    arange,
    argsort,
    astype,
    ceil,
    concat,
    divide,
    equal,
    expand_dims,
    floor,
    floor_mod,
    full,
    gather_elements,
    greater,
    greater_equal,
    index_tensor,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    mod,
    multiply,
    nonzero,
    ones,
    permute_dims,
    prod,
    squeeze,
    subtract,
    take,
    where,
)
from ._generated import max as max_
from ._generated import round as round_
from ._generated import sum as sum_
from .core import broadcast_to, match_cast, reshape, split
from .scan import scan
from .sizes import as_value, known_shape, size_of, size_tensor, unused_symbol
from .support import Operand

# --- grid_sample


def grid_sample(
    x: Operand,
    grid: Operand,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Value:
    """Images or volumes at the places of a grid, as PyTorch's `grid_sample`.

    Pixel `(i, j)` of the result is `x[n, c]` at the place `grid[n, i, j]`, whose coordinates are from -1 to 1, the last
    axis first.

    Args:
      x: [n, c, h, w] or [n, c, d, h, w], of floats.
      grid: [n, i, j, 2] or [n, i, j, k, 3], of floats.
      mode: "bilinear" (trilinear for volumes), "nearest", or "bicubic" for images.
      padding_mode: what is outside: "zeros", the nearest pixel ("border"), or the image mirrored ("reflection").
      align_corners: whether -1 and 1 are the centers of the outermost pixels rather than their outer edges.

    Returns:
      [n, c, i, j] or [n, c, i, j, k].

    Raises:
      RelaxError: ranks do not fit each other, sizes of `x` are unknown, or a mode has another name.
    """
    x, grid = as_value(x, "grid_sample: x"), as_value(grid, "grid_sample: grid")
    rank = x.ndim
    if rank not in (4, 5) or grid.ndim != rank:
        fail(f"grid_sample: x is {x.annotation!r} and grid {grid.annotation!r}; expected rank 4 of both, or 5")
    for name, operand in (("x", x), ("grid", grid)):
        if not is_float(operand.dtype):
            fail(f"grid_sample: {name} has the type {operand.dtype}; expected floats")
    modes = ("bilinear", "nearest", "bicubic") if rank == 4 else ("bilinear", "nearest")
    _require_one_of("grid_sample: mode", mode, modes)
    _require_one_of("grid_sample: padding_mode", padding_mode, ("zeros", "border", "reflection"))
    count = rank - 2
    if isinstance(grid.shape[-1], int) and grid.shape[-1] != count:
        fail(f"grid_sample: grid has {grid.shape[-1]} coordinates; expected {count}")
    taps, sizes = [], []
    for axis in range(count):
        place = take(grid, size_tensor(count - 1 - axis), count + 1)
        size = size_tensor(known_shape(x, "grid_sample: x")[2 + axis], grid.dtype)
        pixel = _pixel(place, size, align_corners)
        pad = functools.partial(_padded, size=size, padding=padding_mode, align_corners=align_corners)
        taps.append(_taps(pixel, pad, mode))
        sizes.append(size)
    total = None
    for chosen in itertools.product(*taps):
        part = _read(x, [place for place, _ in chosen], sizes)
        weights = [weight for _, weight in chosen if weight is not None]
        if weights:
            part = multiply(part, expand_dims(functools.reduce(multiply, weights), [1]))
        total = part if total is None else add(total, part)
    assert total is not None
    return total


def _require_one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        fail(f"{name} is {value!r}; expected one of {', '.join(map(repr, known))}")


def _taps(pixel: Value, pad: Callable[[Value], Value], mode: str) -> list[tuple[Value, Value | None]]:
    """The whole places along an axis that a pixel is computed from, each with its weight."""
    if mode == "nearest":
        return [(round_(pad(pixel)), None)]
    pixel = pad(pixel) if mode == "bilinear" else pixel
    low = floor(pixel)
    share = subtract(pixel, low)
    if mode == "bilinear":
        return [(low, subtract(1.0, share)), (add(low, 1.0), share)]
    distances = [add(share, 1.0), share, subtract(1.0, share), subtract(2.0, share)]
    places = [add(low, float(step)) for step in (-1, 0, 1, 2)]
    weights = [_cubic(distance, is_near=index in (1, 2)) for index, distance in enumerate(distances)]
    return [(pad(place), weight) for place, weight in zip(places, weights)]


def _cubic(x: Value, is_near: bool) -> Value:
    """The weight at a distance of up to 1, or from there to 2, of Keys' cubic with `a = -3/4`."""
    a = -0.75
    coefficients = (a + 2, -(a + 3), 0.0, 1.0) if is_near else (a, -5 * a, 8 * a, -4 * a)
    total: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        total = add(multiply(total, x), coefficient)
    return total


def _pixel(place: Value, size: Value, align_corners: bool) -> Value:
    """Where in the pixels a coordinate from -1 to 1 is."""
    shifted = add(place, 1.0)
    if align_corners:
        return multiply(shifted, divide(subtract(size, 1.0), 2.0))
    return subtract(divide(multiply(shifted, size), 2.0), 0.5)


def _padded(pixel: Value, size: Value, padding: str, align_corners: bool) -> Value:
    """A place, led back to the image where the padding is not zeros."""
    if padding == "zeros":
        return pixel
    if padding == "reflection":
        low, span = (0.0, subtract(size, 1.0)) if align_corners else (-0.5, size)
        pixel = _reflected(pixel, low, span)
    return minimum(maximum(pixel, 0.0), subtract(size, 1.0))


def _reflected(pixel: Value, low: float, span: Value) -> Value:
    """Back and forth between both ends; everything is one place where there is no room."""
    has_room = greater(span, 0.0)
    length = where(has_room, span, 1.0)
    distance = abs_(subtract(pixel, low))
    rest = mod(distance, length)
    is_even = equal(floor_mod(floor(divide(distance, length)), 2.0), 0.0)
    made = where(is_even, add(rest, low), add(subtract(length, rest), low))
    return where(has_room, made, 0.0)


def _read(x: Value, places: Sequence[Value], sizes: Sequence[Value]) -> Value:
    """The pixels at whole places `[n, i, j]`, zero outside."""
    inside = [logical_and(greater_equal(place, 0.0), less(place, size)) for place, size in zip(places, sizes)]
    is_inside = functools.reduce(logical_and, inside)
    indices = [astype(where(is_inside, place, 0.0), "i64") for place in places]
    images = reshape(arange(0, known_shape(x, "grid_sample: x")[0], 1, "i64"), (-1, *[1] * len(places)))
    last = len(places) + 1
    channels_last = permute_dims(x, [0, *range(2, last + 1), 1])
    pixels = index_tensor(channels_last, [images, *indices])  # [n, i, j, c]
    kept = where(expand_dims(is_inside, [last]), pixels, 0.0)
    return permute_dims(kept, [0, last, *range(1, last)])


# --- roi_align


def roi_align(
    x: Operand,
    boxes: Operand,
    batch_indices: Operand,
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = False,
    mode: str = "avg",
) -> Value:
    """Regions of images as grids of cells, each the mean or maximum of samples, as torchvision's and ONNX's.

    Args:
      x: [n, c, h, w], of floats.
      boxes: [count, 4], of the type of `x`: the corners `x1, y1, x2, y2` of each region.
      batch_indices: [count], of integers: the image of each region.
      output_size: the numbers of rows and columns of cells, or one number for both.
      spatial_scale: what coordinates are multiplied by to be pixels of `x`.
      sampling_ratio: the number of samples of a cell along each axis. 0 takes one for each pixel that it spans.
      aligned: whether coordinates are moved by half a pixel, which is right for pixels whose centers are at halves.
        Without it, a region is at least one pixel wide and high.
      mode: "avg", or "max" of the weighted neighbors of samples, as in ONNX.

    Returns:
      [count, c, rows, columns].

    Raises:
      RelaxError: a rank or a type is another, or sizes are unknown.
    """
    x, boxes = as_value(x, "roi_align: x"), as_value(boxes, "roi_align: boxes")
    batch_indices = as_value(batch_indices, "roi_align: batch_indices")
    for name, operand, rank in (("x", x, 4), ("boxes", boxes, 2), ("batch_indices", batch_indices, 1)):
        if operand.ndim != rank:
            fail(f"roi_align: {name} is {operand.annotation!r}; expected a tensor of rank {rank}")
    if not is_float(x.dtype) or boxes.dtype != x.dtype:
        fail(f"roi_align: x has the type {x.dtype} and boxes {boxes.dtype}; expected the same type of floats")
    _require_one_of("roi_align: mode", mode, ("avg", "max"))
    sizes = list(output_size) if isinstance(output_size, Sequence) else [output_size] * 2
    if len(sizes) != 2:
        fail(f"roi_align: output_size has {len(sizes)} numbers; expected rows and columns")
    rows, columns = sizes
    _, c, height, width = known_shape(x, "roi_align: x")
    count, coordinates = known_shape(boxes, "roi_align: boxes")
    if isinstance(coordinates, int) and coordinates != 4:
        fail(f"roi_align: boxes have {coordinates} coordinates; expected 4")
    corners = multiply(boxes, float(spatial_scale))
    corners = subtract(corners, 0.5) if aligned else corners
    x1, y1, x2, y2 = (reshape(part, (count,)) for part in split(corners, 4, 1))
    axes = []
    for start, end, cells, size in ((y1, y2, rows, height), (x1, x2, columns, width)):
        length = subtract(end, start)
        length = length if aligned else maximum(length, 1.0)
        axes.append(_samples(start, divide(length, float(cells)), cells, size, sampling_ratio))
    (y, y_counts, y_valid), (x_, x_counts, x_valid) = axes
    grid_y, grid_x = y.shape[2], x_.shape[2]
    shape = (count, rows, grid_y, columns, grid_x)
    points = math.prod(shape[1:])
    place_y = reshape(broadcast_to(reshape(y, (count, rows, grid_y, 1, 1)), shape), (count, points))
    place_x = reshape(broadcast_to(reshape(x_, (count, 1, 1, columns, grid_x)), shape), (count, points))
    valid = logical_and(reshape(y_valid, (count, rows, grid_y, 1, 1)), reshape(x_valid, (count, 1, 1, columns, grid_x)))
    flat = reshape(take(x, batch_indices, 0), (count, c, height * width))
    parts = bilinear(flat, place_y, place_x, height, width)
    made = functools.reduce(add if mode == "avg" else maximum, parts)
    made = reshape(made, (count, c, rows, grid_y, columns, grid_x))
    valid = expand_dims(valid, [1])
    if mode == "max":
        return max_(where(valid, made, float("-inf")), [3, 5])
    total = sum_(where(valid, made, 0.0), [3, 5])
    samples = reshape(maximum(multiply(y_counts, x_counts), 1.0), (count, 1, 1, 1))
    return divide(total, samples)


def _samples(start: Value, cell: Value, cells: int, size: ExprLike, ratio: int) -> tuple[Value, Value, Value]:
    """The places of samples along one axis [regions, cells, samples], their number, and which of them count.

    Without a number of samples it follows from each region; then as many are taken as the largest needs, and the
    others do not count.
    """
    (count,) = known_shape(start, "roi_align: boxes")
    most: ExprLike = ratio
    if ratio > 0:
        counts = full((count,), float(ratio), start.dtype)
    else:
        counts = ceil(cell)
        # There may be no region, and then no greatest number.
        most = size_of(max_(concat([counts, ones((1,), counts.dtype)], 0)), "roi_align_samples")
    steps = reshape(arange(0, most, 1, start.dtype), (1, 1, most))
    rows = reshape(arange(0, cells, 1, start.dtype), (1, cells, 1))
    start, cell, each = (reshape(part, (count, 1, 1)) for part in (start, cell, counts))
    inner = divide(multiply(add(steps, 0.5), cell), maximum(each, 1.0))
    at = add(add(start, multiply(rows, cell)), inner)
    limit = size_tensor(size, start.dtype)
    within = logical_and(greater_equal(at, -1.0), less_equal(at, limit))
    at = minimum(maximum(at, 0.0), subtract(limit, 1.0))
    # What is outside counts as zero, what is too much does not count.
    return at, counts, logical_and(within, less(steps, each))


def bilinear(flat: Value, y: Value, x: Value, height: ExprLike, width: ExprLike) -> list[Value]:
    """The four neighbors of each place, times their weights.

    Args:
      flat: [n, c, height * width].
      y, x: [n, points]; what is outside is limited to the image by the caller, or weighs nothing there.
    """
    parts = []
    base_y, base_x = floor(y), floor(x)
    dy, dx = subtract(y, base_y), subtract(x, base_x)
    rows, columns = size_tensor(height, y.dtype), size_tensor(width, y.dtype)
    for step_y, step_x in itertools.product((0, 1), (0, 1)):
        at_y, at_x = add(base_y, float(step_y)), add(base_x, float(step_x))
        weight = multiply(dy if step_y else subtract(1.0, dy), dx if step_x else subtract(1.0, dx))
        inside = logical_and(_inside(at_y, rows), _inside(at_x, columns))
        row, column = (astype(_limited(at, size), "i64") for at, size in ((at_y, rows), (at_x, columns)))
        index = add(multiply(row, size_tensor(width)), column)
        value = multiply(gathered(flat, index), expand_dims(weight, [1]))
        parts.append(where(expand_dims(inside, [1]), value, 0.0))
    return parts


def gathered(flat: Value, index: Value) -> Value:
    """The elements of [n, c, size] at [n, points], for all channels."""
    n, channels, _ = known_shape(flat, "the image")
    points = known_shape(index, "the places")[1]
    return gather_elements(flat, broadcast_to(expand_dims(index, [1]), (n, channels, points)), 2)


def _limited(x: Value, size: Value) -> Value:
    return minimum(maximum(x, 0.0), subtract(size, 1.0))


def _inside(x: Value, size: Value) -> Value:
    return logical_and(greater_equal(x, 0.0), less(x, size))


# --- boxes


def nms(boxes: Operand, scores: Operand, iou_threshold: float) -> Value:
    """Non-maximum suppression: the boxes that are left, by descending score, as torchvision's `nms`.

    A box is left out if its intersection with a box that is left, of a higher score, is more than `iou_threshold` of
    their union. Of equal scores the first counts as higher.

    Args:
      boxes: [count, 4], of floats: the corners `x1, y1, x2, y2`, with `x1 <= x2` and `y1 <= y2`.
      scores: [count], of numbers.

    Returns:
      The indices of the boxes that are left, i64.

    Raises:
      RelaxError: a rank is another, sizes are unknown or certainly differ.
    """
    boxes, scores = as_value(boxes, "nms: boxes"), as_value(scores, "nms: scores")
    for name, operand, rank in (("boxes", boxes, 2), ("scores", scores, 1)):
        if operand.ndim != rank:
            fail(f"nms: {name} is {operand.annotation!r}; expected a tensor of rank {rank}")
    count, coordinates = known_shape(boxes, "nms: boxes")
    (scored,) = known_shape(scores, "nms: scores")
    if isinstance(coordinates, int) and coordinates != 4:
        fail(f"nms: boxes have {coordinates} coordinates; expected 4")
    if isinstance(count, int) and isinstance(scored, int) and count != scored:
        fail(f"nms: {count} boxes have {scored} scores")
    if count != scored:
        scores = match_cast(scores, Tensor((count,), scores.dtype))
    order = argsort(scores, 0, True, "i64")
    ranked = reshape(take(boxes, order, 0), (1, 1, count, 4))
    kept = left_boxes(ranked, ones((1, 1, count), "bool"), iou_threshold)
    found = nonzero(reshape(kept, (count,)))
    found = match_cast(found, Tensor((1, unused_symbol(current_function(), "nms_count")), found.dtype))
    return take(order, squeeze(found, [0]), 0)


def left_boxes(boxes: Value, alive: Value, threshold: Operand) -> Value:
    """Which boxes are left after each that is left has suppressed those after it that overlap with it.

    Args:
      boxes: [batches, classes, count, 4], by descending score; the least coordinates, then the greatest.
      alive: [batches, classes, count]: which boxes there are.
      threshold: the share of the intersection in the union from which on a box is suppressed.
    """
    count = known_shape(alive, "the boxes")[2]
    overlaps = greater(_overlaps(boxes), threshold)
    places = arange(0, count, 1, "i64")
    rows = permute_dims(overlaps, [2, 0, 1, 3])  # the box that suppresses comes first

    def step(state: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], None]:
        (alive,) = state
        mask, place = row
        index = broadcast_to(reshape(place, (1, 1, 1)), (*known_shape(alive, "the boxes")[:2], 1))
        is_left = gather_elements(alive, index, 2)
        hit = logical_and(logical_and(mask, greater(places, place)), is_left)
        return (logical_and(alive, logical_not(hit)),), None

    (left,), _ = scan(step, (alive,), (rows, places))
    return left


def _overlaps(boxes: Value) -> Value:
    """The intersection over the union of all pairs of boxes: [..., count, count]."""
    low, high = split(boxes, 2, 3)
    area = prod(subtract(high, low), [3])
    least = maximum(expand_dims(low, [3]), expand_dims(low, [2]))
    greatest = minimum(expand_dims(high, [3]), expand_dims(high, [2]))
    common = prod(maximum(subtract(greatest, least), 0.0), [4])
    union = subtract(add(expand_dims(area, [3]), expand_dims(area, [2])), common)
    return where(greater(union, 0.0), divide(common, union), 0.0)
