# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling over one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....symbolic import Sym
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .convolution import _batched, _each

_MAX = {1: op.max_pool1d, 2: op.max_pool2d, 3: op.max_pool3d}
_MEAN = {1: op.avg_pool1d, 2: op.avg_pool2d, 3: op.avg_pool3d}
_ADAPTIVE = {1: op.adaptive_avg_pool1d, 2: op.adaptive_avg_pool2d, 3: op.adaptive_avg_pool3d}


def _axes(ctx: Lowering) -> int:
    """The number of axes, which the name of the op has."""
    return int(ctx.name[ctx.name.index("pool") + len("pool")])


def _window(count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any) -> dict[str, Any]:
    """The options of a maximum over windows; without strides, windows lie next to each other."""
    kernel = _each(kernel_size, count)
    return {
        "pool_size": kernel,
        "strides": _each(stride, count) if stride else kernel,
        "padding": _each(padding, count),
        "dilation": _each(dilation, count),
        "ceil_mode": bool(ceil_mode),
    }


@register("aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d")
def max_pool(
    ctx: Lowering,
    x: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: Any = False,
) -> Value:
    count = _axes(ctx)
    options = _window(count, kernel_size, stride, padding, dilation, ceil_mode)
    return _batched(x, count, lambda x: _MAX[count](x, **options))


