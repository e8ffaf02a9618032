# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations.

A round rotates each row against one partner, all pairs together. In round `r` row `i` meets `(r - i) mod (n - 1)`; the
row that would meet itself meets the last one. After `n - 1` rounds each pair has met: a sweep. For an odd number of
rows the remainder is by `n`, and the row that would meet itself rests. Sweeps go on until nothing is left to rotate,
which takes few of them, since convergence is quadratic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from .... import op
from ....scope import current_function
from ....values import Value
from ..dtypes import to_torch
from ..lowering import Lowering
from ..registry import register
from .linalg_matrices import (
    Size,
    batched,
    diagonal,
    identity,
    largest,
    number,
    numbers,
    pick_rows,
    smaller,
    squares,
    transposed,
    unbatched,
)
from .linalg_orthogonal import apply_reflections, orthogonal_columns, qr_factor

_SWEEPS = 60
"""More sweeps than a matrix of finite numbers needs."""

_FAILED = "the algorithm failed to converge"

Pair = tuple[Value, Value]


def _partners(size: Size, r: Value) -> Value:
    """The row that each row meets in round `r`: `[n]`, itself where it rests."""
    index, count = numbers(size), number(size)
    is_even = op.equal(op.floor_mod(count, 2), 0)
    modulus = count - op.astype(is_even, "i64")
    met = op.floor_mod(r - index, modulus)
    alone = op.floor_mod(r * op.floor_divide(count, 2), modulus)
    last = count - np.int64(1)
    of_even = op.where(op.equal(index, last), alone, op.where(op.equal(met, index), last, met))
    return op.where(is_even, of_even, met)


def _tangents(own: Value, other: Value, product: Value, is_idle: Value, partner: Value) -> Value:
    """The tangent of the angle by which each row is rotated against its partner.

    It makes `[[own, product], [product, other]]` diagonal, by the smaller of the two angles that do. Partners have
    opposite tangents, exactly.
    """
    slope = (other - own) / (op.where(is_idle, 1.0, product) * 2.0)
    is_first = numbers(partner.shape[0]) < partner
    is_positive = op.logical_or(slope > 0.0, op.logical_and(op.equal(slope, 0.0), is_first))
    tangent = 1.0 / (op.abs(slope) + op.sqrt(op.square(slope) + 1.0))
    return op.where(is_idle, 0.0, op.where(is_positive, tangent, -tangent))


def _rotated(x: Value, partner: Value, tangent: Value, axis: int = 1) -> Value:
    """The rows of `[b, n, m]`, or columns, each rotated against its partner.

    What changes is subtracted, so that small angles leave the lengths as they are (Rutishauser).
    """
    cosine = 1.0 / op.sqrt(op.square(tangent) + 1.0)
    sine = tangent * cosine
    sine, half = (op.expand_dims(part, [3 - axis]) for part in (sine, sine / (cosine + 1.0)))
    return x - sine * (op.take(x, partner, axis, "clip") + half * x)


def _sweep(rotate: Callable[[Pair, Value], tuple[Pair, Value]], state: Pair, size: Size) -> tuple[Pair, Value]:
    """Rotates until nothing is left to rotate; what has become of the state, and whether it came to an end.

    Args:
      rotate: takes the state and the partners of a round, and gives the state and which rows were rotated.
    """

    def body(carry: tuple[Value, ...], r: Value) -> tuple[tuple[Value, ...], None]:
        *pair, has_moved = carry
        (first, second), moved = rotate((pair[0], pair[1]), _partners(size, r))
        return (first, second, op.logical_or(has_moved, op.any(moved))), None

    builder = current_function().builder
    with builder.while_([*state, op.constant(np.bool_(True)), op.constant(np.int64(0))]) as loop:
        with loop.condition as (_, _, has_moved, count):
            builder.yield_(op.logical_and(has_moved, count < _SWEEPS))
        with loop.body as (first, second, _, count):
            start = (first, second, op.constant(np.bool_(False)))
            made, _ = op.scan(body, start, numbers(size))
            builder.yield_(*made, count + np.int64(1))
    first, second, has_moved, _ = loop.results
    return (first, second), op.logical_not(has_moved)


