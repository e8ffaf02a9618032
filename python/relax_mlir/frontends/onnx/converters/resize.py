# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resampling of any axes, one after the other.

For each axis the coordinates in the input are computed in f64, as the reference does, for sizes that may be symbolic.
An element is then the weighted sum of one, two or four neighbors; with `antialias`, of all that the kernel reaches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register_data

_FAST = {"nearest": "nearest_neighbor", "linear": "linear"}
"""Modes for which images of two axes have an op of their own."""

_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclasses.dataclass(frozen=True)
class _Axis:
    """How one axis is resampled: sizes before and after, and the scale as a tensor of f64."""

    index: int
    before: ExprLike
    after: ExprLike
    scale: Value
    roi: tuple[Value, Value] | None


@register_data("Resize")
def resize(ctx: Lowering, x: Data, *operands: Data | None) -> Data:
    """Version 10 has the scales alone; later ones have a region, scales and sizes, of which some are left out."""
    if ctx.version < 11:
        roi, scales, sizes = None, operands[0], None
    else:
        roi, scales, sizes = [*operands, *[None] * 3][:3]
    return _resized(ctx, x, _given(roi), _given(scales), _given(sizes))


@register_data("Upsample")
def upsample(ctx: Lowering, x: Data, scales: Data | None = None) -> Data:
    """What Resize was before version 10."""
    if scales is None:
        scales = Data("f32", np.asarray(ctx.attribute("scales"), np.float32))
    return _resized(ctx, x, None, scales, None)


def _given(data: Data | None) -> Data | None:
    """An operand, if it has elements: an empty one is left out."""
    if data is None or (isinstance(data.shape[0], int) and data.shape[0] == 0):
        return None
    return data


def _resized(ctx: Lowering, x: Data, roi: Data | None, scales: Data | None, sizes: Data | None) -> Data:
    value = ctx.value(x)
    axes = ctx.axes(ctx.ints("axes", list(range(x.ndim))), x.ndim)
    is_old = ctx.node.op == "Upsample" or ctx.version < 11
    coordinates = ctx.text("coordinate_transformation_mode", "asymmetric" if is_old else "half_pixel")
    mode = ctx.text("mode", "nearest")
    regions = _regions(ctx, roi, len(axes)) if coordinates == "tf_crop_and_resize" else [None] * len(axes)
    plans = _plans(ctx, x, axes, scales, sizes, regions)
    narrow = value.dtype not in ("f32", "f64")
    fast = None if narrow else _fast(ctx, value, plans, scales, mode, coordinates)
    if fast is not None:
        return Data(x.dtype, value=fast)
    made = op.astype(value, "f32") if narrow and mode != "nearest" else value
    outside = None
    for plan in plans:
        if plan.before == plan.after and plan.roi is None:
            continue
        places = _coordinates(ctx, plan, coordinates)
        made = _along(ctx, made, plan, places, mode, is_old)
        if plan.roi is not None:
            beyond = op.logical_or(
                op.less(places, ctx.scalar(0, "f64")), op.greater(places, ctx.scalar(plan.before - 1, "f64"))
            )
            beyond = op.reshape(beyond, [plan.after if axis == plan.index else 1 for axis in range(x.ndim)])
            outside = beyond if outside is None else op.logical_or(outside, beyond)
    if outside is not None:
        made = op.where(outside, ctx.scalar(ctx.float("extrapolation_value", 0.0), made.dtype), made)
    if made.dtype != value.dtype:
        is_integer = value.dtype[0] in "iu"
        made = op.astype(op.round(made) if is_integer else made, value.dtype)
    return Data(x.dtype, value=made)


def _regions(ctx: Lowering, roi: Data | None, count: int) -> list[Any]:
    if roi is None:
        ctx.fail("tf_crop_and_resize needs a region")
    value = op.astype(ctx.value(roi), "f64")
    if roi.shape[0] != 2 * count and isinstance(roi.shape[0], int):
        ctx.fail(f"the region has {roi.shape[0]} numbers; expected {2 * count}")

    def element(index: int) -> Value:
        return op.reshape(op.strided_slice(value, [0], [index], [index + 1]), ())

    return [(element(index), element(index + count)) for index in range(count)]


