# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The logarithm of the gamma function, its derivatives, the zeta function, and the incomplete gamma functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from . import special_tables as tables
from .error_functions import complement
from .series import in_double, number, polynomial, repeat_while

_EPSILON = 2.0**-53


def _bernoulli(count: int) -> list[Fraction]:
    """Bernoulli's numbers of the even indices from 2 on."""
    found = [Fraction(1)]
    for n in range(1, 2 * count + 1):
        found.append(-sum((math.comb(n + 1, k) * found[k] for k in range(n)), Fraction(0)) / (n + 1))
    return found[2::2]


_BERNOULLI = _bernoulli(12)


def _from_one(values: Sequence[Fraction]) -> list[float]:
    """Coefficients for `polynomial`, without a constant term."""
    return [float(value) for value in reversed(values)] + [0.0]


# --- the logarithm of the gamma function


def _stirling_rest(x: Value) -> Value:
    """What Stirling's formula leaves out: `sum B_2k / (2k (2k - 1) x^(2k - 1))`, for numbers from 8 on."""
    terms = [value / (2 * k * (2 * k - 1)) for k, value in enumerate(_BERNOULLI[:8], 1)]
    square = op.divide(number(1), op.square(x))
    return op.multiply(x, polynomial(square, _from_one(terms)))


def log_gamma(x: Value) -> Value:
    """The logarithm of the gamma function of numbers from 1/2 on.

    Up to 3.5 it is a series, without the zeros at 1 and 2; up to 8 numbers are moved by products; then Stirling's
    formula holds.
    """
    one, two = number(1), number(2)
    near = op.minimum(op.maximum(x, number(0.5)), number(3.5))
    series = polynomial(op.multiply(op.subtract(near, two), number(1 / 1.5)), tables.LOG_GAMMA)
    series = op.multiply(series, op.multiply(op.subtract(near, one), op.subtract(near, two)))
    # Where x is below 8 the function is that of x + 5, less the logarithm of the five numbers from x on.
    far = op.maximum(x, number(3.5))
    is_small = op.less(far, number(8))
    factor = far
    for distance in range(1, 5):
        factor = op.multiply(factor, op.add(far, number(distance)))
    factor = op.where(is_small, factor, one)
    moved = op.where(is_small, op.add(far, number(5)), far)
    main = op.multiply(op.subtract(moved, number(0.5)), op.subtract(op.log(moved), one))
    made = op.add(main, op.add(number(0.5 * math.log(2 * math.pi) - 0.5), _stirling_rest(moved)))
    made = op.subtract(made, op.log(factor))
    return op.where(op.less_equal(x, number(3.5)), series, op.where(op.isinf(x), x, made))


@register("aten::lgamma", "aten::special_gammaln")
@in_double
def lgamma(x: Value) -> Value:
    """By reflection left of 1/2; infinite at whole numbers that are not positive."""
    is_left = op.less(x, number(0.5))
    value = log_gamma(op.where(is_left, op.subtract(number(1), x), x))
    sine = op.abs(op.sin(op.multiply(number(math.pi), op.subtract(x, op.round(x)))))
    reflected = op.subtract(number(math.log(math.pi)), op.add(op.log(sine), value))
    is_pole = op.logical_and(op.equal(x, op.floor(x)), op.less_equal(x, number(0)))
    made = op.where(is_left, reflected, value)
    return op.where(op.logical_or(is_pole, op.isinf(x)), number(math.inf), op.where(op.isnan(x), x, made))


# --- its derivatives


