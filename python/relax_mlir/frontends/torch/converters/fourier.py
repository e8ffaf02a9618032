# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The discrete Fourier transform of any length, of which only a run need know the number.

A length that is a product of small numbers is transformed by Cooley and Tukey's method: for each factor a product with
its small matrix of roots of unity, then a factor for each element (`_Plan`). With the factors `p` and `q`, and the
elements as a matrix `x[s, t]` of `p` rows and `q` columns:

    X[k + p l] = sum over t of  w_q^(t l)  w_pq^(t k)  (sum over s of  w_p^(s k)  x[s, t])

Any other length `n`, and each length that only a run knows, is a convolution with a chirp (Bluestein's method), since
`2 j k = j^2 + k^2 - (k - j)^2`:

    X[k] = c[k] * sum over j of (x[j] c[j]) conj(c[k - j])        c[j] = exp(sign i pi j^2 / n)

The convolution is a product of transforms of a length `m >= 2 n - 1` that may be chosen. It is `a * a * b` with `a`
about the cube root of `m`, so that the cost grows with `n^(4/3)` and is one of products of matrices. The transforms of
a convolution leave out the last permutation, which the inverse undoes.

Roots of unity are found by integers, exactly, and then in f64: the angle of `w_n^k` is that of `k` modulo `n`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....annotations import Shape
from ....symbolic import ExprLike, Sym
from ....values import Value
from ..complex_values import Complex
from ..lowering import Lowering
from .complex_basic import product_of

_LARGEST_FACTOR = 64
"""Matrices of roots have at most this many rows, and a length with a greater prime factor is a convolution."""


def transform(ctx: Lowering, x: Complex, axis: int, *, inverse: bool) -> Complex:
    """The transform along an axis, without a factor: `sum over j of x[j] exp(-2 pi i j k / n)`, or `+` if inverse."""
    rank = x.ndim
    order = [*(place for place in range(rank) if place != axis), axis]
    shape = [x.shape[place] for place in order]
    n = shape[-1]
    rows = math.prod(shape[:-1]) if all(isinstance(size, int) for size in shape[:-1]) else _product(shape[:-1])
    flat = Complex(*(op.reshape(op.permute_dims(part, order), (rows, n)) for part in (x.real, x.imag)))
    sign = 1 if inverse else -1
    factors = _factors(n) if isinstance(n, int) else None
    made = _by_factors(ctx, flat, factors, sign) if factors else _by_chirp(ctx, flat, n, sign)
    back = [order.index(place) for place in range(rank)]
    return Complex(*(op.permute_dims(op.reshape(part, shape), back) for part in (made.real, made.imag)))


def _product(sizes: Sequence[Any]) -> ExprLike:
    total: ExprLike = 1
    for size in sizes:
        total = total * size
    return total


def _factors(n: int) -> list[int] | None:
    """Factors of a length, none above the largest, as few as a greedy choice finds; None for a prime factor above."""
    primes = []
    rest = n
    for prime in range(2, _LARGEST_FACTOR + 1):
        while rest % prime == 0:
            primes.append(prime)
            rest //= prime
    if rest > 1:
        return None
    factors = [1]
    for prime in reversed(primes):
        place = next((i for i, factor in enumerate(factors) if factor * prime <= _LARGEST_FACTOR), None)
        if place is None:
            factors.append(prime)
        else:
            factors[place] *= prime
    return factors


# --- roots of unity


def _roots(ctx: Lowering, exponent: Value, n: ExprLike, sign: int, dtype: str) -> Complex:
    """`exp(sign 2 pi i k / n)` for whole numbers `k >= 0`, which are reduced to at most half a turn."""
    count = ctx.tensor(n, "i64")
    rest = op.floor_mod(exponent, count)
    rest = op.where(op.greater(op.multiply(rest, ctx.tensor(2, "i64")), count), op.subtract(rest, count), rest)
    turn = op.divide(op.astype(rest, "f64"), op.astype(count, "f64"))
    angle = op.multiply(turn, op.constant(np.float64(2 * math.pi * sign)))
    return Complex(op.astype(op.cos(angle), dtype), op.astype(op.sin(angle), dtype))


def _grid(ctx: Lowering, rows: ExprLike, columns: ExprLike, n: ExprLike, sign: int, dtype: str) -> Complex:
    """`w_n^(i j)` for row `i` and column `j`."""
    if (
        isinstance(rows, int)
        and isinstance(columns, int)
        and isinstance(n, int)
        and rows * columns <= _LARGEST_FACTOR**2
    ):
        exponent = np.outer(np.arange(rows), np.arange(columns)) % n
        exponent = np.where(2 * exponent > n, exponent - n, exponent)
        angle = 2 * math.pi * sign * (exponent / n)
        return Complex(op.constant(np.cos(angle), dtype), op.constant(np.sin(angle), dtype))
    down, along = op.arange(0, rows, 1, "i64"), op.arange(0, columns, 1, "i64")
    return _roots(ctx, op.multiply(op.expand_dims(down, [1]), op.expand_dims(along, [0])), n, sign, dtype)


def _times_matrix(x: Complex, matrix: Complex) -> Complex:
    """`x @ matrix`, of rows: one product of real matrices, of both parts side by side."""
    joined = op.concat([x.real, x.imag], 1)
    upper = op.concat([matrix.real, matrix.imag], 1)
    lower = op.concat([op.negative(matrix.imag), matrix.real], 1)
    return Complex(*op.split(op.matmul(joined, op.concat([upper, lower], 0)), 2, 1))


def _matrix_times(matrix: Complex, x: Complex) -> Complex:
    """`matrix @ x`, of columns `[lead, factor, rest]`: one product of real matrices, of both parts on top of each
    other."""
    joined = op.concat([x.real, x.imag], 1)
    upper = op.concat([matrix.real, op.negative(matrix.imag)], 1)
    lower = op.concat([matrix.imag, matrix.real], 1)
    return Complex(*op.split(op.matmul(op.concat([upper, lower], 0), joined), 2, 1))


def _reshaped(x: Complex, shape: Sequence[ExprLike]) -> Complex:
    return Complex(op.reshape(x.real, shape), op.reshape(x.imag, shape))


def _conjugate(x: Complex) -> Complex:
    return Complex(x.real, op.negative(x.imag))


class _Plan:
    """The transform of a length that is a product of small factors, with its roots of unity."""

    def __init__(self, ctx: Lowering, factors: Sequence[ExprLike], sign: int, dtype: str) -> None:
        self.factors = list(factors)
        self.length = _product(factors)
        matrices: dict[ExprLike, Complex] = {}
        for factor in factors:
            if factor not in matrices:
                matrices[factor] = _grid(ctx, factor, factor, factor, sign, dtype)
        self._matrices = [matrices[factor] for factor in factors]
        self._rests = [_product(factors[index + 1 :]) for index in range(len(factors))]
        self._turns = [
            _grid(ctx, factor, rest, factor * rest, sign, dtype) for factor, rest in zip(factors[:-1], self._rests)
        ]

    def forward(self, x: Complex) -> Complex:
        """The transform of rows `[r, n]`. Element `k1 + f1 (k2 + f2 (...))` is where `k1, k2, ...` is in row-major
        order."""
        rows, lead = x.shape[0], x.shape[0]
        for factor, rest, matrix, turn in zip(self.factors, self._rests, self._matrices, self._turns):
            x = product_of(_matrix_times(matrix, _reshaped(x, (lead, factor, rest))), turn)
            lead = lead * factor
        x = _times_matrix(_reshaped(x, (lead, self.factors[-1])), self._matrices[-1])
        return _reshaped(x, (rows, self.length))

    def backward(self, x: Complex) -> Complex:
        """The inverse of `forward` times the length, from its order."""
        rows = x.shape[0]
        lead = rows * _product(self.factors[:-1])
        x = _times_matrix(_reshaped(x, (lead, self.factors[-1])), _conjugate(self._matrices[-1]))
        for index in reversed(range(len(self._turns))):
            lead = rows * _product(self.factors[:index])
            x = _reshaped(x, (lead, self.factors[index], self._rests[index]))
            x = product_of(x, _conjugate(self._turns[index]))
            x = _matrix_times(_conjugate(self._matrices[index]), x)
        return _reshaped(x, (rows, self.length))


# --- products of factors


def _by_factors(ctx: Lowering, x: Complex, factors: Sequence[ExprLike], sign: int) -> Complex:
    rows, n = x.shape
    x = _Plan(ctx, factors, sign, x.part).forward(x)
    if len(factors) == 1:
        return x
    order = [0, *range(len(factors), 0, -1)]
    parts = (op.reshape(part, (rows, *factors)) for part in (x.real, x.imag))
    return Complex(*(op.reshape(op.permute_dims(part, order), (rows, n)) for part in parts))


# --- convolution with a chirp


def _by_chirp(ctx: Lowering, x: Complex, n: ExprLike, sign: int) -> Complex:
    """Bluestein's method. The filter is transformed as one more row of the signal."""
    rows = x.shape[0]
    plan = _Plan(ctx, _convolution_factors(ctx, n), sign, x.part)
    m = plan.length
    places = op.arange(0, n, 1, "i64")
    chirp = _roots(ctx, op.multiply(places, places), 2 * n, sign, x.part)
    signal, kernel = product_of(x, chirp), _filter(ctx, n, m, sign, x.part)
    both = Complex(
        *(
            op.concat([op.pad(part, [0, 0, 0, m - n], "constant", 0.0), row], 0)
            for part, row in ((signal.real, kernel.real), (signal.imag, kernel.imag))
        )
    )
    spectra = plan.forward(both)
    signal, kernel = (
        Complex(*(op.strided_slice(part, [0], [start], [end]) for part in (spectra.real, spectra.imag)))
        for start, end in ((0, rows), (rows, rows + 1))
    )
    made = plan.backward(product_of(signal, kernel))
    scale = op.astype(op.divide(op.constant(np.float64(1)), ctx.tensor(m, "f64")), x.part)
    kept = (op.strided_slice(part, [1], [0], [n]) for part in (made.real, made.imag))
    return product_of(Complex(*(op.multiply(part, scale) for part in kept)), chirp)


def _filter(ctx: Lowering, n: ExprLike, m: ExprLike, sign: int, dtype: str) -> Complex:
    """The conjugate chirp at distances up to `n - 1` to either side of 0, around the end of `m` places, as one row."""
    places = op.arange(0, m, 1, "i64")
    distance = op.minimum(places, op.subtract(ctx.tensor(m, "i64"), places))
    is_used = op.less(distance, ctx.tensor(n, "i64"))
    chirp = _roots(ctx, op.multiply(distance, distance), 2 * n, -sign, dtype)
    zero = ctx.tensor(0.0, dtype)
    return Complex(*(op.reshape(op.where(is_used, part, zero), (1, m)) for part in (chirp.real, chirp.imag)))


def _convolution_factors(ctx: Lowering, n: ExprLike) -> list[ExprLike]:
    """Three factors of a length of at least `2 n - 1`: `a, a, b` with `a` a power of two about its cube root."""
    least = 2 * n - 1
    if isinstance(least, int):
        root = max(4, 2 ** math.ceil(math.log2(max(least, 1)) / 3))
        return [root, root, -(-least // root**2)]
    # 4 up to 64, 8 up to 8 * 64, and so on: a term for each step, which is 0 or 1 times its height.
    side: ExprLike = 4
    for step in range(8):
        side = side + (4 << step) * Sym.min((least - 1) // (64 << (3 * step)), 1)
    factor = _defined(ctx, side, "radix")
    return [factor, factor, _defined(ctx, least.ceildiv(factor * factor), "radix")]


def _defined(ctx: Lowering, value: ExprLike, name: str) -> Sym:
    """A symbol with the value of an expression, so that shapes stay short."""
    sym = Sym(ctx.symbols.unused(name))
    op.match_cast(op.shape((value,)), Shape((sym,)))
    return sym
