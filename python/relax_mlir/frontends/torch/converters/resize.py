# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resampling of one or two axes, with and without a filter against aliasing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register


@register("aten::upsample_nearest1d.vec", "aten::upsample_nearest2d.vec")
def nearest(ctx: Lowering, x: Value, output_size: Any, scale_factors: Sequence[float] | None) -> Value:
    return _resized(ctx, x, scale_factors, "nearest_neighbor", "asymmetric", "floor")


@register("aten::_upsample_nearest_exact1d.vec", "aten::_upsample_nearest_exact2d.vec")
def nearest_exact(ctx: Lowering, x: Value, output_size: Any, scale_factors: Sequence[float] | None) -> Value:
    return _resized(ctx, x, scale_factors, "nearest_neighbor", "half_pixel", "round_prefer_ceil")


@register("aten::upsample_linear1d.vec", "aten::upsample_bilinear2d.vec")
def linear(
    ctx: Lowering, x: Value, output_size: Any, align_corners: bool, scale_factors: Sequence[float] | None
) -> Value:
    return _resized(ctx, x, scale_factors, "linear", "align_corners" if align_corners else "half_pixel")


@register("aten::upsample_bicubic2d.vec")
def cubic(
    ctx: Lowering, x: Value, output_size: Any, align_corners: bool, scale_factors: Sequence[float] | None
) -> Value:
    return _resized(ctx, x, scale_factors, "cubic", "align_corners" if align_corners else "half_pixel")


@register("aten::upsample_nearest1d.default", "aten::upsample_nearest2d.default")
def nearest_to_size(ctx: Lowering, x: Value, output_size: Any, *scales: float | None) -> Value:
    return _resized(ctx, x, _given(scales), "nearest_neighbor", "asymmetric", "floor")


@register("aten::upsample_linear1d.default", "aten::upsample_bilinear2d.default")
def linear_to_size(ctx: Lowering, x: Value, output_size: Any, align_corners: bool, *scales: float | None) -> Value:
    return _resized(ctx, x, _given(scales), "linear", "align_corners" if align_corners else "half_pixel")


@register("aten::upsample_bicubic2d.default")
def cubic_to_size(ctx: Lowering, x: Value, output_size: Any, align_corners: bool, *scales: float | None) -> Value:
    return _resized(ctx, x, _given(scales), "cubic", "align_corners" if align_corners else "half_pixel")


def _given(scales: Sequence[float | None]) -> list[float] | None:
    return [scale for scale in scales if scale is not None] or None


def _resized(
    ctx: Lowering,
    x: Value,
    scale_factors: Sequence[float] | None,
    method: str,
    coordinates: str,
    rounding: str = "round",
) -> Value:
    """`relax.resize2d` to the size that the trace has found, of one axis as of an image of one row.

    Where PyTorch is given factors it uses them for coordinates, and not the quotient of the sizes. Both are the same
    where the product is whole, which is checked.
    """
    count = x.ndim - 2
    size = ctx.shape[2:]
    for axis, factor in enumerate(scale_factors or ()):
        if coordinates == "align_corners":
            break
        numerator, denominator = float(factor).as_integer_ratio()
        if denominator > 1 << 20:
            raise ctx.unsupported(f"the factor {factor} is not a short binary fraction; give the size instead")
        whole = compare("==", size[axis] * denominator, x.shape[2 + axis] * numerator)
        ctx.require(whole, f"size times the factor {factor} is whole")
    if count == 1:
        x = op.expand_dims(x, [2])
        size = (1, *size)
    made = op.resize2d(
        x,
        size,
        method=method,
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding,
    )
    return op.squeeze(made, [2]) if count == 1 else made


# --- with a filter against aliasing


@register("aten::_upsample_bilinear2d_aa.vec", "aten::_upsample_bicubic2d_aa.vec")
def filtered(
    ctx: Lowering, x: Value, output_size: Any, align_corners: bool, scale_factors: Sequence[float] | None
) -> Value:
    return _filtered(ctx, x, align_corners, list(scale_factors or ()))


@register("aten::_upsample_bilinear2d_aa.default", "aten::_upsample_bicubic2d_aa.default")
def filtered_to_size(ctx: Lowering, x: Value, output_size: Any, align_corners: bool, *scales: float | None) -> Value:
    return _filtered(ctx, x, align_corners, list(scales))


def _filtered(ctx: Lowering, x: Value, align_corners: bool, scales: Sequence[float | None]) -> Value:
    """A product with a matrix of weights for each axis."""
    if not is_float(x.dtype):
        raise ctx.unsupported("integers, which PyTorch computes with weights of its own; convert the image to f32")
    wide = x if x.dtype == "f64" else op.astype(x, "f32")
    for index, axis in enumerate((2, 3)):
        scale = scales[index] if index < len(scales) else None
        weights = _weights(ctx, x.shape[axis], ctx.shape[axis], align_corners, scale, wide.dtype)
        # `[n, c, h, w]` times `[w, o]`, or `[o, h]` times `[n, c, h, w]`.
        wide = op.matmul(wide, op.permute_dims(weights, [1, 0])) if axis == 3 else op.matmul(weights, wide)
    return ctx.cast(wide, x.dtype)


def _weights(ctx: Lowering, given: Any, wanted: Any, align_corners: bool, factor: float | None, dtype: str) -> Value:
    """How much each of the `given` pixels counts for each of the `wanted` ones: `[wanted, given]`."""
    count, size = ctx.tensor(given, "f64"), ctx.tensor(wanted, "f64")
    zero, half, one = (op.constant(np.float64(value)) for value in (0.0, 0.5, 1.0))
    if align_corners:
        gaps = op.subtract(size, one)
        step = op.where(op.greater(gaps, zero), op.divide(op.subtract(count, one), op.maximum(gaps, one)), zero)
    else:
        step = op.divide(count, size) if factor is None else op.constant(np.float64(1 / factor))
    width = op.maximum(step, one)
    radius = 1.0 if "linear" in ctx.name else 2.0
    support = op.multiply(width, op.constant(np.float64(radius)))
    center = op.expand_dims(op.multiply(step, op.add(op.arange(0, wanted, 1, "f64"), half)), [1])
    place = op.expand_dims(op.arange(0, given, 1, "f64"), [0])
    first = op.trunc(op.add(op.subtract(center, support), half))
    end = op.trunc(op.add(op.add(center, support), half))
    is_near = op.logical_and(op.greater_equal(place, first), op.less(place, end))
    distance = op.abs(op.divide(op.add(op.subtract(place, center), half), width))
    weight = _triangle(distance) if "linear" in ctx.name else _bicubic(distance)
    weight = op.where(is_near, weight, zero)
    return op.astype(op.divide(weight, op.sum(weight, [1], True)), dtype)


def _triangle(distance: Value) -> Value:
    zero, one = op.constant(np.float64(0)), op.constant(np.float64(1))
    return op.maximum(op.subtract(one, distance), zero)


def _bicubic(x: Value) -> Value:
    """Keys' cubic with `a = -1/2`."""

    def polynomial(*coefficients: float) -> Value:
        total = op.constant(np.float64(coefficients[0]))
        for coefficient in coefficients[1:]:
            total = op.add(op.multiply(total, x), op.constant(np.float64(coefficient)))
        return total

    near, far = polynomial(1.5, -2.5, 0.0, 1.0), polynomial(-0.5, 2.5, -4.0, 2.0)
    zero, one, two = (op.constant(np.float64(value)) for value in (0.0, 1.0, 2.0))
    return op.where(op.less(x, one), near, op.where(op.less(x, two), far, zero))
