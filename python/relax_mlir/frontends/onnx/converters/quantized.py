# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized tensors: integer products are exact, and results are rounded to the nearest, halves to even."""

from __future__ import annotations

from typing import Any

from .... import op
from ....dtypes import integer_range
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .cast import round_to
from .convolution import convolve


def spread(ctx: Lowering, values: Value, like: Value, axis: int, block: int = 0) -> Value:
    """Scales or zero points as they are broadcast: one, one for each index of an axis, or one for each block of it."""
    is_single = values.ndim == 1 and not block and (ctx.is_one(values.shape[0]) or axis >= like.ndim)
    if values.ndim == 0 or like.ndim == 0 or is_single:
        return values if values.ndim == 0 else op.reshape(values, ())
    axis = ctx.axis(axis, like.ndim)
    if block:
        wide = op.broadcast_to(
            op.expand_dims(values, [axis + 1]), [*values.shape[: axis + 1], block, *values.shape[axis + 1 :]]
        )
        shape = [*values.shape[:axis], values.shape[axis] * block, *values.shape[axis + 1 :]]
        return op.strided_slice(op.reshape(wide, shape), [axis], [0], [like.shape[axis]])
    if values.ndim > 1:
        return values
    return op.reshape(values, [values.shape[0] if place == axis else 1 for place in range(like.ndim)])


@register_data("QuantizeLinear", "com.microsoft::QuantizeLinear")
def quantize_linear(ctx: Lowering, x: Data, scale: Data, zero: Data | None = None) -> Data:
    dtype = zero.dtype if zero is not None else ctx.dtype("output_dtype", None) or "u8"
    axis, block = ctx.int("axis", 1), ctx.int("block_size", 0)
    value, precision = ctx.value(x), ctx.dtype("precision", None)
    wide = precision or (x.dtype if dtypes.is_float(x.dtype) else "f32")
    factor = spread(ctx, ctx.value(scale), value, axis, block)
    scaled = op.astype(op.divide(ctx.cast(value, wide), ctx.cast(factor, wide)), "f32")
    offset = None if zero is None else spread(ctx, ctx.value(zero), value, axis, block)
    return Data(dtype, value=to_quantized(ctx, scaled, offset, dtype, bool(ctx.int("saturate", 1))))


def to_quantized(ctx: Lowering, scaled: Value, zero: Value | None, dtype: str, saturate: bool = True) -> Value:
    """Numbers of f32, already divided by the scale, in a quantized type."""
    if dtypes.is_float(dtype):
        if zero is not None:
            scaled = op.add(scaled, op.astype(zero, "f32"))
        return round_to(ctx, scaled, dtype, saturate)
    low, high = integer_range(dtype)
    rounded = op.round(scaled)
    if zero is not None:
        rounded = op.add(rounded, op.astype(zero, "f32"))
    limited = op.minimum(op.maximum(rounded, ctx.scalar(low, "f32")), ctx.scalar(high, "f32"))
    limited = op.where(op.isnan(limited), ctx.scalar(low, "f32"), limited)
    return op.astype(limited, dtypes.carrier(dtype))


@register_data("DequantizeLinear", "com.microsoft::DequantizeLinear")
def dequantize_linear(ctx: Lowering, x: Data, scale: Data, zero: Data | None = None) -> Data:
    dtype = ctx.dtype("output_dtype", None) or scale.dtype
    axis, block = ctx.int("axis", 1), ctx.int("block_size", 0)
    value = ctx.value(x)
    factor = spread(ctx, ctx.value(scale), value, axis, block)
    if not dtypes.is_float(x.dtype):
        numbers = op.astype(value, "i32")
        if zero is not None:
            numbers = op.subtract(numbers, op.astype(spread(ctx, ctx.value(zero), value, axis, block), "i32"))
        numbers = op.astype(numbers, "f32")
    else:
        numbers = op.astype(value, "f32") if value.dtype != "f32" else value
        if zero is not None:
            offset = spread(ctx, ctx.value(zero), value, axis, block)
            numbers = op.subtract(numbers, ctx.cast(offset, "f32"))
    return Data(dtype, value=ctx.cast(op.multiply(numbers, ctx.cast(factor, "f32")), dtype))


@register("DynamicQuantizeLinear")
def dynamic_quantize_linear(ctx: Lowering, x: Value) -> tuple[Value, Value, Value]:
    return dynamically_quantized(ctx, x)


