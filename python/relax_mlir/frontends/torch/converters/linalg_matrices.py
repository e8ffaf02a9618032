# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the algorithms of linear algebra share: batches of matrices, and their rows, columns and diagonals.

An algorithm sees `[b, m, n]`: `b` matrices of `m` rows and `n` columns, whatever axes the batch had. Steps of a loop
work on all matrices together, and choose the part of a matrix that a step changes by comparing row and column numbers
with the number of the step. So one program serves all sizes, and sizes of 0 and 1 need no case of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import op
from ....annotations import Tensor
from ....symbolic import ExprLike, Sym
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering

Size = ExprLike


def batched(ctx: Lowering, x: Value, rank: int = 2) -> Value:
    """`[..., m, n]` as `[b, m, n]`; with `rank` 1 `[..., n]` as `[b, n]`. Elements are real, or pivots (i32)."""
    if x.dtype not in ("f32", "f64", "i32"):
        raise ctx.unsupported(f"there is no linear algebra on elements of {x.dtype}; convert them to f32 or f64 before")
    return op.reshape(x, (product(x.shape[: x.ndim - rank]), *x.shape[x.ndim - rank :]))


def squares(ctx: Lowering, x: Value) -> Value:
    """`[..., n, n]` as `[b, n, n]`; that it is square is checked where it is not known."""
    matrices = batched(ctx, x)
    return with_rows(ctx, matrices, matrices.shape[2])


def with_rows(ctx: Lowering, x: Value, rows: Size) -> Value:
    """`[b, m, n]` with the given number of rows, which is checked where it is not known."""
    count, have, columns = x.shape
    if have == rows:
        return x
    ctx.require(compare("==", have, rows), "the numbers of rows and columns do not fit")
    return op.match_cast(x, Tensor((count, rows, columns), x.dtype))


def unbatched(x: Value, batch: Sequence[Size]) -> Value:
    """`[b, ...]` with the axes of the batch again."""
    return op.reshape(x, (*batch, *x.shape[1:]))


def broadcast_batches(lhs: Value, rhs: Value, rhs_rank: int = 2) -> tuple[Value, Value]:
    """Matrices, and matrices or vectors, over one batch."""
    left, right = lhs.shape[:-2], rhs.shape[: rhs.ndim - rhs_rank]
    rank = max(len(left), len(right))
    sizes = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right)
    batch = tuple(one if one == other else Sym.broadcast(one, other) for one, other in sizes)
    return (
        op.broadcast_to(lhs, (*batch, *lhs.shape[-2:])),
        op.broadcast_to(rhs, (*batch, *rhs.shape[rhs.ndim - rhs_rank :])),
    )


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def smaller(lhs: Size, rhs: Size) -> Size:
    """The smaller of two sizes."""
    if lhs == rhs:
        return lhs
    return min(lhs, rhs) if isinstance(lhs, int) and isinstance(rhs, int) else Sym.min(lhs, rhs)


def transposed(x: Value) -> Value:
    """Each matrix transposed."""
    return op.permute_dims(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def numbers(size: Size) -> Value:
    """The numbers of rows or columns: `[size]`, of i64."""
    return op.arange(0, size, 1, "i64")


def row_numbers(x: Value) -> Value:
    """The number of each row of `[b, m, n]`, as `[m, 1]`."""
    return op.expand_dims(numbers(x.shape[-2]), [1])


def column_numbers(x: Value) -> Value:
    """The number of each column of `[b, m, n]`, as `[n]`."""
    return numbers(x.shape[-1])


def at(x: Value, index: Value, axis: int) -> Value:
    """The slice of an axis with that number, a tensor of rank 0 which is valid."""
    return op.take(x, index, axis, "clip")


def pick_rows(x: Value, index: Value) -> Value:
    """Rows of each matrix of `[b, m, n]`, by valid indices of its own: `[b]` gives `[b, n]`, `[b, k]` `[b, k, n]`."""
    count, rows, columns = x.shape
    first = numbers(count) * number(rows)
    first = first if index.ndim == 1 else op.expand_dims(first, [1])
    return op.take(op.reshape(x, (count * rows, columns)), index + first, 0, "clip")


def number(size: Size) -> Value:
    """A size as a tensor of rank 0."""
    if isinstance(size, int):
        return op.constant(np.int64(size))
    return op.reshape(op.shape_to_tensor((size,)), ())


def diagonal(x: Value) -> Value:
    """The diagonals of `[b, m, n]`: `[b, min(m, n)]`."""
    count, rows, columns = x.shape
    places = numbers(smaller(rows, columns)) * (number(columns) + op.constant(np.int64(1)))
    return op.take(op.reshape(x, (count, rows * columns)), places, 1, "clip")


def outer(lhs: Value, rhs: Value) -> Value:
    """`[b, m]` and `[b, n]` to `[b, m, n]`."""
    return op.expand_dims(lhs, [2]) * op.expand_dims(rhs, [1])


def identity(count: Size, rows: Size, columns: Size, dtype: str) -> Value:
    """Ones on the diagonal: `[count, rows, columns]`."""
    return op.broadcast_to(op.eye(rows, columns, dtype), (count, rows, columns))


def loop(step: Callable[..., Any], state: Any, count: Size, *, reverse: bool = False) -> Any:
    """`state = step(state, i)` for `i` from 0 to `count - 1`; `i` is a tensor of rank 0."""
    state, _ = op.scan(lambda carry, i: (step(carry, i), None), state, numbers(count), reverse=reverse)
    return state


def largest(x: Value) -> Value:
    """The greatest absolute value of each matrix of `[b, m, n]`, 0 of none: `[b]`."""
    count, rows, columns = x.shape
    flat = op.reshape(op.abs(x), (count, rows * columns))
    return op.max(op.concat([flat, op.zeros((count, 1), x.dtype)], 1), [1])
