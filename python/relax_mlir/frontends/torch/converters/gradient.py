# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that autograd has an op for, and PyTorch no decomposition: of convolutions, pooling, padding, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .convolution import _each, forward, transposed


@register("aten::convolution_backward")
def convolution_backward(
    ctx: Lowering,
    grad: Value,
    x: Value,
    weight: Value,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    is_transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Value | None, ...]:
    """The gradients of input, weight and bias, as far as the mask asks for them."""
    count = weight.ndim - 2
    options = {"strides": _each(stride, count), "padding": _each(padding, count), "dilation": _each(dilation, count)}
    of_x = of_weight = of_bias = None
    if output_mask[0]:
        gradient = _of_input_of_transposed if is_transposed else _of_input
        of_x = gradient(grad, x, weight, groups, options)
    if output_mask[1]:
        # A transposed convolution is a convolution in which input and result have changed places.
        data, made = (grad, x) if is_transposed else (x, grad)
        of_weight = _of_weight(data, made, weight.shape, groups, options)
    if output_mask[2]:
        of_bias = op.sum(grad, [0, *range(2, grad.ndim)])
    return of_x, of_weight, of_bias


def _of_input(grad: Value, x: Value, weight: Value, groups: int, options: dict[str, Any]) -> Value:
    """A transposed convolution, whose end is cut to the size of the input: strides leave elements that no window has.

    They are asked for as padding of the result, one less than the stride, which is as many as there may be.
    """
    extra = [step - 1 for step in options["strides"]]
    made = transposed(grad, weight, groups=groups, output_padding=extra, **options)
    return _cut(made, x, [axis for axis in range(2, x.ndim) if extra[axis - 2]])


def _of_input_of_transposed(grad: Value, x: Value, weight: Value, groups: int, options: dict[str, Any]) -> Value:
    """A convolution; padding of the result that is as wide as a stride leaves windows that no element has made."""
    return _cut(forward(grad, weight, groups=groups, **options), x, list(range(2, x.ndim)))


def _cut(made: Value, x: Value, axes: Sequence[int]) -> Value:
    """The first elements of some axes, as many as the input has."""
    return op.strided_slice(made, axes, [0] * len(axes), [x.shape[axis] for axis in axes]) if axes else made


