# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QR factors by Householder's reflections, in the form that LAPACK keeps them.

A reflection is `H = 1 - tau v v^T`, where `v` is 0 above its place and 1 there; what is below is kept in the column
that the reflection has cleared. `Q` is the product of all reflections, in order.
"""

from __future__ import annotations

from typing import Any

import torch

from .... import op
from ....values import Value
from ..fakes import register_missing_fake
from ..lowering import Lowering
from ..registry import register
from .linalg_matrices import (
    at,
    batched,
    column_numbers,
    identity,
    numbers,
    outer,
    row_numbers,
    smaller,
    transposed,
    unbatched,
)


def qr_factor(x: Value) -> tuple[Value, Value]:
    """`R` and the reflections in one `[b, m, n]`, and `tau` `[b, k]`."""
    height, width = x.shape[1:]
    index, rows, columns = numbers(height), row_numbers(x), column_numbers(x)

    def step(a: Value, k: Value) -> tuple[Value, Value]:
        column = at(a, k, 2)
        head = op.expand_dims(at(column, k, 1), [1])
        beta, tau = _reflection(head, op.where(index > k, column, 0.0))
        below = column / op.where(op.equal(tau, 0.0), 1.0, head - beta)
        v = _vector(below, index, k)
        inside = op.logical_and(rows >= k, columns > k)
        kept = op.expand_dims(op.where(index > k, v, beta), [2])
        done = op.where(op.logical_and(rows >= k, op.equal(columns, k)), kept, a)
        return op.where(inside, _reflected(a, v, tau), done), op.squeeze(tau, [1])

    matrices, tau = op.scan(step, x, numbers(smaller(height, width)))
    return matrices, op.permute_dims(tau, [1, 0])


def _reflection(head: Value, below: Value) -> tuple[Value, Value]:
    """What a reflection makes of the first element `[b, 1]`, where it clears those below `[b, m]`; and its `tau`.

    `tau` is 0 where there is nothing to clear. The norm is that of scaled elements, so that no square overflows.
    """
    scale = op.max(op.abs(op.concat([head, below], 1)), [1], True)
    scale = op.where(op.equal(scale, 0.0), 1.0, scale)
    rest = op.sum(op.square(below / scale), [1], True)
    length = scale * op.sqrt(op.square(head / scale) + rest)
    is_identity = op.equal(rest, 0.0)
    beta = op.where(is_identity, head, op.where(head >= 0.0, -length, length))
    tau = op.where(is_identity, 0.0, (beta - head) / op.where(is_identity, 1.0, beta))
    return beta, tau


def _vector(below: Value, index: Value, k: Value) -> Value:
    """The vector of the reflection at place `k`, of which `[b, m]` has the part below."""
    return op.where(index > k, below, op.astype(op.equal(index, k), below.dtype))


def _reflected(a: Value, v: Value, tau: Value) -> Value:
    """`H A` for vectors `[b, m]` and `tau` `[b, 1]`."""
    products = op.sum(op.expand_dims(v, [2]) * a, [1])
    return a - outer(v, tau * products)


def apply_reflections(matrices: Value, tau: Value, other: Value, *, transpose: bool = False) -> Value:
    """`Q C` or `Q^T C`, of reflections `[b, m, n]`, `tau` `[b, k]`, and `C` `[b, m, p]`."""
    index = numbers(matrices.shape[1])

    def step(c: Value, pair: tuple[Value, Value]) -> tuple[Value, None]:
        k, factor = pair
        v = _vector(at(matrices, k, 2), index, k)
        return _reflected(c, v, op.expand_dims(factor, [1])), None

    pairs = (numbers(tau.shape[1]), op.permute_dims(tau, [1, 0]))
    result, _ = op.scan(step, other, pairs, reverse=not transpose)
    return result


def orthogonal_columns(matrices: Value, tau: Value, columns: Any) -> Value:
    """The first columns of `Q`: `[b, m, columns]`."""
    count, height, _ = matrices.shape
    return apply_reflections(matrices, tau, identity(count, height, columns, matrices.dtype))


@register("aten::linalg_qr")
def linalg_qr(ctx: Lowering, x: Value, mode: str = "reduced") -> tuple[Value, Value]:
    batch, (height, width) = x.shape[:-2], x.shape[-2:]
    columns = height if mode == "complete" else smaller(height, width)
    matrices, tau = qr_factor(batched(ctx, x))
    r = unbatched(op.triu(op.strided_slice(matrices, [1], [0], [columns])), batch)
    if mode == "r":
        return op.zeros((0,), x.dtype), r
    return unbatched(orthogonal_columns(matrices, tau, columns), batch), r


@register_missing_fake("aten::geqrf")
def _(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty_like(x), x.new_empty((*x.shape[:-2], min(x.shape[-2:])))


@register("aten::geqrf")
def geqrf(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    factors, tau = (unbatched(part, x.shape[:-2]) for part in qr_factor(batched(ctx, x)))
    return factors, tau


@register("aten::linalg_householder_product", "aten::orgqr")
def householder_product(ctx: Lowering, x: Value, tau: Value) -> Value:
    made = orthogonal_columns(batched(ctx, x), batched(ctx, tau, 1), x.shape[-1])
    return unbatched(made, x.shape[:-2])


@register("aten::ormqr")
def ormqr(ctx: Lowering, x: Value, tau: Value, other: Value, left: bool = True, transpose: bool = False) -> Value:
    """`Q C`, or `C Q`, which is the transposed product of both transposed."""
    if not left:
        other, transpose = transposed(other), not transpose
    made = apply_reflections(batched(ctx, x), batched(ctx, tau, 1), batched(ctx, other), transpose=transpose)
    made = unbatched(made, other.shape[:-2])
    return made if left else transposed(made)
