# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials, logarithms, powers, trigonometric functions and their inverses, of complex numbers.

They are computed in f64, also for numbers of f32: squares then do not overflow, and what cancels in f32 is exact.
Branch cuts are those of PyTorch and C: the inverse functions are Kahan's ("Branch Cuts for Complex Elementary
Functions", 1987), which need no case for a sign of zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ..complex_lifting import register_complex
from ..complex_values import Complex, as_complex
from ..lowering import Lowering
from .complex_basic import part_type, product_of, quotient_of
from .elementwise import length


def _number(value: float) -> Value:
    return op.constant(np.float64(value))


_ComplexFunction = Callable[[Complex], Complex]


def _function(*names: str) -> Callable[[_ComplexFunction], _ComplexFunction]:
    """Registers a function of complex numbers in f64."""

    def add(function: _ComplexFunction) -> _ComplexFunction:
        def convert(ctx: Lowering, x: Any) -> Complex:
            return function(as_complex(ctx, x, "f64")).cast(part_type(ctx))

        convert.__name__ = function.__name__
        register_complex(*names)(convert)
        return function

    return add


def _times_i(x: Complex) -> Complex:
    return Complex(op.negative(x.imag), x.real)


def _over_i(x: Complex) -> Complex:
    return Complex(x.imag, op.negative(x.real))


def _shifted(x: Complex, distance: float) -> Complex:
    return Complex(op.add(x.real, _number(distance)), x.imag)


def _conjugate(x: Complex) -> Complex:
    return Complex(x.real, op.negative(x.imag))


def _negative(x: Complex) -> Complex:
    return Complex(op.negative(x.real), op.negative(x.imag))


def _copysign(size: Value, sign: Value) -> Value:
    """A number that is not negative, with the sign of another, also of a zero."""
    zero = _number(0)
    is_negative = op.where(op.equal(sign, zero), op.less(op.divide(_number(1), sign), zero), op.less(sign, zero))
    return op.where(is_negative, op.negative(size), size)


# --- exponentials and logarithms


@_function("aten::exp")
def exp(x: Complex) -> Complex:
    size = op.exp(x.real)
    imag = op.multiply(size, op.sin(x.imag))
    return Complex(op.multiply(size, op.cos(x.imag)), op.where(op.equal(x.imag, _number(0)), x.imag, imag))


@_function("aten::exp2", "aten::special_exp2")
def exp2(x: Complex) -> Complex:
    factor = _number(math.log(2))
    return exp(Complex(op.multiply(x.real, factor), op.multiply(x.imag, factor)))


@_function("aten::expm1", "aten::special_expm1")
def expm1(x: Complex) -> Complex:
    """`exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y / 2)^2`, which does not cancel near 0."""
    half = op.sin(op.multiply(x.imag, _number(0.5)))
    real = op.multiply(op.expm1(x.real), op.cos(x.imag))
    real = op.subtract(real, op.multiply(_number(2), op.square(half)))
    return Complex(real, op.multiply(op.exp(x.real), op.sin(x.imag)))


@_function("aten::log")
def log(x: Complex) -> Complex:
    """The logarithm of the length: near the unit circle by how far the squared length is from 1."""
    size = length(x.real, x.imag)
    greater, less = op.maximum(op.abs(x.real), op.abs(x.imag)), op.minimum(op.abs(x.real), op.abs(x.imag))
    distance = op.add(
        op.multiply(op.subtract(greater, _number(1)), op.add(greater, _number(1))),
        op.square(less),
    )
    near = op.multiply(_number(0.5), op.log1p(distance))
    is_near = op.logical_and(op.less(size, _number(1.5)), op.greater(size, _number(0.6)))
    return Complex(op.where(is_near, near, op.log(size)), op.atan2(x.imag, x.real))


@_function("aten::log1p", "aten::special_log1p")
def log1p(x: Complex) -> Complex:
    """Near 0 by `|1 + z|^2 - 1 = x (2 + x) + y^2`."""
    distance = op.add(op.multiply(x.real, op.add(x.real, _number(2))), op.square(x.imag))
    far = log(_shifted(x, 1.0))
    is_near = op.less(op.abs(distance), _number(0.5))
    return Complex(op.where(is_near, op.multiply(_number(0.5), op.log1p(distance)), far.real), far.imag)


def _logarithm(base: int) -> None:
    def function(x: Complex) -> Complex:
        made, factor = log(x), _number(1 / math.log(base))
        return Complex(op.multiply(made.real, factor), op.multiply(made.imag, factor))

    function.__name__ = f"log{base}"
    _function(f"aten::log{base}")(function)


_logarithm(2)
_logarithm(10)


@_function("aten::sigmoid", "aten::special_expit")
def sigmoid(x: Complex) -> Complex:
    one = as_one(x)
    return quotient_of(one, _shifted(exp(_negative(x)), 1.0))


@_function("aten::silu")
def silu(x: Complex) -> Complex:
    return product_of(x, sigmoid(x))


def as_one(x: Complex) -> Complex:
    """The number 1, as many times as there are elements."""
    return Complex(op.ones_like(x.real), op.zeros_like(x.real))


# --- roots and powers


@_function("aten::sqrt")
def sqrt(x: Complex) -> Complex:
    """The root with a real part that is not negative; the half that would cancel follows from the other."""
    half, two, zero = _number(0.5), _number(2), _number(0)
    size = op.add(op.multiply(op.abs(x.real), half), op.multiply(length(x.real, x.imag), half))
    root = op.sqrt(size)
    is_zero = op.equal(root, zero)
    other = op.divide(op.abs(x.imag), op.multiply(two, op.where(is_zero, _number(1), root)))
    is_right = op.greater_equal(x.real, zero)
    real, imag = op.where(is_right, root, other), op.where(is_right, other, root)
    # An infinite imaginary part makes both parts infinite.
    is_infinite = op.isinf(x.imag)
    real, imag = (op.where(is_infinite, _number(math.inf), part) for part in (real, imag))
    return Complex(real, _copysign(imag, x.imag))


