# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LDL factors of symmetric matrices, with the pivots of Bunch and Kaufman, as LAPACK keeps them.

A pivot is one element of the diagonal, or a block of two rows. Where it is one, `pivots[k]` is the row that row `k` was
exchanged with, from 1; where it is a block, both of its pivots are minus the row that the second was exchanged with.
Each matrix of a batch is at a place of its own, since it advances by one or by two.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .linalg_factor import require_sound
from .linalg_matrices import (
    at,
    batched,
    broadcast_batches,
    loop,
    number,
    numbers,
    outer,
    pick_rows,
    squares,
    transposed,
    unbatched,
    with_rows,
)

_ALPHA = (1 + math.sqrt(17)) / 8
"""Bunch and Kaufman's bound for the growth of elements."""


class _Choice(NamedTuple):
    """For each matrix the pivot of a step: `[b]` each."""

    row: Value
    """The row to exchange with the last row of the pivot."""
    is_block: Value
    is_zero: Value
    """The column is zero (or NaN), so nothing is to eliminate."""


def _element(row: Value, place: Value) -> Value:
    """One element of each row of `[b, n]`: `[b]`."""
    return op.squeeze(pick_rows(op.expand_dims(row, [2]), place), [1])


def _choose(a: Value, k: Value) -> _Choice:
    """The pivot at place `k` `[b]` of symmetric matrices."""
    index, place = numbers(a.shape[1]), op.expand_dims(k, [1])
    column = op.abs(pick_rows(a, k))
    diagonal = _element(column, k)
    below = op.where(index > place, column, -1.0)
    row = op.argmax(below, 1)
    greatest = op.maximum(_element(below, row), 0.0)
    other = op.abs(pick_rows(a, row))
    is_other = op.logical_and(index >= place, op.not_equal(index, op.expand_dims(row, [1])))
    greatest_of_row = op.max(op.where(is_other, other, 0.0), [1])
    is_zero = op.logical_or(op.equal(op.maximum(diagonal, greatest), 0.0), op.isnan(diagonal))
    stays = op.logical_or(is_zero, diagonal >= greatest * _ALPHA)
    ratio = greatest / op.where(op.equal(greatest_of_row, 0.0), 1.0, greatest_of_row)
    stays = op.logical_or(stays, diagonal >= greatest * ratio * _ALPHA)
    is_single = op.logical_or(stays, _element(other, row) >= greatest_of_row * _ALPHA)
    return _Choice(op.where(stays, k, row), op.logical_not(is_single), is_zero)


def _exchanged(a: Value, k: Value, first: Value, second: Value) -> Value:
    """Symmetric matrices after rows and columns `first` and `second` changed places, from place `k` on."""
    count, size, _ = a.shape
    index, place = numbers(size), op.expand_dims(k, [1])
    first, second = op.expand_dims(first, [1]), op.expand_dims(second, [1])
    order = op.where(op.equal(index, first), second, op.where(op.equal(index, second), first, index))
    is_inside = index >= place
    moved = transposed(pick_rows(transposed(pick_rows(a, order)), order))
    return op.where(op.logical_and(op.expand_dims(is_inside, [2]), op.expand_dims(is_inside, [1])), moved, a)


def _eliminated(a: Value, k: Value, choice: _Choice) -> Value:
    """Matrices after the pivot at `k`: its columns hold factors below it, and what follows has lost its products."""
    index, place = numbers(a.shape[1]), op.expand_dims(k, [1])
    width = op.expand_dims(op.where(choice.is_block, np.int64(2), np.int64(1)), [1])
    is_block = op.expand_dims(choice.is_block, [1])
    first, second = pick_rows(a, k), pick_rows(a, k + np.int64(1))
    top, corner, low = (op.expand_dims(part, [1]) for part in _block(first, second, k))
    single = op.where(op.equal(top, 0.0), 1.0, top)
    # A block's inverse, scaled by its off-diagonal element, as LAPACK has it.
    corner = op.where(is_block, corner, 1.0)
    upper, lower = low / corner, top / corner
    scale = 1.0 / (upper * lower - 1.0) / corner
    left = op.where(is_block, (upper * first - second) * scale, first / single)
    right = op.where(is_block, (lower * second - first) * scale, 0.0)
    is_after = index >= place + width
    changed = a - outer(first, left) - op.where(op.expand_dims(is_block, [2]), outer(second, right), 0.0)
    after = op.expand_dims(is_after, [2])
    is_left = op.logical_and(after, op.expand_dims(op.equal(index, place), [1]))
    is_second = op.logical_and(is_block, op.equal(index, place + np.int64(1)))
    is_right = op.logical_and(after, op.expand_dims(is_second, [1]))
    kept = op.where(is_left, op.expand_dims(left, [2]), op.where(is_right, op.expand_dims(right, [2]), a))
    changed = op.where(op.logical_and(after, op.expand_dims(is_after, [1])), changed, kept)
    return op.where(op.expand_dims(choice.is_zero, [1, 2]), a, changed)