@register("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def mean_pool(
    ctx: Lowering,
    x: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    count = _axes(ctx)
    kernel = _each(kernel_size, count)
    strides, padding = _each(stride, count) if stride else kernel, _each(padding, count)
    if divisor_override and ceil_mode:
        # The divisor holds for windows that hang over the end as well: zeros make these whole.
        x = _whole_windows(x, ctx.shape[-count:], kernel, strides, padding)
        padding, ceil_mode = [0] * count, False
    options = {
        "pool_size": kernel,
        "strides": strides,
        "padding": padding,
        "ceil_mode": bool(ceil_mode),
        "count_include_pad": bool(count_include_pad or divisor_override),
    }
    numbers = x if is_float(x.dtype) else op.astype(x, "f64")
    made = _batched(numbers, count, lambda x: _MEAN[count](x, **options))
    if divisor_override:
        total = op.multiply(made, ctx.tensor(_product(kernel), made.dtype))
        total = total if is_float(x.dtype) else op.round(total)
        made = op.divide(total, ctx.tensor(divisor_override, made.dtype))
    return made if is_float(x.dtype) else op.astype(op.trunc(made), x.dtype)


def _whole_windows(x: Value, sizes: Sequence[Any], kernel: Any, strides: Any, padding: Any) -> Value:
    """The tensor with as many zeros around it as `sizes` windows need."""
    widths: list[Any] = [0] * (2 * (x.ndim - len(sizes)))
    for size, span, step, width, length in zip(sizes, kernel, strides, padding, x.shape[-len(sizes) :]):
        missing = (size - 1) * step + span - length - width
        widths += [width, Sym.max(missing, 0)]
    return op.pad(x, widths)


@register("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::adaptive_avg_pool3d")
@register("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_mean_pool(ctx: Lowering, x: Value, output_size: Any) -> Value:
    count = _axes(ctx)
    sizes = ctx.shape[-count:]
    return _batched(x, count, lambda x: _ADAPTIVE[count](x, sizes))


@register("aten::max_pool2d_with_indices", "aten::max_pool3d_with_indices", "aten::max_pool1d_with_indices")
def max_pool_with_indices(
    ctx: Lowering,
    x: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: Any = False,
) -> tuple[Value, Value | None]:
    """The maxima, and where each is in the flattened axes; windows are looked at one by one only for the latter."""
    count = _axes(ctx)
    options = _window(count, kernel_size, stride, padding, dilation, ceil_mode)
    values = _batched(x, count, lambda x: _MAX[count](x, **options))
    if not ctx.uses_result(1):
        return values, None
    return values, _batched(x, count, lambda x: _positions_of_maxima(ctx, x, values.shape[-count:], options))


def _positions_of_maxima(ctx: Lowering, x: Value, sizes: Any, options: dict[str, Any]) -> Value:
    """Windows as an axis of their own, of which the place of the maximum becomes the place in the input."""
    count = len(sizes)
    least = ctx.tensor(float("-inf"), x.dtype)
    windows, is_inside, place = x, None, op.constant(np.int64(0))
    for index in range(count):
        size = x.shape[2 + index]
        starts = op.arange(0, sizes[index] * options["strides"][index], options["strides"][index], "i64")
        steps = op.arange(
            0, options["pool_size"][index] * options["dilation"][index], options["dilation"][index], "i64"
        )
        offset = op.constant(np.int64(options["padding"][index]))
        at = op.subtract(op.add(op.expand_dims(starts, [1]), op.expand_dims(steps, [0])), offset)
        inside = op.logical_and(op.greater_equal(at, ctx.tensor(0, "i64")), op.less(at, ctx.tensor(size, "i64")))
        windows = op.take(windows, at, 2 + 2 * index, mode="clip")  # each axis before has become two
        shape = [1] * (2 * count)
        shape[2 * index], shape[2 * index + 1] = sizes[index], options["pool_size"][index]
        inside, at = op.reshape(inside, shape), op.reshape(at, shape)
        is_inside = inside if is_inside is None else op.logical_and(is_inside, inside)
        place = op.add(op.multiply(place, ctx.tensor(size, "i64")), at)
    order = [0, 1, *range(2, 2 + 2 * count, 2), *range(3, 3 + 2 * count, 2)]
    total = _product(options["pool_size"])
    flat = (*x.shape[:2], *sizes, total)
    assert is_inside is not None  # there is an axis
    windows = op.reshape(op.permute_dims(op.where(is_inside, windows, least), order), flat)
    order = [axis - 2 for axis in order[2:]]
    place = op.reshape(op.permute_dims(place, order), (*sizes, total))
    chosen = op.argmax(windows, windows.ndim - 1, True)
    place = op.broadcast_to(place, flat)
    return op.squeeze(op.gather_elements(place, chosen, windows.ndim - 1), [windows.ndim - 1])


@register("aten::adaptive_max_pool1d", "aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d")
def adaptive_max_pool(ctx: Lowering, x: Value, output_size: Any) -> tuple[Value, Value | None]:
    """Position `i` of `o` has the maximum from `i * h // o` up to `ceil((i + 1) * h / o)`, and its place in the
    flattened axes: one axis after the other, the last one first."""
    count = _axes(ctx)
    place: Value | None = op.constant(np.int64(0)) if ctx.uses_result(1) else None
    inner: Any = 1
    for index in reversed(range(count)):
        axis = x.ndim - count + index
        length = x.shape[axis]
        x, place = _pooled_axis(ctx, x, axis, ctx.shape[axis], inner, place)
        inner = inner * length
    return x, place


def _pooled_axis(
    ctx: Lowering, x: Value, axis: int, size: Any, inner: Any, place: Value | None
) -> tuple[Value, Value | None]:
    """The maxima of the windows along an axis, and their places, of which the axes behind have `place` already.

    Args:
      inner: the number of elements of the input for each element of the axis.
    """
    length = x.shape[axis]
    outputs, inputs = op.arange(0, size, 1, "i64"), op.arange(0, length, 1, "i64")
    total, given, one = ctx.tensor(size, "i64"), ctx.tensor(length, "i64"), op.constant(np.int64(1))
    begin = op.floor_divide(op.multiply(outputs, given), total)
    rest = op.subtract(op.add(op.multiply(op.add(outputs, one), given), total), one)
    begin, end = op.expand_dims(begin, [1]), op.expand_dims(op.floor_divide(rest, total), [1])
    inputs = op.expand_dims(inputs, [0])
    mask = op.logical_and(op.greater_equal(inputs, begin), op.less(inputs, end))  # [o, h]
    behind = [1] * (x.ndim - 1 - axis)
    windows = op.expand_dims(x, [axis])
    windows = op.where(op.reshape(mask, (size, length, *behind)), windows, ctx.tensor(float("-inf"), x.dtype))
    if place is None:
        return op.max(windows, [axis + 1]), None
    # Where all of a window is minus infinity, so is what lies before it.
    chosen = op.maximum(op.argmax(windows, axis + 1, True), op.reshape(begin, (size, 1, *behind)))
    found = op.multiply(chosen, ctx.tensor(inner, "i64"))
    if place.ndim:
        place = op.broadcast_to(op.expand_dims(place, [axis]), windows.shape)
        found = op.add(found, op.gather_elements(place, chosen, axis + 1))
    values = op.gather_elements(windows, chosen, axis + 1)
    return op.squeeze(values, [axis + 1]), op.squeeze(found, [axis + 1])


@register("aten::fractional_max_pool2d", "aten::fractional_max_pool3d")
def fractional_max_pool(
    ctx: Lowering, x: Value, kernel_size: Any, output_size: Any, random_samples: Value
) -> tuple[Value, Value]:
    """Maxima of windows that begin at random places, and where these are in the flattened axes."""
    count = _axes(ctx)
    kernel, sizes = _each(kernel_size, count), _each(output_size, count)
    batch = x if x.ndim == count + 2 else op.expand_dims(x, [0])
    images, channels, *lengths = batch.shape
    places: Value = ctx.tensor(0, "i64")
    for axis, (length, width, size) in enumerate(zip(lengths, kernel, sizes)):
        # In two dimensions the samples are of the columns first.
        sample = count - 1 - axis if count == 2 else axis
        starts = _random_starts(ctx, op.take(random_samples, ctx.tensor(sample, "i64"), 2), length, width, size)
        at = op.add(op.expand_dims(starts, [3]), op.arange(0, width, 1, "i64"))  # [n, c, o, k]
        shape = [images, channels, *[1] * (2 * count)]
        shape[2 + axis], shape[2 + count + axis] = size, width
        places = op.add(op.multiply(places, ctx.tensor(length, "i64")), op.reshape(at, shape))
    total, pixels = _product(kernel), _product(lengths)
    places = op.reshape(places, (images, channels, _product(sizes) * total))
    planes = op.reshape(batch, (images, channels, pixels))
    windows = op.reshape(op.gather_elements(planes, places, 2), (images, channels, *sizes, total))
    last = windows.ndim - 1
    chosen = op.argmax(windows, last, True)
    places = op.gather_elements(op.reshape(places, windows.shape), chosen, last)
    values = op.gather_elements(windows, chosen, last)
    return op.reshape(values, ctx.shape), op.reshape(places, ctx.shape)


def _random_starts(ctx: Lowering, sample: Value, length: Any, width: int, size: Any) -> Value:
    """Where the windows of an axis begin, `[n, c, size]`; the last one ends at the end."""
    dtype = "f64" if sample.dtype == "f64" else "f32"
    last = ctx.tensor(length - width, "i64")
    sample = op.expand_dims(op.astype(sample, dtype), [2])
    gaps = op.maximum(op.subtract(ctx.tensor(size, dtype), ctx.tensor(1.0, dtype)), ctx.tensor(1.0, dtype))
    alpha = op.divide(op.astype(last, dtype), gaps)
    index = op.arange(0, size, 1, "i64")
    begin = op.astype(op.multiply(op.add(op.astype(index, dtype), sample), alpha), "i64")
    begin = op.subtract(begin, op.astype(op.multiply(sample, alpha), "i64"))
    return op.where(op.equal(index, ctx.tensor(size - 1, "i64")), last, begin)


def _product(sizes: Any) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total