def _digamma(x: Value) -> Value:
    """The asymptotic series behind 10, which recurrence leads to, and reflection left of 0."""
    one, zero = number(1), number(0)
    is_left = op.less(x, zero)
    z = op.where(is_left, op.subtract(one, x), x)
    total = zero
    for _ in range(10):
        total = op.subtract(total, op.divide(one, z))
        z = op.add(z, one)
    terms = [value / (2 * k) for k, value in enumerate(_BERNOULLI[:7], 1)]
    series = polynomial(op.divide(one, op.square(z)), _from_one(terms))
    value = op.add(total, op.subtract(op.subtract(op.log(z), op.divide(number(0.5), z)), series))
    angle = op.multiply(number(math.pi), op.subtract(x, op.round(x)))
    cotangent = op.divide(op.cos(angle), op.sin(angle))
    made = op.where(is_left, op.subtract(value, op.multiply(number(math.pi), cotangent)), value)
    is_pole = op.logical_and(is_left, op.equal(x, op.floor(x)))
    made = op.where(is_pole, number(math.nan), made)
    return op.where(op.equal(x, zero), op.negative(op.divide(one, x)), made)


register("aten::digamma", "aten::special_digamma", "aten::special_psi")(in_double(_digamma))


def _trigamma(x: Value) -> Value:
    """The same for the second derivative; reflection is left of 1/2."""
    one = number(1)
    is_left = op.less(x, number(0.5))
    z = op.where(is_left, op.subtract(one, x), x)
    total = number(0)
    for _ in range(10):
        total = op.add(total, op.divide(one, op.square(z)))
        z = op.add(z, one)
    inverse = op.divide(one, z)
    series = polynomial(op.square(inverse), [float(value) for value in reversed(_BERNOULLI[:8])] + [1.0])
    value = op.add(total, op.multiply(inverse, op.add(series, op.multiply(number(0.5), inverse))))
    sine = op.sin(op.multiply(number(math.pi), op.subtract(x, op.round(x))))
    reflected = op.subtract(op.square(op.divide(number(math.pi), sine)), value)
    return op.where(is_left, reflected, value)


@register("aten::polygamma", "aten::special_polygamma")
def polygamma(ctx: Lowering, n: int, x: Value) -> Value:
    """The derivative of order `n` of digamma, which is `(-1)^(n + 1) n! zeta(n + 1, x)` from the second on."""
    if n < 2:
        return in_double((_digamma, _trigamma)[n])(ctx, x)
    sign = 1 if n % 2 else -1
    factor = math.exp(math.lgamma(n + 1)) if n < 171 else math.inf

    def derivative(value: Value) -> Value:
        return op.multiply(number(sign * factor), _zeta(number(n + 1), value))

    return in_double(derivative)(ctx, x)


def _zeta(x: Value, q: Value) -> Value:
    """Hurwitz' zeta function, `sum over k of (q + k)^-x`, by Euler's and Maclaurin's formula behind 9."""
    one = number(1)
    shape = op.add(x, q)
    exponent, base = op.add(op.negative(x), op.zeros_like(shape)), op.add(q, op.zeros_like(shape))

    def is_near(place: Value, total: Value) -> Value:
        return op.less_equal(place, number(9))

    def step(place: Value, total: Value) -> tuple[Value, Value]:
        added = op.add(total, op.power(place, exponent))
        return op.where(is_near(place, total), op.add(place, one), place), op.where(is_near(place, total), added, total)

    place, total = repeat_while([base, op.zeros_like(base)], is_near, step)
    power = op.power(place, exponent)
    total = op.add(total, op.multiply(power, op.add(op.divide(place, op.subtract(x, one)), number(0.5))))
    # The term of B_2k is B_2k / (2k)! x (x + 1) ... (x + 2k - 2) w^(1 - x - 2k).
    rising = op.multiply(power, op.divide(x, place))
    for k, value in enumerate(_BERNOULLI, 1):
        total = op.add(total, op.multiply(rising, number(float(value / math.factorial(2 * k)))))
        for step_ in (2 * k - 1, 2 * k):
            rising = op.divide(op.multiply(rising, op.add(x, number(step_))), place)
    is_whole = op.equal(q, op.floor(q))
    is_left = op.less_equal(q, number(0))
    total = op.where(op.logical_and(is_left, is_whole), number(math.inf), total)
    is_root = op.logical_and(op.logical_and(is_left, op.logical_not(is_whole)), op.not_equal(x, op.floor(x)))
    total = op.where(is_root, number(math.nan), total)
    total = op.where(op.equal(x, one), number(math.inf), total)
    return op.where(op.less(x, one), number(math.nan), total)


