# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resampling of one or two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import op
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
