# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The complement of the error function, the normal distribution, and their inverses.

All rest on `erfcx(x) = exp(x^2) erfc(x)`, which neither overflows nor vanishes on the right, so that tails are exact.
"""

from __future__ import annotations

import math

from .... import op
from ....values import Value
from ..registry import register
from . import special_tables as tables
from .series import in_double, number, polynomial, repeat_while

_CENTER = 3.75
"""The argument that is in the middle of the series."""


def scaled_complement(x: Value) -> Value:
    """`erfcx` of numbers that are not negative."""
    center = number(_CENTER)
    finite = op.minimum(x, number(1e300))
    t = op.divide(op.subtract(finite, center), op.add(finite, center))
    made = op.divide(polynomial(t, tables.ERFCX), op.add(number(1), op.multiply(number(2), finite)))
    return op.where(op.isinf(x), number(0), made)


def _exp_of_square(x: Value, sign: int) -> Value:
    """`exp(x^2)` or `exp(-x^2)`. The square of a number rounded to f32 is exact, and the rest is small."""
    limited = op.minimum(op.abs(x), number(1e3))
    rounded = op.astype(op.astype(limited, "f32"), "f64")
    rest = op.multiply(op.subtract(limited, rounded), op.add(limited, rounded))
    factor = number(sign)
    return op.multiply(op.exp(op.multiply(factor, op.square(rounded))), op.exp(op.multiply(factor, rest)))


def complement(x: Value) -> Value:
    """`erfc` of f64."""
    size = op.abs(x)
    tail = op.multiply(scaled_complement(size), _exp_of_square(size, -1))
    far = op.where(op.less(x, number(0)), op.subtract(number(2), tail), tail)
    made = op.where(op.less(size, number(0.5)), op.subtract(number(1), op.erf(x)), far)
    return op.where(op.isnan(x), x, made)


register("aten::erfc", "aten::special_erfc")(in_double(complement))


@register("aten::special_erfcx")
@in_double
def erfcx(x: Value) -> Value:
    size = op.abs(x)
    right = scaled_complement(size)
    left = op.subtract(op.multiply(number(2), _exp_of_square(size, 1)), right)
    return op.where(op.isnan(x), x, op.where(op.less(x, number(0)), left, right))


def _log_ndtr(x: Value) -> Value:
    """The logarithm of the normal distribution; on the left by `erfcx`, where the distribution vanishes."""
    scaled = op.multiply(x, number(-math.sqrt(0.5)))
    left = op.log(op.multiply(number(0.5), scaled_complement(op.maximum(scaled, number(0)))))
    left = op.subtract(left, op.square(scaled))
    right = op.log1p(op.multiply(number(-0.5), complement(op.negative(scaled))))
    return op.where(op.less(x, number(-1)), left, right)


def inverse_erf(x: Value) -> Value:
    """Giles' approximation, made exact by two steps of Newton's method."""
    one = number(1)
    w = op.negative(op.log(op.multiply(op.subtract(one, x), op.add(one, x))))
    near = polynomial(
        op.subtract(w, number(2.5)),
        (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503)
        + (-0.00417768164, 0.246640727, 1.50140941),
    )
    far = polynomial(
        op.subtract(op.sqrt(op.maximum(w, number(0))), number(3)),
        (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613)
        + (0.00943887047, 1.00167406, 2.83297682),
    )
    y = op.multiply(op.where(op.less(w, number(5)), near, far), x)
    slope = number(2 / math.sqrt(math.pi))
    for _ in range(2):
        error = op.subtract(op.erf(y), x)
        y = op.subtract(y, op.divide(error, op.multiply(slope, op.exp(op.negative(op.square(y))))))
    is_end = op.equal(op.abs(x), one)
    y = op.where(is_end, op.multiply(x, number(math.inf)), y)
    return op.where(op.greater(op.abs(x), one), number(math.nan), y)


register("aten::erfinv", "aten::special_erfinv")(in_double(inverse_erf))


@register("aten::special_ndtri")
@in_double
def ndtri(p: Value) -> Value:
    """The inverse of the normal distribution: that of `erf` in the middle; in the tails by Newton's method on the
    logarithm of the probability."""
    zero, one, half = number(0), number(1), number(0.5)
    middle = op.multiply(number(math.sqrt(2)), inverse_erf(op.subtract(op.multiply(number(2), p), one)))
    is_left = op.less(p, half)
    tail = op.maximum(op.where(is_left, p, op.subtract(one, p)), number(5e-324))
    wanted = op.log(tail)
    root = op.sqrt(op.multiply(number(-2), wanted))
    # Hastings' approximation (Abramowitz and Stegun 26.2.23) to begin with.
    start = op.divide(
        polynomial(root, (0.010328, 0.802853, 2.515517)),
        polynomial(root, (0.001308, 0.189269, 1.432788, 1.0)),
    )

    def improve(step: Value, x: Value) -> tuple[Value, Value]:
        slope = scaled_complement(op.maximum(op.multiply(x, number(-math.sqrt(0.5))), zero))
        slope = op.multiply(slope, number(math.sqrt(math.pi / 2)))
        error = op.subtract(_log_ndtr(x), wanted)
        return op.add(step, number(1)), op.subtract(x, op.multiply(error, slope))

    _, x = repeat_while([number(0), op.subtract(start, root)], lambda step, _: op.less(step, number(3)), improve)
    made = op.where(is_left, x, op.negative(x))
    distance = op.abs(op.subtract(p, half))
    made = op.where(op.less(distance, number(0.4)), middle, made)
    made = op.where(op.equal(p, zero), number(-math.inf), op.where(op.equal(p, one), number(math.inf), made))
    is_valid = op.logical_and(op.greater_equal(p, zero), op.less_equal(p, one))
    return op.where(is_valid, made, number(math.nan))