def _of_weight(x: Value, grad: Value, sizes: Sequence[Any], groups: int, options: dict[str, Any]) -> Value:
    """A convolution over the samples: the gradient is the kernel, and steps and dilation change places.

    x [n, g*c, h, w], grad [n, g*o, i, j] -> data [c, g*n, h, w] * kernel [g*o, n, i, j] -> [c, g*o, u, v]
    """
    samples, channels, *space = x.shape
    data = op.reshape(x, (samples, groups, channels // groups, *space))
    data = op.permute_dims(data, [2, 1, 0, *range(3, data.ndim)])
    data = op.reshape(data, (channels // groups, groups * samples, *space))
    kernel = op.permute_dims(grad, [1, 0, *range(2, grad.ndim)])
    swapped = {"strides": options["dilation"], "padding": options["padding"], "dilation": options["strides"]}
    made = forward(data, kernel, groups=groups, **swapped)
    axes = list(range(2, made.ndim))
    made = op.strided_slice(made, axes, [0] * len(axes), list(sizes[2:]))
    return op.permute_dims(made, [1, 0, *axes])


@register("aten::max_pool2d_with_indices_backward", "aten::max_pool3d_with_indices_backward")
@register("aten::adaptive_max_pool2d_backward", "aten::adaptive_max_pool3d_backward")
def max_pool_backward(ctx: Lowering, grad: Value, x: Value, *window: Any) -> Value:
    """Each element of the gradient goes to where the maximum was, which the last argument says."""
    indices = window[-1]
    count = 2 if "pool2d" in ctx.name else 3
    lead = x.shape[: x.ndim - count]
    total = _product(x.shape[x.ndim - count :])
    rows = [op.reshape(part, (*lead, _product(grad.shape[x.ndim - count :]))) for part in (grad, indices)]
    zeros = op.zeros((*lead, total), x.dtype)
    return op.reshape(op.scatter_elements(zeros, rows[1], rows[0], len(lead), "add"), x.shape)


@register("aten::avg_pool2d_backward", "aten::avg_pool3d_backward")
def mean_pool_backward(
    ctx: Lowering,
    grad: Value,
    x: Value,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Value:
    """Along each axis, windows give each of their elements the same share."""
    count = 2 if "pool2d" in ctx.name else 3
    kernel = _each(kernel_size, count)
    steps, pads = _each(stride, count) if stride else kernel, _each(padding, count)
    made = grad
    for index in range(count):
        axis = x.ndim - count + index
        begin = op.subtract(
            op.multiply(op.arange(0, grad.shape[axis], 1, "i64"), ctx.tensor(steps[index], "i64")),
            ctx.tensor(pads[index], "i64"),
        )
        size = ctx.tensor(x.shape[axis], "i64")
        end = op.minimum(op.add(begin, ctx.tensor(kernel[index], "i64")), op.add(size, ctx.tensor(pads[index], "i64")))
        inner = op.maximum(begin, ctx.tensor(0, "i64")), op.minimum(end, size)
        length = op.subtract(end, begin) if count_include_pad else op.subtract(inner[1], inner[0])
        shares = None if divisor_override else length
        made = _spread(ctx, made, x, axis, inner, shares)
    return op.divide(made, ctx.tensor(float(divisor_override), x.dtype)) if divisor_override else made


@register("aten::_adaptive_avg_pool2d_backward", "aten::_adaptive_avg_pool3d_backward")
def adaptive_mean_pool_backward(ctx: Lowering, grad: Value, x: Value) -> Value:
    """Position `i` of `o` had the mean from `i * h // o` up to `ceil((i + 1) * h / o)`."""
    count = 2 if "pool2d" in ctx.name else 3
    made = grad
    for axis in range(x.ndim - count, x.ndim):
        places = op.arange(0, grad.shape[axis], 1, "i64")
        total, given = ctx.tensor(grad.shape[axis], "i64"), ctx.tensor(x.shape[axis], "i64")
        one = op.constant(np.int64(1))
        begin = op.floor_divide(op.multiply(places, given), total)
        end = op.floor_divide(op.subtract(op.add(op.multiply(op.add(places, one), given), total), one), total)
        made = _spread(ctx, made, x, axis, (begin, end), op.subtract(end, begin))
    return made


def _spread(
    ctx: Lowering, grad: Value, x: Value, axis: int, window: tuple[Value, Value], shares: Value | None
) -> Value:
    """The gradient along one axis of the input: a product with a matrix that has `1 / shares` where a window is."""
    begin, end = (op.expand_dims(part, [1]) for part in window)
    places = op.expand_dims(op.arange(0, x.shape[axis], 1, "i64"), [0])
    inside = op.logical_and(op.greater_equal(places, begin), op.less(places, end))  # [windows, elements]
    matrix = op.astype(inside, grad.dtype)
    if shares is not None:
        matrix = op.divide(matrix, op.astype(op.expand_dims(shares, [1]), grad.dtype))
    return _times(grad, axis, matrix)


def _times(x: Value, axis: int, matrix: Value) -> Value:
    """The product of an axis with a matrix, whose columns are its new elements."""
    order = [*(place for place in range(x.ndim) if place != axis), axis]
    made = op.matmul(op.permute_dims(x, order), matrix)
    return op.permute_dims(made, [order.index(place) for place in range(x.ndim)])


@register("aten::replication_pad1d_backward", "aten::replication_pad2d_backward", "aten::replication_pad3d_backward")
def replication_pad_backward(ctx: Lowering, grad: Value, x: Value, padding: Sequence[Any]) -> Value:
    """Along each axis, an element collects what it was repeated to."""
    made = grad
    for index in range(len(padding) // 2):
        axis = x.ndim - 1 - index
        last = op.subtract(ctx.tensor(x.shape[axis], "i64"), ctx.tensor(1, "i64"))
        place = op.subtract(op.arange(0, grad.shape[axis], 1, "i64"), ctx.tensor(padding[2 * index], "i64"))
        place = op.minimum(op.maximum(place, ctx.tensor(0, "i64")), last)
        places = op.expand_dims(op.arange(0, x.shape[axis], 1, "i64"), [0])
        made = _times(made, axis, op.astype(op.equal(op.expand_dims(place, [1]), places), grad.dtype))
    return made


@register("aten::_cdist_backward")
def distance_backward(ctx: Lowering, grad: Value, x1: Value, x2: Value, p: float, distance: Value) -> Value:
    """The gradient of `sum(abs(x1 - x2) ** p) ** (1 / p)` of all pairs of rows, with 0 where the distance is 0."""
    dtype = x1.dtype
    zero = ctx.tensor(0.0, dtype)
    difference = op.subtract(op.expand_dims(x1, [x1.ndim - 1]), op.expand_dims(x2, [x2.ndim - 2]))
    sign, size = op.sign(difference), op.abs(difference)
    grad, distance = (op.expand_dims(part, [part.ndim]) for part in (grad, distance))
    if p == 0:
        return op.zeros(ctx.shape, dtype)
    if p == float("inf"):
        share = op.where(op.equal(size, distance), sign, zero)
    elif p == 1:
        share = sign
    else:
        exponent = ctx.tensor(p - 1.0, dtype)
        share = op.multiply(sign, op.power(op.divide(size, distance), exponent))
        share = op.where(op.logical_or(op.equal(distance, zero), op.equal(size, zero)), zero, share)
    return op.sum(op.multiply(grad, share), [x1.ndim - 1])


def _product(sizes: Sequence[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total
