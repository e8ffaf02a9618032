# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bessel functions of orders 0 and 1, their modified forms, and the Airy function.

Near zero a function is a series of the argument (and the logarithm times the function of the first kind). Far from zero
its decay, or the phase of its oscillation, is taken out, and the rest is a series of the reciprocal argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .... import op
from ....values import Value
from ..registry import register
from . import special_tables as tables
from .series import in_double, number, polynomial

_BORDER = 8.0
"""Where the series of J, Y and I change; those of K change at 2."""


def _between(x: Value, low: float, high: float) -> Value:
    """The number as an argument of a polynomial, where it lies between both."""
    limited = op.minimum(op.maximum(x, number(low)), number(high))
    return op.subtract(op.multiply(limited, number(2 / (high - low))), number((high + low) / (high - low)))


def _scaled(factor: float, x: Value) -> Value:
    return op.multiply(number(factor), x)


# --- first and second kind


def _oscillation(order: int, x: Value) -> tuple[Value, Value]:
    """J and Y of arguments above the border: `root (P cos(t) - Q sin(t))` and `root (P sin(t) + Q cos(t))`.

    The phase `t` is `x` less an odd multiple of a quarter of pi, whose sine and cosine follow from those of `x` itself.
    """
    x = op.maximum(x, number(_BORDER))
    inverse = op.divide(number(_BORDER), x)
    u = _between(op.square(inverse), 0, 1)
    p = polynomial(u, (tables.P0_FAR, tables.P1_FAR)[order])
    q = op.multiply(inverse, polynomial(u, (tables.Q0_FAR, tables.Q1_FAR)[order]))
    sine, cosine = op.sin(x), op.cos(x)
    total, difference = op.add(cosine, sine), op.subtract(sine, cosine)
    cosine, sine = (total, difference) if order == 0 else (difference, op.negative(total))
    # The root of 2 / (pi x), and of 1/2 for the turn by a quarter.
    root = op.sqrt(op.divide(number(1 / math.pi), x))
    first = op.subtract(op.multiply(p, cosine), op.multiply(q, sine))
    second = op.add(op.multiply(p, sine), op.multiply(q, cosine))
    return op.multiply(root, first), op.multiply(root, second)


def _near(x: Value, table: tuple[float, ...]) -> Value:
    return polynomial(_between(op.square(x), 0, _BORDER**2), table)


def _first_kind(order: int, x: Value) -> Value:
    """J of numbers that are not negative."""
    near = _near(x, (tables.J0_NEAR, tables.J1_NEAR)[order])
    near = op.multiply(x, near) if order else near
    return op.where(op.less(x, number(_BORDER)), near, _oscillation(order, x)[0])


@register("aten::special_bessel_j0")
@in_double
def bessel_j0(x: Value) -> Value:
    return _first_kind(0, op.abs(x))


@register("aten::special_bessel_j1")
@in_double
def bessel_j1(x: Value) -> Value:
    made = _first_kind(1, op.abs(x))
    return op.where(op.less(x, number(0)), op.negative(made), made)


def _second_kind(order: int, x: Value) -> Value:
    """Y: minus infinity at 0, NaN below."""
    logarithm = _scaled(2 / math.pi, op.log(x))
    near = _near(x, (tables.Y0_NEAR, tables.Y1_NEAR)[order])
    if order:
        near = op.subtract(op.multiply(x, near), op.divide(number(2 / math.pi), x))
    near = op.add(near, op.multiply(logarithm, _first_kind(order, x)))
    made = op.where(op.less(x, number(_BORDER)), near, _oscillation(order, x)[1])
    made = op.where(op.equal(x, number(0)), number(-math.inf), made)
    return op.where(op.less(x, number(0)), number(math.nan), made)


@register("aten::special_bessel_y0")
@in_double
def bessel_y0(x: Value) -> Value:
    return _second_kind(0, x)


@register("aten::special_bessel_y1")
@in_double
def bessel_y1(x: Value) -> Value:
    return _second_kind(1, x)


@register("aten::special_spherical_bessel_j0")
@in_double
def spherical_bessel_j0(x: Value) -> Value:
    is_zero = op.equal(x, number(0))
    made = op.divide(op.sin(x), op.where(is_zero, number(1), x))
    return op.where(is_zero, number(1), op.where(op.isinf(x), number(0), made))


# --- modified, first kind