def _scaled(x: Value) -> tuple[Value, Value]:
    """Matrices whose squares neither overflow nor vanish, and the factor `[b, 1, 1]` that was taken out."""
    limits = torch.finfo(to_torch(x.dtype))
    low, high = limits.tiny**0.25, limits.max**0.25
    size = op.expand_dims(largest(x), [1, 2])
    is_extreme = op.logical_and(size > 0.0, op.logical_or(size < low, size > high))
    factor = op.where(is_extreme, size, 1.0)
    return x / factor, factor


def _epsilon(x: Value) -> float:
    return torch.finfo(to_torch(x.dtype)).eps


# --- symmetric matrices


def symmetric_eigen(x: Value) -> tuple[Value, Value, Value]:
    """Eigenvalues `[b, n]` in ascending order, eigenvectors as rows `[b, n, n]`, and whether all of them converged."""
    count, size, _ = x.shape
    x, factor = _scaled(x)
    limit = op.expand_dims(largest(x), [1]) * _epsilon(x)
    columns = numbers(size)

    def rotate(state: Pair, partner: Value) -> tuple[Pair, Value]:
        a, vectors = state
        own = diagonal(a)
        flat = op.reshape(a, (count, size * size))
        product = op.take(flat, columns * number(size) + partner, 1, "clip")
        product = (product + op.take(product, partner, 1, "clip")) * 0.5
        is_idle = op.logical_or(op.abs(product) <= limit, op.equal(partner, columns))
        tangent = _tangents(own, op.take(own, partner, 1, "clip"), product, is_idle, partner)
        made = _rotated(_rotated(a, partner, tangent), partner, tangent, 2)
        # What the rotation makes zero, and the diagonal, are known better than they are computed.
        is_pair = op.logical_and(
            op.equal(op.expand_dims(partner, [1]), columns), op.expand_dims(op.logical_not(is_idle), [2])
        )
        is_own = op.equal(op.expand_dims(columns, [1]), columns)
        made = op.where(is_own, op.expand_dims(own - tangent * product, [2]), op.where(is_pair, 0.0, made))
        return (made, _rotated(vectors, partner, tangent)), op.logical_not(is_idle)

    (a, vectors), is_done = _sweep(rotate, (x, identity(count, size, size, x.dtype)), size)
    values = diagonal(a)
    order = op.argsort(values, 1, False, "i64")
    values = op.sort(values, 1) * op.squeeze(factor, [2])
    return values, pick_rows(vectors, order), is_done


def symmetric_eigen_of(ctx: Lowering, x: Value, upper: bool = False) -> tuple[Value, Value]:
    """Eigenvalues and eigenvectors (as rows) from one triangle of `[b, n, n]`, which are checked to be found."""
    lower = transposed(op.triu(x)) if upper else op.tril(x)
    symmetric = lower + transposed(op.tril(lower, -1))
    _require_finite(ctx, symmetric)
    values, vectors, is_done = symmetric_eigen(symmetric)
    ctx.check(is_done, _FAILED)
    return values, vectors


@register("aten::_linalg_eigh")
def linalg_eigh(ctx: Lowering, x: Value, UPLO: str = "L", compute_v: bool = True) -> tuple[Value, Value]:  # noqa: N803
    """Eigenvalues, and eigenvectors as columns, from one triangle of each matrix."""
    values, vectors = symmetric_eigen_of(ctx, squares(ctx, x), UPLO.upper() == "U")
    batch = x.shape[:-2]
    found = unbatched(transposed(vectors), batch) if compute_v else op.zeros((0,), x.dtype)
    return unbatched(values, batch), found


def _require_finite(ctx: Lowering, x: Value) -> None:
    ctx.check(op.isfinite(x), f"{_FAILED}: the input has elements that are not finite")


# --- singular values


