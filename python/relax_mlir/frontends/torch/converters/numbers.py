# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signs, exponents and divisors of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import op
from ....scope import current_function
from ....values import Value
from ..lowering import Lowering, in_f32
from ..registry import register
from .functions import signbit


@register("aten::copysign")
def copysign(ctx: Lowering, x: Any, sign: Any) -> Value:
    x, sign = ctx.same(x, sign)
    size = op.abs(x)
    return op.where(signbit(ctx, sign), op.negative(size), size)


@register("aten::ldexp.Tensor")
@in_f32
def ldexp(ctx: Lowering, x: Any, exponent: Any) -> Value:
    x, exponent = ctx.same(x, exponent)
    return op.multiply(x, op.exp2(exponent))


@register("aten::gcd")
def gcd(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    """Euclid's algorithm for all elements at once, until no remainder is left."""
    lhs, rhs = (op.broadcast_to(op.abs(side), ctx.shape) for side in ctx.same(lhs, rhs))
    builder = current_function().builder
    zero, one = ctx.tensor(0, ctx.dtype), ctx.tensor(1, ctx.dtype)
    with builder.while_([lhs, rhs]) as loop:
        with loop.condition as (_, rest):
            builder.yield_(op.any(op.not_equal(rest, zero)))
        with loop.body as (value, rest):
            is_done = op.equal(rest, zero)
            remainder = op.floor_mod(value, op.where(is_done, one, rest))
            builder.yield_(op.where(is_done, value, rest), op.where(is_done, zero, remainder))
    return loop.results[0]


@register("aten::lcm")
def lcm(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    divisor = gcd(ctx, lhs, rhs)
    quotient = op.floor_divide(lhs, op.maximum(divisor, ctx.tensor(1, ctx.dtype)))
    return op.abs(op.multiply(quotient, rhs))


@register("aten::angle")
def angle(ctx: Lowering, x: Value) -> Value:
    """Of real numbers: pi for negative ones, 0 for others, NaN for NaN."""
    x = ctx.cast(x, ctx.dtype)
    made = op.where(op.less(x, ctx.tensor(0.0, x.dtype)), ctx.tensor(math.pi, x.dtype), ctx.tensor(0.0, x.dtype))
    return op.where(op.isnan(x), x, made)


@register("aten::frexp.Tensor")
def frexp(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    """A mantissa in [0.5, 1) and an exponent; both are exact, since powers of two are."""
    wide = op.abs(ctx.cast(x, "f64"))
    zero, one = (op.constant(np.float64(value)) for value in (0.0, 1.0))
    is_number = op.logical_and(op.isfinite(wide), op.greater(wide, zero))
    exponent = op.add(_exponent(op.where(is_number, wide, one)), one)
    mantissa = op.divide(ctx.cast(x, "f64"), op.exp2(exponent))
    exponent = op.where(is_number, exponent, zero)
    return op.astype(op.where(is_number, mantissa, ctx.cast(x, "f64")), x.dtype), op.astype(exponent, "i32")


@register("aten::nextafter")
def nextafter(ctx: Lowering, x: Value, toward: Value) -> Value:
    """The next number of the type towards another one, by the distance of neighbors at its exponent, in f64."""
    if ctx.dtype == "f64":
        raise ctx.unsupported("numbers of f64, whose neighbors f64 cannot compute; use f32")
    import torch

    from ..dtypes import to_torch

    limits = torch.finfo(to_torch(ctx.dtype))
    digits, least = -math.log2(limits.eps), math.log2(limits.tiny)
    x, toward = (op.astype(side, "f64") for side in ctx.same(x, toward))
    zero, one = op.constant(np.float64(0)), op.constant(np.float64(1))
    size = op.abs(x)
    exponent = _exponent(op.where(op.logical_and(op.isfinite(x), op.greater(size, zero)), size, one))
    grows = op.greater(op.multiply(op.sign(x), op.subtract(toward, x)), zero)
    # Below a power of two neighbors are half as far apart, down to the numbers without a leading one.
    is_power = op.equal(size, op.exp2(exponent))
    exponent = op.where(op.logical_and(is_power, op.logical_not(grows)), op.subtract(exponent, one), exponent)
    step = op.exp2(op.subtract(op.maximum(exponent, op.constant(np.float64(least))), op.constant(np.float64(digits))))
    made = op.where(op.greater(toward, x), op.add(x, step), op.subtract(x, step))
    smallest = op.constant(np.float64(2.0 ** (least - digits)))
    made = op.where(op.equal(x, zero), op.multiply(op.sign(toward), smallest), made)
    greatest = op.multiply(op.sign(x), op.constant(np.float64(limits.max)))
    made = op.where(op.isinf(x), greatest, made)
    made = op.where(op.equal(x, toward), toward, made)
    is_nan = op.logical_or(op.isnan(x), op.isnan(toward))
    return op.astype(op.where(is_nan, op.constant(np.float64(math.nan)), made), ctx.dtype)


def _exponent(size: Value) -> Value:
    """The greatest whole number whose power of two is at most a positive number; the logarithm may be off by one."""
    one = op.constant(np.float64(1))
    exponent = op.floor(op.log2(size))
    mantissa = op.divide(size, op.exp2(exponent))
    high, low = op.greater_equal(mantissa, op.constant(np.float64(2))), op.less(mantissa, one)
    return op.add(exponent, op.subtract(op.astype(high, "f64"), op.astype(low, "f64")))
