# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions, by series and continued fractions that are exact to the precision of f32 and computed in f64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)
"""Lanczos' coefficients with g = 7: about 15 digits of the gamma function right of 1/2."""


def _number(value: float) -> Value:
    return op.constant(np.float64(value))


def _in_double(function: Callable[[Lowering, Value], Value]) -> Any:
    """A function that is computed in f64."""

    def convert(ctx: Lowering, x: Value) -> Value:
        return op.astype(function(ctx, ctx.cast(x, "f64")), ctx.dtype)

    convert.__name__ = function.__name__
    return convert


@register("aten::lgamma", "aten::special_gammaln")
@_in_double
def lgamma(ctx: Lowering, x: Value) -> Value:
    """Lanczos' sum, and the reflection of it left of 1/2; infinite at whole numbers that are not positive."""
    half, one = _number(0.5), _number(1)
    is_left = op.less(x, half)
    z = op.subtract(op.where(is_left, op.subtract(one, x), x), one)
    total = _number(_LANCZOS[0])
    for index, coefficient in enumerate(_LANCZOS[1:], 1):
        total = op.add(total, op.divide(_number(coefficient), op.add(z, _number(index))))
    t = op.add(z, _number(7.5))
    root = _number(0.5 * math.log(2 * math.pi))
    value = op.add(op.subtract(op.add(op.multiply(op.add(z, half), op.log(t)), root), t), op.log(total))
    sine = op.abs(op.sin(op.multiply(_number(math.pi), op.subtract(x, op.floor(x)))))
    reflected = op.subtract(_number(math.log(math.pi)), op.add(op.log(sine), value))
    made = op.where(is_left, reflected, value)
    is_pole = op.logical_and(op.equal(x, op.floor(x)), op.less_equal(x, _number(0)))
    return op.where(op.logical_or(is_pole, op.isinf(x)), _number(math.inf), made)


@register("aten::digamma", "aten::special_digamma")
@_in_double
def digamma(ctx: Lowering, x: Value) -> Value:
    """The asymptotic series behind 10, which recurrence leads to, and reflection left of 0."""
    one, zero = _number(1), _number(0)
    is_left = op.less(x, zero)
    z = op.where(is_left, op.subtract(one, x), x)
    total = zero
    for _ in range(10):
        total = op.subtract(total, op.divide(one, z))
        z = op.add(z, one)
    square = op.divide(one, op.square(z))
    series = zero
    # Bernoulli's numbers over their indices.
    for coefficient in (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)[::-1]:
        series = op.multiply(square, op.add(_number(coefficient), series))
    value = op.add(total, op.subtract(op.subtract(op.log(z), op.divide(_number(0.5), z)), series))
    angle = op.multiply(_number(math.pi), op.subtract(x, op.floor(x)))
    cotangent = op.divide(op.cos(angle), op.sin(angle))
    made = op.where(is_left, op.subtract(value, op.multiply(_number(math.pi), cotangent)), value)
    is_pole = op.logical_and(is_left, op.equal(x, op.floor(x)))
    made = op.where(is_pole, _number(math.nan), made)
    return op.where(op.equal(x, zero), op.negative(op.divide(one, x)), made)


@register("aten::erfinv", "aten::special_erfinv")
@_in_double
def erfinv(ctx: Lowering, x: Value) -> Value:
    """Giles' approximation, made exact by two steps of Newton's method."""
    one = _number(1)
    w = op.negative(op.log(op.multiply(op.subtract(one, x), op.add(one, x))))
    near = _polynomial(
        op.subtract(w, _number(2.5)),
        (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503)
        + (-0.00417768164, 0.246640727, 1.50140941),
    )
    far = _polynomial(
        op.subtract(op.sqrt(op.maximum(w, _number(0))), _number(3)),
        (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613)
        + (0.00943887047, 1.00167406, 2.83297682),
    )
    y = op.multiply(op.where(op.less(w, _number(5)), near, far), x)
    slope = _number(2 / math.sqrt(math.pi))
    for _ in range(2):
        error = op.subtract(op.erf(y), x)
        y = op.subtract(y, op.divide(error, op.multiply(slope, op.exp(op.negative(op.square(y))))))
    is_end = op.equal(op.abs(x), one)
    y = op.where(is_end, op.multiply(x, _number(math.inf)), y)
    return op.where(op.greater(op.abs(x), one), _number(math.nan), y)


def _polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    total = _number(coefficients[0])
    for coefficient in coefficients[1:]:
        total = op.add(op.multiply(total, x), _number(coefficient))
    return total
