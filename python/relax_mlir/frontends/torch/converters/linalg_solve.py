# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear equations, inverses and determinants, from triangular, LU and Cholesky factors."""

from __future__ import annotations

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .linalg_factor import Factors, inverse_permutation, lu_factor, permutation, require_sound
from .linalg_matrices import (
    at,
    batched,
    broadcast_batches,
    diagonal,
    identity,
    loop,
    numbers,
    outer,
    pick_rows,
    row_numbers,
    squares,
    transposed,
    unbatched,
    with_rows,
)

# --- triangles


def solve_triangle(a: Value, rhs: Value, *, upper: bool, unit: bool = False) -> Value:
    """`X` with `A X = B`, of triangular `[b, n, n]` and `[b, n, k]`.

    Row by row: a row of `B` is divided by its pivot, and its products are subtracted from the rows that follow. The
    other triangle is not read, nor is the diagonal where it stands for ones (`unit`).
    """
    rows = row_numbers(rhs)

    def step(x: Value, i: Value) -> Value:
        column = at(a, i, 2)
        row = at(x, i, 1)
        if not unit:
            row = row / op.expand_dims(at(column, i, 1), [1])
        rest = rows < i if upper else rows > i
        return op.where(rest, x - outer(column, row), op.where(op.equal(rows, i), op.expand_dims(row, [1]), x))

    return loop(step, rhs, rhs.shape[1], reverse=upper)


def _triangular(ctx: Lowering, a: Value, rhs: Value, upper: bool, left: bool, unit: bool) -> Value:
    """`X` with `A X = B` or, from the right, `X A = B`, over a common batch."""
    a, rhs = broadcast_batches(a, rhs)
    if not left:
        a, rhs, upper = transposed(a), transposed(rhs), not upper
    matrices = squares(ctx, a)
    vectors = with_rows(ctx, batched(ctx, rhs), matrices.shape[1])
    found = unbatched(solve_triangle(matrices, vectors, upper=upper, unit=unit), rhs.shape[:-2])
    return found if left else transposed(found)


