# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cholesky and LU factors, with LAPACK's numbers: pivots count from 1, `info` names the first bad pivot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .linalg_matrices import (
    at,
    batched,
    column_numbers,
    loop,
    numbers,
    outer,
    pick_rows,
    row_numbers,
    smaller,
    squares,
    transposed,
    unbatched,
)

# --- Cholesky


def cholesky_factor(x: Value) -> tuple[Value, Value]:
    """The lower factors of `[b, n, n]`, of which the lower triangles are read, and `info` `[b]`.

    Column by column: the column is divided by the root of its pivot, and its products are subtracted from what is to
    the right of it. A matrix whose pivot is not positive stays as it is from there on.
    """
    count, size, _ = x.shape
    index, rows, columns = numbers(size), row_numbers(x), column_numbers(x)

    def step(state: tuple[Value, Value], j: Value) -> tuple[Value, Value]:
        a, info = state
        column = at(a, j, 2)
        pivot = at(column, j, 1)
        is_bad = op.logical_not(pivot > 0.0)
        is_new = op.logical_and(op.equal(info, 0), is_bad)
        info = op.where(is_new, op.astype(j, "i32") + np.int32(1), info)
        is_sound = op.reshape(op.equal(info, 0), (count, 1, 1))
        root = op.sqrt(op.expand_dims(pivot, [1]))
        factor = op.where(index > j, column / root, root)
        trailing = op.logical_and(rows > j, columns > j)
        done = op.where(op.logical_and(op.equal(columns, j), rows >= j), op.expand_dims(factor, [2]), a)
        changed = op.where(trailing, a - outer(factor, factor), done)
        return op.where(is_sound, changed, a), info

    factor, info = loop(step, (x, op.zeros((count,), "i32")), size)
    return op.tril(factor), info


def _cholesky(ctx: Lowering, x: Value, upper: bool) -> tuple[Value, Value]:
    """The factor, upper from the upper triangle, and `info`, over the batch of `x`."""
    batch = x.shape[:-2]
    matrices = squares(ctx, x)
    factor, info = cholesky_factor(transposed(matrices) if upper else matrices)
    return unbatched(transposed(factor) if upper else factor, batch), unbatched(info, batch)


@register("aten::cholesky")
def cholesky(ctx: Lowering, x: Value, upper: bool = False) -> Value:
    factor, info = _cholesky(ctx, x, upper)
    require_sound(info, "cholesky")
    return factor


@register("aten::linalg_cholesky_ex")
def cholesky_ex(ctx: Lowering, x: Value, *, upper: bool = False, check_errors: bool = False) -> tuple[Value, Value]:
    factor, info = _cholesky(ctx, x, upper)
    if check_errors:
        require_sound(info, "cholesky")
    return factor, info


@register("aten::_linalg_check_errors")
def check_errors(ctx: Lowering, info: Value, api_name: str, *, is_matrix: bool) -> None:
    require_sound(info, api_name)


def require_sound(info: Value, api_name: str) -> None:
    """Has the program fail where a factorization found a bad pivot, as `info` says."""
    name = f"linalg.{api_name.rpartition('.')[2]}"
    is_cholesky = "cholesky" in name and "inverse" not in name
    message = "the input is not positive-definite" if is_cholesky else "the input is singular: a pivot of it is zero"
    op.assert_(op.all(op.equal(info, np.int32(0))), f"{name}: {message}")


# --- LU


class Factors(NamedTuple):
    """`P L U`: both factors in one `[b, m, n]`, the rows that were exchanged `[b, k]`, and `info` `[b]`."""

    matrices: Value
    pivots: Value
    info: Value


def lu_factor(x: Value, pivot: bool = True) -> Factors:
    """The factors of `[b, m, n]`, with exchanges of rows (partial pivoting) unless told otherwise."""
    count, height, width = x.shape
    length = smaller(height, width)
    info = op.zeros((count,), "i32")
    if length == 0:
        return Factors(x, op.zeros((count, 0), "i32"), info)
    index, rows, columns = numbers(height), row_numbers(x), column_numbers(x)

    def step(state: tuple[Value, Value], k: Value) -> tuple[tuple[Value, Value], Value]:
        a, info = state
        found = _pivots(at(a, k, 2), index, k) if pivot else op.broadcast_to(k, (count,))
        top = pick_rows(a, found)
        if pivot:
            a = _exchange(a, k, found, top, rows)
        head = op.expand_dims(at(top, k, 1), [1])
        is_zero = op.equal(head, 0.0)
        info = op.where(
            op.logical_and(op.equal(info, 0), op.squeeze(is_zero, [1])), op.astype(k, "i32") + np.int32(1), info
        )
        factor = op.expand_dims(at(a, k, 2) / op.where(is_zero, 1.0, head), [2])
        below = rows > k
        trailing = op.logical_and(below, columns > k)
        done = op.where(op.logical_and(below, op.equal(columns, k)), factor, a)
        a = op.where(trailing, a - factor * op.expand_dims(top, [1]), done)
        return (a, info), op.astype(found, "i32") + np.int32(1)

    (matrices, info), pivots = op.scan(step, (x, info), numbers(length))
    return Factors(matrices, op.permute_dims(pivots, [1, 0]), info)


