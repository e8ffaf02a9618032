# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What special functions share: they are computed in f64, by polynomials, and by loops over all elements at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import op
from ....scope import current_function
from ....values import Value
from ..lowering import Lowering


def number(value: float) -> Value:
    """A number of f64."""
    return op.constant(np.float64(value))


def in_double(function: Callable[..., Value]) -> Any:
    """A converter of tensors (and numbers) that computes in f64, for a function of values of f64."""

    @functools.wraps(function)
    def convert(ctx: Lowering, *args: Any) -> Value:
        return op.astype(function(*(ctx.tensor(x, "f64") for x in args)), ctx.dtype)

    return convert


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """A polynomial, by Horner's rule: the coefficient of the greatest power first."""
    total = number(coefficients[0])
    for coefficient in coefficients[1:]:
        total = op.add(op.multiply(total, x), number(coefficient))
    return total


def repeat_while(
    start: Sequence[Value],
    condition: Callable[..., Value],
    body: Callable[..., Sequence[Value]],
) -> tuple[Value, ...]:
    """Applies `body` to all of some tensors while `condition` holds for an element of them."""
    builder = current_function().builder
    with builder.while_(list(start)) as loop:
        with loop.condition as values:
            builder.yield_(op.any(condition(*values)))
        with loop.body as values:
            builder.yield_(*body(*values))
    return tuple(loop.results)