def dynamically_quantized(ctx: Lowering, x: Value) -> tuple[Value, Value, Value]:
    """The tensor in u8 with its scale and zero point, whose range holds all elements and zero; NaN does not count."""
    zero = ctx.scalar(0, "f32")
    counted = op.where(op.isnan(x), zero, x)
    padded = op.concat([op.flatten(counted) if x.ndim != 1 else counted, op.zeros((1,), "f32")], 0)
    low, high = op.min(padded), op.max(padded)
    scale = op.divide(op.subtract(high, low), ctx.scalar(255, "f32"))
    scale = op.where(op.equal(scale, zero), ctx.scalar(1, "f32"), scale)
    point = op.round(op.divide(op.negative(low), scale))
    point = op.minimum(op.maximum(point, zero), ctx.scalar(255, "f32"))
    offset = op.astype(point, "u8")
    return to_quantized(ctx, op.divide(x, scale), offset, "u8"), scale, offset


def centered(ctx: Lowering, x: Value, zero: Value | None) -> Value:
    """8-bit integers without their zero point, in i32."""
    wide = op.astype(x, "i32")
    return wide if zero is None else op.subtract(wide, op.astype(zero, "i32"))


def _for_rows(zero: Value | None) -> Value | None:
    """One zero point for each row of the left operand, to be broadcast."""
    if zero is None or zero.ndim == 0:
        return zero
    return op.expand_dims(zero, [1]) if zero.ndim == 1 else zero


def integer_product(ctx: Lowering, a: Value, b: Value, a_zero: Value | None, b_zero: Value | None) -> Value:
    """The exact product of matrices of 8-bit integers, in i32."""
    left = centered(ctx, a, _for_rows(a_zero) if a.ndim > 1 else a_zero)
    return op.matmul(left, centered(ctx, b, b_zero))


@register("MatMulInteger")
def matmul_integer(
    ctx: Lowering, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    return integer_product(ctx, a, b, a_zero, b_zero)


@register("QLinearMatMul")
def qlinear_matmul(ctx: Lowering, a: Value, a_scale: Value, a_zero: Value, b: Value, *others: Value) -> Value:
    """Scales and zero points may be one for each row of the first, and for each column of the second operand."""
    b_scale, b_zero, scale, zero = others
    made = integer_product(ctx, a, b, a_zero, b_zero)
    left = _for_rows(op.astype(a_scale, "f32")) if a.ndim > 1 else op.astype(a_scale, "f32")
    return requantized(ctx, made, left, op.astype(b_scale, "f32"), op.astype(scale, "f32"), zero)


def requantized(ctx: Lowering, sums: Value, a_scale: Any, b_scale: Any, scale: Value, zero: Value) -> Value:
    """Exact sums in the type of a zero point: `round(sum * (a_scale * b_scale / scale)) + zero`, limited."""
    factor = op.divide(op.multiply(a_scale, b_scale), scale)
    return to_quantized(ctx, op.multiply(op.astype(sums, "f32"), factor), zero, zero.dtype)


def _for_channels(values: Value | None, rank: int) -> Value | None:
    """One value for each output channel of a kernel."""
    if values is None or values.ndim == 0:
        return values
    return op.reshape(values, [values.shape[0], *[1] * (rank - 1)])


def integer_convolution(ctx: Lowering, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None) -> Value:
    """The exact convolution of 8-bit integers, in i32; padding counts as the zero point."""
    x_zero = x_zero if x_zero is None or x_zero.ndim == 0 else op.reshape(x_zero, ())
    return convolve(ctx, centered(ctx, x, x_zero), centered(ctx, w, _for_channels(w_zero, w.ndim)))


@register("ConvInteger")
def conv_integer(ctx: Lowering, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None) -> Value:
    return integer_convolution(ctx, x, w, x_zero, w_zero)


@register("QLinearConv")
def qlinear_conv(ctx: Lowering, x: Value, x_scale: Value, x_zero: Value, w: Value, *others: Value) -> Value:
    w_scale, w_zero, scale, zero = others[:4]
    sums = integer_convolution(ctx, x, w, x_zero, w_zero)
    if len(others) > 4:
        bias = others[4]
        sums = op.add(sums, op.reshape(bias, [bias.shape[0], *[1] * (sums.ndim - 2)]))
    factors = w_scale if w_scale.ndim == 0 else op.reshape(w_scale, [w_scale.shape[0], *[1] * (sums.ndim - 2)])
    return requantized(ctx, sums, op.reshape(x_scale, ()), factors, op.reshape(scale, ()), op.reshape(zero, ()))
