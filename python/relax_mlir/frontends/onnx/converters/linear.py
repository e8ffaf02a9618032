# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ..lowering import Lowering
from ..registry import register


@register("MatMul")
def matmul(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    return op.matmul(lhs, rhs)


@register("Gemm")
def gemm(ctx: Lowering, a: Value, b: Value, c: Value | None = None) -> Value:
    """`alpha * a @ b + beta * c`, either operand transposed before."""
    for name, matrix in (("A", a), ("B", b)):
        if matrix.ndim != 2:
            ctx.fail(f"{name} has the rank {matrix.ndim}; expected a matrix")
    alpha, beta = ctx.float("alpha", 1.0), ctx.float("beta", 1.0)
    a = op.permute_dims(a, [1, 0]) if ctx.int("transA", 0) else a
    b = op.permute_dims(b, [1, 0]) if ctx.int("transB", 0) else b
    made = op.matmul(a, b)
    made = made if alpha == 1 else op.multiply(made, factor(ctx, alpha, made.dtype))
    if c is None or beta == 0:
        return made
    return op.add(made, c if beta == 1 else op.multiply(c, factor(ctx, beta, c.dtype)))


def factor(ctx: Lowering, number: float, dtype: str) -> Value:
    """A factor in an element type; integers take whole ones."""
    if not is_float(dtype) and number != int(number):
        raise ctx.unsupported(f"the factor {number} of integers; expected a whole number")
    return ctx.scalar(number if is_float(dtype) else int(number), dtype)


@register("Einsum")
def einsum(ctx: Lowering, *operands: Value) -> Value:
    return op.einsum(ctx.text("equation"), list(operands))


@register("Det")
def det(ctx: Lowering, x: Value) -> Value:
    """The determinant, by elimination with the greatest element of each column as its pivot."""
    *batch, n, _ = x.shape
    size: Any = 1
    for entry in batch:
        size = size * entry
    matrices = op.reshape(x, (size, n, n))
    steps = op.arange(0, n, 1, "i64")
    rows = op.expand_dims(steps, [0])

    def step(state: tuple[Value, ...], place: Value) -> tuple[tuple[Value, ...], None]:
        matrix, product = state
        at = op.reshape(place, (1,))
        column = op.reshape(op.take(matrix, at, 2), (size, n))
        candidates = op.where(op.greater_equal(rows, place), op.abs(column), ctx.scalar(-1, x.dtype))
        pivot = op.argmax(candidates, 1, True)  # [size, 1]
        index = op.broadcast_to(op.expand_dims(pivot, [2]), (size, 1, n))
        chosen, current = op.gather_elements(matrix, index, 1), op.take(matrix, at, 1)
        is_pivot, is_here = op.expand_dims(op.equal(rows, pivot), [2]), op.expand_dims(op.equal(rows, place), [2])
        matrix = op.where(is_here, chosen, op.where(is_pivot, current, matrix))
        value = op.reshape(op.take(op.reshape(chosen, (size, n)), at, 1), (size,))
        sign = op.where(op.equal(op.reshape(pivot, (size,)), place), ctx.scalar(1, x.dtype), ctx.scalar(-1, x.dtype))
        is_zero = op.equal(value, ctx.scalar(0, x.dtype))
        divisor = op.where(is_zero, ctx.scalar(1, x.dtype), value)
        factors = op.divide(op.take(matrix, at, 2), op.reshape(divisor, (size, 1, 1)))
        factors = op.where(op.expand_dims(op.greater(rows, place), [2]), factors, ctx.scalar(0, x.dtype))
        matrix = op.subtract(matrix, op.multiply(factors, chosen))
        return (matrix, op.multiply(product, op.multiply(value, sign))), None

    one = op.full((size,), op.constant(np.asarray(1.0), x.dtype))
    (_, product), _ = op.scan(step, (matrices, one), steps)
    return op.reshape(product, tuple(batch))