def _pivots(column: Value, index: Value, k: Value) -> Value:
    """The place of the greatest element at or below the diagonal in each column of `[b, m]`."""
    return op.argmax(op.where(index >= k, op.abs(column), -1.0), 1)


def _exchange(a: Value, k: Value, found: Value, top: Value, rows: Value) -> Value:
    """Row `k` and the row `found` of each matrix in each other's place; `top` is the latter."""
    is_found = op.equal(rows, op.expand_dims(found, [1, 2]))
    first = op.expand_dims(at(a, k, 1), [1])
    return op.where(op.equal(rows, k), op.expand_dims(top, [1]), op.where(is_found, first, a))


def permutation(pivots: Value, rows: Any) -> Value:
    """What exchanging rows makes of their numbers: `[b, rows]`. Row `i` of the product is row `found[i]` of the matrix.

    Args:
      pivots: `[b, k]` of i32, from 1: row `i` was exchanged with row `pivots[i]`.
    """
    count, length = pivots.shape
    index = numbers(rows)
    start = op.broadcast_to(index, (count, rows))

    def step(order: Value, pair: tuple[Value, Value]) -> tuple[Value, None]:
        k, found = pair
        is_found = op.equal(index, op.expand_dims(found, [1]))
        second = op.sum(op.where(is_found, order, 0), [1], True)
        first = op.expand_dims(at(order, k, 1), [1])
        return op.where(op.equal(index, k), second, op.where(is_found, first, order)), None

    found = op.permute_dims(op.astype(pivots, "i64") - np.int64(1), [1, 0])
    order, _ = op.scan(step, start, (numbers(length), found))
    return order


def inverse_permutation(order: Value) -> Value:
    """The permutation that undoes one of `[b, n]`."""
    return op.argsort(order, 1, False, "i64")


def _lower(x: Value, length: Any) -> Value:
    """`L` of `[b, m, n]`: `[b, m, k]` with ones on the diagonal."""
    part = op.tril(op.strided_slice(x, [2], [0], [length]), -1)
    return part + op.eye(x.shape[1], length, x.dtype)


def _upper(x: Value, length: Any) -> Value:
    """`U` of `[b, m, n]`: `[b, k, n]`."""
    return op.triu(op.strided_slice(x, [1], [0], [length]), 0)


def _permutation_matrix(pivots: Value, rows: Any, dtype: str) -> Value:
    """`P`, with which `A` is `P L U`: it has a one at row `order[i]` of column `i`."""
    order = op.expand_dims(permutation(pivots, rows), [1])
    return op.astype(op.equal(order, op.expand_dims(numbers(rows), [1])), dtype)


@register("aten::linalg_lu_factor_ex")
def lu_factor_ex(ctx: Lowering, x: Value, *, pivot: bool = True, check_errors: bool = False) -> tuple[Value, ...]:
    return _lu_with_info(ctx, x, pivot, check_errors)


def _lu_with_info(ctx: Lowering, x: Value, pivot: bool, check_errors: bool) -> tuple[Value, ...]:
    factors = lu_factor(batched(ctx, x), pivot)
    if check_errors:
        require_sound(factors.info, "lu_factor")
    return tuple(unbatched(part, x.shape[:-2]) for part in factors)


@register("aten::linalg_lu")
def linalg_lu(ctx: Lowering, x: Value, *, pivot: bool = True) -> tuple[Value | None, ...]:
    batch, (rows, columns) = x.shape[:-2], x.shape[-2:]
    length = smaller(rows, columns)
    factors = lu_factor(batched(ctx, x), pivot)
    swaps = _permutation_matrix(factors.pivots, rows, x.dtype) if pivot else None
    parts = (swaps, _lower(factors.matrices, length), _upper(factors.matrices, length))
    return tuple(op.zeros((0,), x.dtype) if part is None else unbatched(part, batch) for part in parts)


@register("aten::lu_unpack")
def lu_unpack(
    ctx: Lowering, data: Value, pivots: Value, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Value, ...]:
    batch, (rows, columns) = data.shape[:-2], data.shape[-2:]
    length = smaller(rows, columns)
    nothing = op.zeros((0,), data.dtype)
    matrices = batched(ctx, data)
    swaps = lower = upper = nothing
    if unpack_pivots:
        swaps = unbatched(_permutation_matrix(batched(ctx, pivots, 1), rows, data.dtype), batch)
    if unpack_data:
        lower, upper = (unbatched(part, batch) for part in (_lower(matrices, length), _upper(matrices, length)))
    return swaps, lower, upper