@_function("aten::rsqrt")
def rsqrt(x: Complex) -> Complex:
    return quotient_of(as_one(x), sqrt(x))


@register_complex("aten::pow")
def power(ctx: Lowering, base: Any, exponent: Any) -> Complex:
    """`exp(exponent * log(base))`; the exponents 1, 2 and 3 are products, and 0.5 is a root."""
    part = part_type(ctx)
    if isinstance(exponent, (int, float)) and exponent in (1, 2, 3):
        x = as_complex(ctx, base, part)
        made = x
        for _ in range(int(exponent) - 1):
            made = product_of(made, x)
        return made
    x = as_complex(ctx, base, "f64")
    if isinstance(exponent, (int, float)) and exponent in (0.5, -0.5):
        return (sqrt(x) if exponent > 0 else rsqrt(x)).cast(part)
    y = as_complex(ctx, exponent, "f64")
    zero, one = _number(0), _number(1)
    is_zero = op.logical_and(op.equal(x.real, zero), op.equal(x.imag, zero))
    safe = Complex(op.where(is_zero, one, x.real), x.imag)
    made = exp(product_of(y, log(safe)))
    # Zero to the power of 0 is 1, of a positive real part 0, and else it has no value.
    is_one = op.logical_and(op.equal(y.real, zero), op.equal(y.imag, zero))
    of_zero = op.where(is_one, one, op.where(op.greater(y.real, zero), zero, _number(math.nan)))
    none = op.where(op.isnan(of_zero), of_zero, zero)
    return Complex(op.where(is_zero, of_zero, made.real), op.where(is_zero, none, made.imag)).cast(part)


# --- trigonometric and hyperbolic functions


@_function("aten::sinh")
def sinh(x: Complex) -> Complex:
    return Complex(op.multiply(op.sinh(x.real), op.cos(x.imag)), op.multiply(op.cosh(x.real), op.sin(x.imag)))


@_function("aten::cosh")
def cosh(x: Complex) -> Complex:
    return Complex(op.multiply(op.cosh(x.real), op.cos(x.imag)), op.multiply(op.sinh(x.real), op.sin(x.imag)))


@_function("aten::tanh")
def tanh(x: Complex) -> Complex:
    """Over `cos(y)^2 + sinh(x)^2`; far from the imaginary axis, where squares overflow, the real part is the sign."""
    is_far = op.greater(op.abs(x.real), _number(20))
    near = op.where(is_far, _number(1), x.real)
    s, cosine, sine = op.sinh(near), op.cos(x.imag), op.sin(x.imag)
    denominator = op.add(op.square(cosine), op.square(s))
    real = op.divide(op.multiply(s, op.cosh(near)), denominator)
    imag = op.divide(op.multiply(sine, cosine), denominator)
    decay = op.exp(op.multiply(_number(-2), op.abs(x.real)))
    far = op.multiply(op.multiply(_number(4), op.multiply(sine, cosine)), decay)
    return Complex(op.where(is_far, op.sign(x.real), real), op.where(is_far, far, imag))


@_function("aten::sin")
def sin(x: Complex) -> Complex:
    return _over_i(sinh(_times_i(x)))


@_function("aten::cos")
def cos(x: Complex) -> Complex:
    return cosh(_times_i(x))


@_function("aten::tan")
def tan(x: Complex) -> Complex:
    return _over_i(tanh(_times_i(x)))


# --- inverse functions


@_function("aten::acos")
def acos(x: Complex) -> Complex:
    below, above = sqrt(_shifted(_negative(x), 1.0)), sqrt(_shifted(x, 1.0))
    real = op.multiply(_number(2), op.atan2(below.real, above.real))
    return Complex(real, op.asinh(product_of(_conjugate(above), below).imag))


@_function("aten::asin")
def asin(x: Complex) -> Complex:
    below, above = sqrt(_shifted(_negative(x), 1.0)), sqrt(_shifted(x, 1.0))
    real = op.atan2(x.real, product_of(below, above).real)
    return Complex(real, op.asinh(product_of(_conjugate(below), above).imag))


@_function("aten::acosh")
def acosh(x: Complex) -> Complex:
    below, above = sqrt(_shifted(x, -1.0)), sqrt(_shifted(x, 1.0))
    real = op.asinh(product_of(_conjugate(below), above).real)
    return Complex(real, op.multiply(_number(2), op.atan2(below.imag, above.real)))


@_function("aten::asinh")
def asinh(x: Complex) -> Complex:
    return _over_i(asin(_times_i(x)))


@_function("aten::atanh")
def atanh(x: Complex) -> Complex:
    """The real part for positive ones, since the logarithm of a number near 0 would cancel for others."""
    one = _number(1)
    squared, size = op.square(x.imag), op.abs(x.real)
    gap = op.add(op.square(op.subtract(one, size)), squared)
    real = op.multiply(_number(0.25), op.log1p(op.divide(op.multiply(_number(4), size), gap)))
    real = _copysign(real, x.real)
    width = op.subtract(op.multiply(op.subtract(one, x.real), op.add(one, x.real)), squared)
    angle = op.atan2(op.multiply(_number(2), x.imag), width)
    return Complex(real, op.multiply(_number(0.5), angle))


@_function("aten::atan")
def atan(x: Complex) -> Complex:
    return _over_i(atanh(_times_i(x)))