def _decayed(order: int, x: Value) -> Value:
    """`exp(-x) I(x)` of numbers that are not negative."""
    near = polynomial(_between(x, 0, _BORDER), (tables.I0_NEAR, tables.I1_NEAR)[order])
    near = op.multiply(x, near) if order else near
    inverse = op.divide(number(_BORDER), op.maximum(x, number(_BORDER)))
    far = polynomial(_between(inverse, 0, 1), (tables.I0_FAR, tables.I1_FAR)[order])
    return op.where(op.less(x, number(_BORDER)), near, op.divide(far, op.sqrt(x)))


def _modified(order: int, x: Value, is_scaled: bool) -> Value:
    size = op.abs(x)
    made = _decayed(order, size)
    made = made if is_scaled else op.multiply(op.exp(size), made)
    return op.where(op.less(x, number(0)), op.negative(made), made) if order else made


# --- modified, second kind


def _second_modified(order: int, x: Value, is_scaled: bool) -> Value:
    """K, times `exp(x)` if scaled: infinite at 0, NaN below."""
    near = polynomial(_between(op.square(x), 0, 4), (tables.K0_NEAR, tables.K1_NEAR)[order])
    logarithm = op.multiply(op.log(_scaled(0.5, x)), _modified(order, x, False))
    near = op.subtract(near, logarithm) if order == 0 else op.add(op.divide(near, x), logarithm)
    inverse = op.divide(number(2), op.maximum(x, number(2)))
    far = polynomial(_between(inverse, 0, 1), (tables.K0_FAR, tables.K1_FAR)[order])
    far = op.divide(far, op.sqrt(x))
    if is_scaled:
        near = op.multiply(near, op.exp(x))
    else:
        far = op.multiply(far, op.exp(op.negative(x)))
    made = op.where(op.less_equal(x, number(2)), near, far)
    made = op.where(op.equal(x, number(0)), number(math.inf), made)
    return op.where(op.less(x, number(0)), number(math.nan), made)


def _register_modified(function: Callable[[int, Value, bool], Value], order: int, is_scaled: bool, *names: str) -> None:
    def convert(x: Value) -> Value:
        return function(order, x, is_scaled)

    convert.__name__ = names[0].rpartition("::")[2]
    register(*names)(in_double(convert))


_register_modified(_modified, 0, False, "aten::i0", "aten::special_i0", "aten::special_modified_bessel_i0")
_register_modified(_modified, 1, False, "aten::special_i1", "aten::special_modified_bessel_i1")
_register_modified(_modified, 0, True, "aten::special_i0e")
_register_modified(_modified, 1, True, "aten::special_i1e")
_register_modified(_second_modified, 0, False, "aten::special_modified_bessel_k0")
_register_modified(_second_modified, 1, False, "aten::special_modified_bessel_k1")
_register_modified(_second_modified, 0, True, "aten::special_scaled_modified_bessel_k0")
_register_modified(_second_modified, 1, True, "aten::special_scaled_modified_bessel_k1")


# --- Airy


@register("aten::special_airy_ai")
@in_double
def airy(x: Value) -> Value:
    """Ai: it decays on the right, as `exp(-zeta)` with `zeta = 2/3 x^1.5`, and oscillates with that phase on the
    left."""
    size = op.maximum(op.abs(x), number(2))
    zeta = _scaled(2 / 3, op.multiply(size, op.sqrt(size)))
    root = op.sqrt(op.sqrt(size))
    right = polynomial(_between(op.divide(number(2 / 3 * 2**1.5), zeta), 0, 1), tables.AIRY_RIGHT)
    right = op.divide(op.multiply(right, op.exp(op.negative(zeta))), op.multiply(number(2 * math.sqrt(math.pi)), root))
    inverse = op.divide(number(2 / 3 * 8**1.5), zeta)
    u = _between(op.square(inverse), 0, 1)
    p, q = polynomial(u, tables.AIRY_P), op.multiply(inverse, polynomial(u, tables.AIRY_Q))
    angle = op.subtract(zeta, number(math.pi / 4))
    wave = op.add(op.multiply(p, op.cos(angle)), op.multiply(q, op.sin(angle)))
    wave = op.divide(wave, op.multiply(number(math.sqrt(math.pi)), root))
    middle = polynomial(_between(x, -3, 2), tables.AIRY_MIDDLE)
    center = polynomial(_between(x, -5.5, -3), tables.AIRY_CENTER)
    left = polynomial(_between(x, -8, -5.5), tables.AIRY_LEFT)
    made = op.where(op.less(x, number(-3)), center, middle)
    made = op.where(op.less(x, number(-5.5)), op.where(op.less(x, number(-8)), wave, left), made)
    made = op.where(op.greater(x, number(2)), right, made)
    return op.where(op.isfinite(x), made, number(math.nan))