register("aten::special_zeta")(in_double(_zeta))


# --- incomplete gamma functions

_LARGE = 100.0
"""Orders above have a uniform expansion (Temme's) where the argument is within three tenths of the order."""

_TEMME_REACH = 0.3


def _prefix(a: Value, x: Value) -> Value:
    """`x^a exp(-x) / gamma(a + 1)`; of great orders by the distance of `x / a` from 1, since powers would cancel."""
    one = number(1)
    small = op.exp(op.subtract(op.subtract(op.multiply(a, op.log(x)), x), log_gamma(op.add(a, one))))
    order = op.maximum(a, number(8))
    distance = op.divide(op.subtract(x, order), order)
    exponent = op.multiply(order, op.subtract(op.log1p(distance), distance))
    root = op.sqrt(op.multiply(number(2 * math.pi), order))
    great = op.divide(op.exp(op.subtract(exponent, _stirling_rest(order))), root)
    return op.where(op.less(a, number(8)), small, great)


def _lower_series(a: Value, x: Value, prefix: Value) -> Value:
    """P of arguments up to the order: `prefix * sum x^n / ((a + 1) ... (a + n))`."""
    one = number(1)

    def goes_on(n: Value, term: Value, total: Value) -> Value:
        return op.greater(term, op.multiply(total, number(_EPSILON)))

    def step(n: Value, term: Value, total: Value) -> tuple[Value, Value, Value]:
        n = op.add(n, one)
        term = op.multiply(term, op.divide(x, n))
        return n, term, op.add(total, term)

    _, _, total = repeat_while([a, op.ones_like(a), op.ones_like(a)], goes_on, step)
    return op.multiply(prefix, total)


def _upper_fraction(a: Value, x: Value, prefix: Value) -> Value:
    """Q of arguments above the order and 1: a continued fraction, by Lentz's method."""
    one, two = number(1), number(2)
    start = op.add(op.subtract(x, a), one)

    def goes_on(k: Value, b: Value, c: Value, d: Value, total: Value, change: Value) -> Value:
        return op.greater(op.abs(op.subtract(change, one)), number(2 * _EPSILON))

    def step(k: Value, b: Value, c: Value, d: Value, total: Value, change: Value) -> tuple[Value, ...]:
        k = op.add(k, one)
        numerator = op.multiply(k, op.subtract(a, k))
        b = op.add(b, two)
        d = op.divide(one, op.add(op.multiply(numerator, d), b))
        c = op.add(b, op.divide(numerator, c))
        change = op.multiply(c, d)
        return k, b, c, d, op.multiply(total, change), change

    inverse = op.divide(one, start)
    huge = op.full_like(a, number(1e300))
    zeros = op.zeros_like(a)
    *_, total, _ = repeat_while([zeros, start, huge, inverse, inverse, zeros], goes_on, step)
    return op.multiply(op.multiply(prefix, a), total)


def _upper_series(a: Value, x: Value) -> Value:
    """Q of small arguments: `1 - x^a / gamma(a + 1)` by `expm1`, less the other terms of the series of P."""
    total, power = number(0), number(1)
    for n in range(1, 22):
        power = op.multiply(power, op.divide(x, number(-n)))
        total = op.add(total, op.divide(power, op.add(a, number(n))))
    exponent = op.subtract(op.multiply(a, op.log(x)), log_gamma(op.add(a, number(1))))
    return op.subtract(op.negative(op.expm1(exponent)), op.multiply(op.multiply(a, op.exp(exponent)), total))


def _uniform(a: Value, x: Value) -> tuple[Value, Value]:
    """P and Q of great orders near the argument (https://dlmf.nist.gov/8.12)."""
    half = number(0.5)
    distance = op.divide(op.subtract(x, a), a)
    square = op.maximum(op.multiply(number(2), op.subtract(distance, op.log1p(distance))), number(0))
    eta = op.multiply(op.sign(distance), op.sqrt(square))
    inverse = op.divide(number(1), a)
    total = polynomial(eta, tables.TEMME[-1])
    for row in reversed(tables.TEMME[:-1]):
        total = op.add(op.multiply(total, inverse), polynomial(eta, row))
    density = op.exp(op.multiply(op.multiply(number(-0.5), a), square))
    rest = op.multiply(op.divide(density, op.sqrt(op.multiply(number(2 * math.pi), a))), total)
    argument = op.multiply(eta, op.sqrt(op.multiply(half, a)))
    upper = op.add(op.multiply(half, complement(argument)), rest)
    return op.subtract(op.multiply(half, complement(op.negative(argument))), rest), upper