def _orthogonal_rows(x: Value) -> tuple[Value, Value, Value, Value]:
    """`J X`, whose rows are orthogonal to each other, for an orthogonal `J` `[b, k, k]` and `X` `[b, k, n]`.

    Returns:
      The product, `J`, the lengths of the rows `[b, k]`, and whether all of them converged. Rows are in descending
      order of lengths. Rows that are negligible next to the longest may be left as they are.
    """
    count, size, width = x.shape
    epsilon = _epsilon(x)
    tolerance = op.astype(op.sqrt(op.astype(op.maximum(number(width), 1), "f64")), x.dtype) * epsilon
    columns = numbers(size)

    def rotate(state: Pair, partner: Value) -> tuple[Pair, Value]:
        rows, turns = state
        own = op.sum(op.square(rows), [2])
        other = op.take(own, partner, 1, "clip")
        product = op.sum(rows * op.take(rows, partner, 1, "clip"), [2])
        product = (product + op.take(product, partner, 1, "clip")) * 0.5
        least = op.sum(own, [1], True) * (epsilon / 64) ** 2
        is_orthogonal = op.abs(product) <= op.sqrt(own) * op.sqrt(other) * tolerance
        is_idle = op.logical_or(is_orthogonal, op.minimum(own, other) <= least)
        is_idle = op.logical_or(is_idle, op.equal(partner, columns))
        tangent = _tangents(own, other, product, is_idle, partner)
        made = (_rotated(rows, partner, tangent), _rotated(turns, partner, tangent))
        return made, op.logical_not(is_idle)

    (rows, turns), is_done = _sweep(rotate, (x, identity(count, size, size, x.dtype)), size)
    lengths = op.sqrt(op.sum(op.square(rows), [2]))
    order = op.argsort(lengths, 1, True, "i64")
    return pick_rows(rows, order), pick_rows(turns, order), op.sort(lengths, 1, True), is_done


def singular_values(ctx: Lowering, x: Value, compute_uv: bool, full: bool) -> tuple[Value | None, Value, Value | None]:
    """`U`, the singular values in descending order, and `V^T`, of `[b, m, n]`.

    `X = Q R`, and `R = J^T W^T` with orthogonal columns in `W`. Householder's QR of `W` makes them orthonormal, and
    completes them where singular values are zero.
    """
    _require_finite(ctx, x)
    count, height, width = x.shape
    length = smaller(height, width)
    x, factor = _scaled(x)
    matrices, tau = qr_factor(x)
    r = op.triu(op.strided_slice(matrices, [1], [0], [length]))
    rows, turns, lengths, is_done = _orthogonal_rows(r)
    ctx.check(is_done, _FAILED)
    values = lengths * op.squeeze(factor, [2])
    if not compute_uv:
        return None, values, None
    height_of_u, height_of_v = (height, width) if full else (length, length)
    u = apply_reflections(matrices, tau, _extended(transposed(turns), height, height_of_u))
    reflections, taus = qr_factor(transposed(rows))
    sign = op.where(diagonal(reflections) < 0.0, -1.0, op.ones((count, length), x.dtype))
    sign = op.concat([sign, op.ones((count, height_of_v - length), x.dtype)], 1)
    v = orthogonal_columns(reflections, taus, height_of_v) * op.expand_dims(sign, [1])
    return u, values, transposed(v)


def _extended(x: Value, rows: Size, columns: Size) -> Value:
    """`[b, k, k]` at the beginning of `[b, rows, columns]` that has ones on the rest of its diagonal."""
    count, size, _ = x.shape
    top = op.concat([x, op.zeros((count, size, columns - size), x.dtype)], 2)
    rest = op.strided_slice(identity(count, rows, columns, x.dtype), [1], [size], [rows])
    return op.concat([top, rest], 1)


@register("aten::_linalg_svd")
def linalg_svd(
    ctx: Lowering, x: Value, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Value, ...]:
    parts = singular_values(ctx, batched(ctx, x), compute_uv, full_matrices)
    return tuple(op.zeros((0,), x.dtype) if part is None else unbatched(part, x.shape[:-2]) for part in parts)