def _block(first: Value, second: Value, k: Value) -> tuple[Value, Value, Value]:
    """The elements of the block at `k`, of its two rows: above, off the diagonal, and below."""
    return _element(first, k), _element(second, k), _element(second, k + np.int64(1))


def ldl_factor(x: Value) -> tuple[Value, Value, Value]:
    """The factors of `[b, n, n]`, of which the lower triangles are read, the pivots `[b, n]`, and `info` `[b]`."""
    count, size, _ = x.shape
    if size == 0:
        return x, op.zeros((count, 0), "i32"), op.zeros((count,), "i32")
    lower = op.tril(x)
    symmetric = lower + transposed(op.tril(lower, -1))
    index = numbers(size)

    def step(state: tuple[Value, ...], _: Value) -> tuple[Value, ...]:
        a, pivots, info, k = state
        is_open = k < number(size)
        choice = _choose(a, k)
        last = op.where(choice.is_block, k + np.int64(1), k)
        changed = _eliminated(_exchanged(a, k, last, choice.row), k, choice)
        place = op.expand_dims(k, [1])
        mark = op.astype(choice.row, "i32") + np.int32(1)
        mark = op.expand_dims(op.where(choice.is_block, -mark, mark), [1])
        is_pivot = op.logical_and(index >= place, index <= op.expand_dims(last, [1]))
        is_new = op.logical_and(op.logical_and(is_open, choice.is_zero), op.equal(info, 0))
        info = op.where(is_new, op.astype(k, "i32") + np.int32(1), info)
        pivots = op.where(op.logical_and(op.expand_dims(is_open, [1]), is_pivot), mark, pivots)
        return op.where(op.expand_dims(is_open, [1, 2]), changed, a), pivots, info, last + np.int64(1)

    start = (symmetric, op.zeros((count, size), "i32"), op.zeros((count,), "i32"), op.zeros((count,), "i64"))
    matrices, pivots, info, _ = loop(step, start, size)
    return op.tril(matrices), pivots, info


def _factor(ctx: Lowering, x: Value) -> tuple[Value, Value, Value]:
    matrices, pivots, info = (unbatched(part, x.shape[:-2]) for part in ldl_factor(squares(ctx, x)))
    return matrices, pivots, info


@register("aten::linalg_ldl_factor_ex")
def ldl_factor_ex(
    ctx: Lowering, x: Value, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Value, Value, Value]:
    parts = _factor(ctx, x)
    if check_errors:
        require_sound(parts[2], "ldl_factor")
    return parts


# --- equations


def _starts(pivots: Value) -> Value:
    """Where a pivot of one row or two begins: bool `[b, n]`."""
    count, size = pivots.shape
    negative = op.permute_dims(pivots < 0, [1, 0])

    def step(is_second: Value, is_block: Value) -> tuple[Value, Value]:
        starts = op.logical_not(is_second)
        return op.logical_and(is_block, starts), starts

    start = op.zeros((count,), "i32") > 0
    _, starts = op.scan(step, start, negative)
    return op.permute_dims(starts, [1, 0])


def _exchange_rows(x: Value, first: Value, second: Value) -> Value:
    """`[b, n, p]` with rows `first` and `second` of each matrix in each other's place."""
    index = numbers(x.shape[1])
    first, second = op.expand_dims(first, [1]), op.expand_dims(second, [1])
    return pick_rows(x, op.where(op.equal(index, first), second, op.where(op.equal(index, second), first, index)))