def _plans(
    ctx: Lowering, x: Data, axes: Sequence[int], scales: Data | None, sizes: Data | None, regions: Sequence[Any]
) -> list[_Axis]:
    before = [x.shape[axis] for axis in axes]
    if scales is not None:
        given = ctx.numbers(scales, "the scales")
        _check_count(ctx, given, axes, "scales")
        after = []
        for size, scale, region in zip(before, given, regions):
            if region is not None and scale != 1:
                after.append(_cropped(ctx, size, scale, region))
            else:
                after.append(scaled(size, scale))
        tensors = [ctx.scalar(float(scale), "f64") for scale in given]
    else:
        if sizes is None:
            ctx.fail("neither scales nor sizes are given")
        after = ctx.sizes(sizes, "the sizes")
        _check_count(ctx, after, axes, "sizes")
        tensors = [op.divide(ctx.scalar(size, "f64"), ctx.scalar(old, "f64")) for size, old in zip(after, before)]
        policy = ctx.text("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            after, tensors = _keep_ratio(ctx, before, tensors, policy)
    return [_Axis(*entry) for entry in zip(axes, before, after, tensors, regions)]


def _cropped(ctx: Lowering, size: ExprLike, scale: float, region: tuple[Value, Value]) -> ExprLike:
    """The size of a region after it is scaled."""
    width = op.multiply(op.subtract(region[1], region[0]), ctx.scalar(size, "f64"))
    width = op.floor(op.multiply(width, ctx.scalar(float(scale), "f64")))
    return ctx.size(Data("i64", value=op.astype(width, "i64")), "the region")


def _check_count(ctx: Lowering, given: Sequence[Any], axes: Sequence[int], what: str) -> None:
    if len(given) != len(axes):
        ctx.fail(f"there are {len(given)} {what} for {len(axes)} axes")


def scaled(size: ExprLike, scale: float) -> ExprLike:
    """`floor(size * scale)`, exactly."""
    ratio = Fraction(scale)
    return size * ratio.numerator // ratio.denominator


def _keep_ratio(
    ctx: Lowering, before: Sequence[ExprLike], scales: Sequence[Value], policy: str
) -> tuple[list[ExprLike], list[Value]]:
    """One scale for all axes: the least or the greatest, by which sizes are rounded, halves up."""
    if policy not in ("not_larger", "not_smaller"):
        raise ctx.unsupported(f"the policy '{policy}'", "keep_aspect_ratio_policy")
    scale = scales[0]
    for other in scales[1:]:
        scale = (op.minimum if policy == "not_larger" else op.maximum)(scale, other)
    sizes = []
    for old in before:
        rounded = op.floor(op.add(op.multiply(scale, ctx.scalar(old, "f64")), ctx.scalar(0.5, "f64")))
        sizes.append(ctx.size(Data("i64", value=op.astype(rounded, "i64")), "the size"))
    return sizes, [scale] * len(before)


def _fast(
    ctx: Lowering, x: Value, plans: Sequence[_Axis], scales: Data | None, mode: str, coordinates: str
) -> Value | None:
    """The op for images, where it computes the same."""
    moved = [plan for plan in plans if plan.before != plan.after]
    is_image = x.ndim == 4 and all(plan.index >= 2 for plan in moved) and x.dtype == "f32"
    if (
        not is_image
        or mode not in _FAST
        or ctx.int("antialias", 0)
        or "keep_aspect_ratio_policy" in ctx.node.attributes
    ):
        return None
    if coordinates not in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        return None
    if scales is not None and any(scale != int(scale) for scale in ctx.numbers(scales, "the scales")):
        return None  # sizes are rounded down, and the quotient of sizes is then another scale
    rounding = ctx.text("nearest_mode", "round_prefer_floor" if ctx.version >= 11 else "floor")
    if rounding not in _ROUNDINGS:
        return None
    sizes = {plan.index: plan.after for plan in plans}
    return op.resize2d(
        x,
        tuple(sizes.get(axis, x.shape[axis]) for axis in (2, 3)),
        method=_FAST[mode],
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding if mode == "nearest" else "round",
    )


def _coordinates(ctx: Lowering, plan: _Axis, kind: str) -> Value:
    """The place in the input of each element of the result, in f64."""

    def number(value: Any) -> Value:
        return ctx.scalar(value, "f64")

    x = op.arange(0, plan.after, 1, "f64")
    before, scale = number(plan.before), plan.scale
    centers = op.subtract(op.divide(op.add(x, number(0.5)), scale), number(0.5))
    length = op.multiply(scale, before)
    if kind == "half_pixel":
        return centers
    if kind == "asymmetric":
        return op.divide(x, scale)
    if kind == "pytorch_half_pixel":
        return op.where(op.greater(number(plan.after), number(1)), centers, number(0))
    if kind == "half_pixel_symmetric":
        share = op.divide(number(plan.after), length)
        shift = op.multiply(op.divide(before, number(2)), op.subtract(number(1), share))
        return op.add(shift, centers)
    if kind == "align_corners":
        last, span = op.subtract(before, number(1)), op.subtract(length, number(1))
        single = op.less_equal(number(plan.after), number(1))
        return op.where(single, number(0), op.divide(op.multiply(x, last), op.where(single, number(1), span)))
    if kind == "tf_crop_and_resize":
        assert plan.roi is not None
        start, end = plan.roi
        last, span = op.subtract(before, number(1)), op.subtract(number(plan.after), number(1))
        step = op.divide(op.multiply(op.subtract(end, start), last), op.maximum(span, number(1)))
        many = op.add(op.multiply(start, last), op.multiply(x, step))
        middle = op.multiply(op.multiply(op.add(start, end), last), number(0.5))
        return op.where(op.greater(span, number(0)), many, middle)
    raise ctx.unsupported(f"the coordinates '{kind}'", "coordinate_transformation_mode")


def _along(ctx: Lowering, x: Value, plan: _Axis, places: Value, mode: str, is_old: bool) -> Value:
    if mode == "nearest":
        rounding = ctx.text("nearest_mode", "floor" if is_old else "round_prefer_floor")
        return op.take(x, op.astype(_rounded(ctx, places, rounding), "i64"), plan.index, mode="clip")
    if mode not in ("linear", "cubic"):
        raise ctx.unsupported(f"the mode '{mode}'; expected nearest, linear or cubic", "mode")
    if ctx.int("antialias", 0):
        return _smoothed(ctx, x, plan, places, mode)
    first, last = (0, 2) if mode == "linear" else (-1, 3)
    base = op.floor(places)
    taps = [op.add(base, ctx.scalar(step, "f64")) for step in range(first, last)]
    weights = [_kernel(ctx, op.subtract(tap, places), mode) for tap in taps]
    if ctx.int("exclude_outside", 0):
        weights = _without_outside(ctx, plan, taps, weights)
    made = None
    shape = [plan.after if axis == plan.index else 1 for axis in range(x.ndim)]
    for tap, weight in zip(taps, weights):
        part = op.take(x, op.astype(tap, "i64"), plan.index, mode="clip")
        part = op.multiply(part, op.reshape(op.astype(weight, x.dtype), shape))
        made = part if made is None else op.add(made, part)
    assert made is not None
    return made


def _rounded(ctx: Lowering, places: Value, rounding: str) -> Value:
    half = ctx.scalar(0.5, "f64")
    if rounding == "round_prefer_floor":
        return op.ceil(op.subtract(places, half))
    if rounding == "round_prefer_ceil":
        return op.floor(op.add(places, half))
    if rounding in ("floor", "ceil"):
        return (op.floor if rounding == "floor" else op.ceil)(places)
    raise ctx.unsupported(f"the rounding '{rounding}'", "nearest_mode")


def _kernel(ctx: Lowering, distance: Value, mode: str) -> Value:
    """The weight of a neighbor at a distance."""

    def number(value: float) -> Value:
        return ctx.scalar(value, "f64")

    far = op.abs(distance)
    if mode == "linear":
        return op.maximum(op.subtract(number(1), far), number(0))
    a = ctx.float("cubic_coeff_a", -0.75)

    def polynomial(*factors: float) -> Value:
        made = number(factors[0])
        for factor in factors[1:]:
            made = op.add(op.multiply(made, far), number(factor))
        return made

    near = polynomial(a + 2, -(a + 3), 0, 1)
    further = polynomial(a, -5 * a, 8 * a, -4 * a)
    inner = op.where(op.less(far, number(2)), further, number(0))
    return op.where(op.less_equal(far, number(1)), near, inner)


def _without_outside(ctx: Lowering, plan: _Axis, taps: Sequence[Value], weights: Sequence[Value]) -> list[Value]:
    """Weights of neighbors inside alone, which make up one."""
    zero = ctx.scalar(0, "f64")
    inside = [op.where(_is_inside(ctx, plan, tap), weight, zero) for tap, weight in zip(taps, weights)]
    total = inside[0]
    for weight in inside[1:]:
        total = op.add(total, weight)
    return [op.divide(weight, total) for weight in inside]


def _is_inside(ctx: Lowering, plan: _Axis, places: Value) -> Value:
    return op.logical_and(
        op.greater_equal(places, ctx.scalar(0, "f64")), op.less(places, ctx.scalar(plan.before, "f64"))
    )


def _smoothed(ctx: Lowering, x: Value, plan: _Axis, places: Value, mode: str) -> Value:
    """Sums over all that a kernel reaches that is stretched where the result is smaller.

    The kernel reaches at most `2 / scale + 2` elements to each side; what is outside is the edge.
    """
    reach = 2 * plan.before + 2
    taps = op.arange(-reach, plan.before + reach, 1, "f64")
    stretch = op.minimum(plan.scale, ctx.scalar(1, "f64"))
    distance = op.multiply(op.subtract(op.expand_dims(taps, [0]), op.expand_dims(places, [1])), stretch)
    weights = _kernel(ctx, distance, mode)
    if ctx.int("exclude_outside", 0):
        weights = op.where(op.expand_dims(_is_inside(ctx, plan, taps), [0]), weights, ctx.scalar(0, "f64"))
    weights = op.divide(weights, op.sum(weights, [1], True))
    spread = op.take(x, op.astype(taps, "i64"), plan.index, mode="clip")
    last = [axis for axis in range(x.ndim) if axis != plan.index] + [plan.index]
    rows = op.matmul(op.permute_dims(spread, last), op.permute_dims(op.astype(weights, x.dtype), [1, 0]))
    return op.permute_dims(rows, [last.index(axis) for axis in range(x.ndim)])