@register("aten::linalg_solve_triangular")
def linalg_solve_triangular(
    ctx: Lowering, a: Value, rhs: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    return _triangular(ctx, a, rhs, upper, left, unitriangular)


@register("aten::triangular_solve")
def triangular_solve(
    ctx: Lowering, rhs: Value, a: Value, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Value, Value]:
    """The solution, and the matrix over the common batch."""
    matrices, _ = broadcast_batches(a, rhs)
    if transpose:
        return _triangular(ctx, transposed(a), rhs, not upper, True, unitriangular), matrices
    return _triangular(ctx, a, rhs, upper, True, unitriangular), matrices


# --- LU


def solve_factors(factors: Value, pivots: Value, rhs: Value, adjoint: bool = False) -> Value:
    """`X` with `P L U X = B`, or with the transposed product: `[b, n, n]`, pivots `[b, n]`, `[b, n, k]`."""
    order = permutation(pivots, rhs.shape[1])
    if not adjoint:
        x = solve_triangle(factors, pick_rows(rhs, order), upper=False, unit=True)
        return solve_triangle(factors, x, upper=True)
    x = solve_triangle(transposed(factors), rhs, upper=False)
    x = solve_triangle(transposed(factors), x, upper=True, unit=True)
    return pick_rows(x, inverse_permutation(order))


@register("aten::linalg_lu_solve")
def linalg_lu_solve(
    ctx: Lowering, factors: Value, pivots: Value, rhs: Value, *, left: bool = True, adjoint: bool = False
) -> Value:
    if not left:
        rhs, adjoint = transposed(rhs), not adjoint
    _, pivots = broadcast_batches(rhs, pivots, 1)
    factors, rhs = broadcast_batches(factors, rhs)
    matrices = squares(ctx, factors)
    vectors = with_rows(ctx, batched(ctx, rhs), matrices.shape[1])
    solved = solve_factors(matrices, batched(ctx, pivots, 1), vectors, adjoint)
    solved = unbatched(solved, rhs.shape[:-2])
    return solved if left else transposed(solved)


@register("aten::_linalg_solve_ex")
def solve_ex(
    ctx: Lowering, a: Value, rhs: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Value, ...]:
    """The solution, the factors of the matrix with their pivots, and `info`."""
    solution, factors = _solve(ctx, a, rhs, left)
    if check_errors:
        require_sound(factors.info, "solve")
    return solution, *(unbatched(part, a.shape[:-2]) for part in factors)


def _solve(ctx: Lowering, a: Value, rhs: Value, left: bool) -> tuple[Value, Factors]:
    """The solution, and the factors of the matrices before their batch is broadcast."""
    is_vector = rhs.ndim == 1 or (rhs.ndim == a.ndim - 1 and rhs.ndim == len(ctx.shape))
    if is_vector:
        rhs = op.expand_dims(rhs, [rhs.ndim])
    factors = lu_factor(squares(ctx, a))
    batch = a.shape[:-2]
    matrices, pivots = unbatched(factors.matrices, batch), unbatched(factors.pivots, batch)
    solved = linalg_lu_solve(ctx, matrices, pivots, rhs, left=left or is_vector)
    return op.squeeze(solved, [solved.ndim - 1]) if is_vector else solved, factors


@register("aten::linalg_inv_ex")
def linalg_inv_ex(ctx: Lowering, x: Value, *, check_errors: bool = False) -> tuple[Value, Value]:
    factors = lu_factor(squares(ctx, x))
    if check_errors:
        require_sound(factors.info, "inv")
    count, size, _ = factors.matrices.shape
    inverse = solve_factors(factors.matrices, factors.pivots, identity(count, size, size, x.dtype))
    return unbatched(inverse, x.shape[:-2]), unbatched(factors.info, x.shape[:-2])


# --- Cholesky


@register("aten::cholesky_solve")
def cholesky_solve(ctx: Lowering, rhs: Value, factor: Value, upper: bool = False) -> Value:
    """`X` with `L L^T X = B`."""
    factor, rhs = broadcast_batches(factor, rhs)
    matrices = squares(ctx, factor)
    solved = _solve_cholesky(matrices, with_rows(ctx, batched(ctx, rhs), matrices.shape[1]), upper)
    return unbatched(solved, rhs.shape[:-2])


@register("aten::cholesky_inverse")
def cholesky_inverse(ctx: Lowering, factor: Value, upper: bool = False) -> Value:
    matrices = squares(ctx, factor)
    count, size, _ = matrices.shape
    inverse = _solve_cholesky(matrices, identity(count, size, size, factor.dtype), upper)
    return unbatched(inverse, factor.shape[:-2])


def _solve_cholesky(factor: Value, rhs: Value, upper: bool) -> Value:
    lower = transposed(factor) if upper else factor
    return solve_triangle(transposed(lower), solve_triangle(lower, rhs, upper=False), upper=True)


# --- determinants


def _parity(pivots: Value, dtype: str) -> Value:
    """-1 for each matrix whose rows were exchanged an odd number of times, else 1: `[b]`."""
    index = op.astype(numbers(pivots.shape[1]), "i32") + np.int32(1)
    exchanges = op.sum(op.astype(op.not_equal(pivots, index), "i64"), [1])
    return op.astype(np.int64(1) - op.floor_mod(exchanges, 2) * np.int64(2), dtype)


@register("aten::_linalg_det")
def linalg_det(ctx: Lowering, x: Value) -> tuple[Value, Value, Value]:
    """The determinant, and the factors with their pivots."""
    factors = lu_factor(squares(ctx, x))
    product = op.prod(diagonal(factors.matrices), [1]) * _parity(factors.pivots, x.dtype)
    det, matrices, pivots = (unbatched(part, x.shape[:-2]) for part in (product, factors.matrices, factors.pivots))
    return det, matrices, pivots


@register("aten::_linalg_slogdet")
def linalg_slogdet(ctx: Lowering, x: Value) -> tuple[Value, ...]:
    """The sign (0 of NaN, as in PyTorch) and the logarithm of the determinant, and the factors with their pivots."""
    factors = lu_factor(squares(ctx, x))
    pivots = diagonal(factors.matrices)
    signs = op.where(op.isnan(pivots), 0.0, op.sign(pivots))
    sign = op.prod(signs, [1]) * _parity(factors.pivots, x.dtype)
    logarithm = op.sum(op.log(op.abs(pivots)), [1])
    parts = (sign, logarithm, factors.matrices, factors.pivots)
    return tuple(unbatched(part, x.shape[:-2]) for part in parts)