def _incomplete(a: Value, x: Value) -> tuple[Value, Value]:
    """Both regularized incomplete gamma functions, P and Q = 1 - P, each by what does not cancel."""
    zero, one = number(0), number(1)
    a, x = op.add(a, op.zeros_like(x)), op.add(x, op.zeros_like(a))
    is_regular = op.logical_and(op.greater(a, zero), op.greater(x, zero))
    is_regular = op.logical_and(is_regular, op.logical_and(op.isfinite(a), op.isfinite(x)))
    gap = op.abs(op.subtract(x, a))
    is_uniform = op.logical_and(op.greater(a, number(_LARGE)), op.less(gap, op.multiply(number(_TEMME_REACH), a)))
    is_uniform = op.logical_and(is_uniform, is_regular)
    is_fraction = op.logical_and(op.greater(x, one), op.greater(x, a))
    # Each method gets harmless arguments where it is not used.
    others = op.logical_and(is_regular, op.logical_not(is_uniform))

    def only(use: Value, order: float, argument: float) -> tuple[Value, Value]:
        return op.where(use, a, number(order)), op.where(use, x, number(argument))

    series_a, series_x = only(op.logical_and(others, op.logical_not(is_fraction)), 1.0, 0.5)
    lower = _lower_series(series_a, series_x, _prefix(series_a, series_x))
    fraction_a, fraction_x = only(op.logical_and(others, is_fraction), 1.0, 2.0)
    upper = _upper_fraction(fraction_a, fraction_x, _prefix(fraction_a, fraction_x))
    uniform = _uniform(*only(is_uniform, 200.0, 200.0))
    small_a, small_x = only(op.logical_and(others, op.less_equal(x, number(1.1))), 1.0, 0.5)
    is_small = op.logical_and(op.less_equal(x, number(1.1)), op.logical_not(op.less(small_x, small_a)))
    is_small = op.logical_or(is_small, op.logical_and(op.less(x, number(0.5)), op.less(a, number(0.5))))
    upper_near = op.where(is_small, _upper_series(small_a, small_x), op.subtract(one, lower))
    p = op.where(is_fraction, op.subtract(one, upper), lower)
    q = op.where(is_fraction, op.where(is_small, upper_near, upper), upper_near)
    p, q = op.where(is_uniform, uniform[0], p), op.where(is_uniform, uniform[1], q)
    return _at_borders(a, x, p, 0.0), _at_borders(a, x, q, 1.0)


def _at_borders(a: Value, x: Value, inside: Value, at_zero: float) -> Value:
    """The values for arguments and orders of 0 and infinity; NaN for negative ones."""
    zero = number(0)
    low, high, nan = number(at_zero), number(1 - at_zero), number(math.nan)
    made = op.where(op.equal(x, zero), low, inside)
    made = op.where(op.isinf(x), high, made)
    made = op.where(op.isinf(a), op.where(op.isinf(x), nan, low), made)
    made = op.where(op.equal(a, zero), op.where(op.greater(x, zero), high, nan), made)
    is_valid = op.logical_and(op.greater_equal(a, zero), op.greater_equal(x, zero))
    return op.where(is_valid, made, nan)


def _half(index: int) -> Callable[[Value, Value], Value]:
    def function(a: Value, x: Value) -> Value:
        return _incomplete(a, x)[index]

    function.__name__ = ("igamma", "igammac")[index]
    return function


register("aten::igamma", "aten::special_gammainc")(in_double(_half(0)))
register("aten::igammac", "aten::special_gammaincc")(in_double(_half(1)))
