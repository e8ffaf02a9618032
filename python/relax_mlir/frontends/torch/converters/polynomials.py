# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orthogonal polynomials whose degrees are a tensor, by their recurrences.

All elements take the same steps, up to the greatest degree, and keep the polynomial of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .series import number, repeat_while

Step = Callable[[Value, Value, Value, Value], Value]
"""The polynomial of degree `k + 1` from `k`, the argument, and those of the degrees `k` and `k - 1`."""

_MOST_OF_HERMITE = {"f64": 512, "f32": 128, "f16": 128, "bf16": 128}
"""Hermite polynomials of greater degrees are NaN in PyTorch, since their numbers overflow."""


def _times(*factors: Value) -> Value:
    total, *rest = factors
    for factor in rest:
        total = op.multiply(total, factor)
    return total


def _twice(x: Value) -> Value:
    return op.multiply(number(2), x)


def _chebyshev(k: Value, x: Value, last: Value, before: Value) -> Value:
    return op.subtract(_times(number(2), x, last), before)


def _hermite(k: Value, x: Value, last: Value, before: Value) -> Value:
    return op.subtract(_times(number(2), x, last), _times(number(2), k, before))


def _hermite_of_probability(k: Value, x: Value, last: Value, before: Value) -> Value:
    return op.subtract(op.multiply(x, last), op.multiply(k, before))


def _laguerre(k: Value, x: Value, last: Value, before: Value) -> Value:
    factor = op.subtract(op.add(_twice(k), number(1)), x)
    return op.divide(op.subtract(op.multiply(factor, last), op.multiply(k, before)), op.add(k, number(1)))


def _legendre(k: Value, x: Value, last: Value, before: Value) -> Value:
    factor = op.multiply(op.add(_twice(k), number(1)), x)
    return op.divide(op.subtract(op.multiply(factor, last), op.multiply(k, before)), op.add(k, number(1)))


def _polynomial(first: Callable[[Value], Value], step: Step, x: Value, degree: Value) -> Value:
    """The polynomial of that degree, from 1 and `first(x)`; 0 for negative degrees."""
    zero, one = number(0), number(1)

    def goes_on(k: Value, last: Value, before: Value) -> Value:
        return op.less(k, degree)

    def advance(k: Value, last: Value, before: Value) -> tuple[Value, Value, Value]:
        made, is_open = step(k, x, last, before), goes_on(k, last, before)
        return op.add(k, one), op.where(is_open, made, last), op.where(is_open, last, before)

    start = op.where(op.less(degree, one), op.ones_like(x), first(x))
    _, made, _ = repeat_while([one, start, op.ones_like(x)], goes_on, advance)
    return op.where(op.less(degree, zero), zero, made)


def _register(name: str, first: Callable[[Value], Value], step: Step, *, is_shifted: bool = False) -> None:
    """A shifted polynomial is that of `2 x - 1`."""

    def convert(ctx: Lowering, x: Any, n: Any) -> Value:
        x, degree = (op.broadcast_to(ctx.tensor(value, "f64"), ctx.shape) for value in (x, n))
        degree = op.trunc(op.where(op.isnan(degree), number(0), degree))
        x = op.subtract(_twice(x), number(1)) if is_shifted else x
        made = _polynomial(first, step, x, degree)
        if "hermite" in name:
            made = op.where(op.greater(degree, number(_MOST_OF_HERMITE[ctx.dtype])), number(math.nan), made)
        return op.astype(made, ctx.dtype)

    convert.__name__ = name
    register(f"aten::special_{name}")(convert)


_FIRST = {
    "t": lambda x: x,
    "u": _twice,
    "v": lambda x: op.subtract(_twice(x), number(1)),
    "w": lambda x: op.add(_twice(x), number(1)),
}
for _kind, _first in _FIRST.items():
    _register(f"chebyshev_polynomial_{_kind}", _first, _chebyshev)
    _register(f"shifted_chebyshev_polynomial_{_kind}", _first, _chebyshev, is_shifted=True)
_register("hermite_polynomial_h", _twice, _hermite)
_register("hermite_polynomial_he", lambda x: x, _hermite_of_probability)
_register("laguerre_polynomial_l", lambda x: op.subtract(number(1), x), _laguerre)
_register("legendre_polynomial_p", lambda x: x, _legendre)