def solve_ldl(factors: Value, pivots: Value, rhs: Value) -> Value:
    """`X` with `P L D L^T P^T X = B`: `[b, n, n]`, pivots `[b, n]`, `[b, n, p]`."""
    size = rhs.shape[1]
    index = numbers(size)
    rows = op.expand_dims(index, [1])
    places = (index, *(op.permute_dims(part, [1, 0]) for part in (pivots, _starts(pivots))))

    def pivot(x: Value, entry: tuple[Value, ...], change: Any) -> tuple[Value, None]:
        """One pivot; `change` is given the numbers of its last rows, and its columns of factors below it."""
        i, mark, starts = entry
        is_block = mark < 0
        last = i + op.astype(is_block, "i64")
        is_below = index > op.expand_dims(last, [1])
        first = op.where(is_below, at(factors, i, 2), 0.0)
        second = op.where(op.logical_and(is_below, op.expand_dims(is_block, [1])), at(factors, i + np.int64(1), 2), 0.0)
        target = op.astype(op.abs(mark), "i64") - np.int64(1)
        changed = change(x, i, is_block, (last, target), first, second)
        return op.where(op.expand_dims(starts, [1, 2]), changed, x), None

    def forward(x: Value, i: Value, is_block: Value, exchange: Any, first: Value, second: Value) -> Value:
        x = _exchange_rows(x, *exchange)
        x = x - outer(first, at(x, i, 1)) - outer(second, at(x, i + np.int64(1), 1))
        upper, lower = _divided(factors, x, i, is_block)
        is_second = op.logical_and(op.equal(rows, i + np.int64(1)), op.expand_dims(is_block, [1, 2]))
        rest = op.where(is_second, op.expand_dims(lower, [1]), x)
        return op.where(op.equal(rows, i), op.expand_dims(upper, [1]), rest)

    def backward(x: Value, i: Value, is_block: Value, exchange: Any, first: Value, second: Value) -> Value:
        upper = op.sum(op.expand_dims(first, [2]) * x, [1], True)
        lower = op.sum(op.expand_dims(second, [2]) * x, [1], True)
        x = op.where(op.equal(rows, i), x - upper, op.where(op.equal(rows, i + np.int64(1)), x - lower, x))
        return _exchange_rows(x, *exchange)

    x, _ = op.scan(lambda x, entry: pivot(x, entry, forward), rhs, places)
    x, _ = op.scan(lambda x, entry: pivot(x, entry, backward), x, places, reverse=True)
    return x


def _divided(factors: Value, x: Value, i: Value, is_block: Value) -> tuple[Value, Value]:
    """Two rows of `X` after division by the pivot at `i`: `[b, p]`, of which the second counts for blocks."""
    after = i + np.int64(1)
    is_block = op.expand_dims(is_block, [1])
    column, next_column = at(factors, i, 2), at(factors, after, 2)
    top, corner, low = (
        op.expand_dims(at(part, place, 1), [1]) for part, place in ((column, i), (column, after), (next_column, after))
    )
    first, second = at(x, i, 1), at(x, after, 1)
    corner = op.where(is_block, corner, 1.0)
    upper, lower = top / corner, low / corner
    scale = upper * lower - 1.0
    first, second = first / corner, second / corner
    block = (lower * first - second) / scale
    return op.where(is_block, block, at(x, i, 1) / top), (upper * second - first) / scale


@register("aten::linalg_ldl_solve")
def linalg_ldl_solve(ctx: Lowering, factors: Value, pivots: Value, rhs: Value, *, hermitian: bool = False) -> Value:
    _, pivots = broadcast_batches(rhs, pivots, 1)
    factors, rhs = broadcast_batches(factors, rhs)
    matrices = squares(ctx, factors)
    vectors = with_rows(ctx, batched(ctx, rhs), matrices.shape[1])
    solved = solve_ldl(matrices, batched(ctx, pivots, 1), vectors)
    return unbatched(solved, rhs.shape[:-2])
