# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of matrices: the exponential and the pseudo-inverse."""

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
from .linalg_matrices import batched, identity, number, product, squares, transposed, unbatched
from .linalg_spectral import singular_values, symmetric_eigen_of

_RADIUS = 1.0
"""Up to this norm the series is exact to rounding after `_TERMS` terms."""

_TERMS = 19


@register("aten::linalg_matrix_exp", "aten::matrix_exp")
def matrix_exp(ctx: Lowering, x: Value) -> Value:
    """Scaling and squaring: `exp(A)` is the power of `exp(A / 2^s)`, whose Taylor series converges fast."""
    matrices = squares(ctx, x)
    norm = op.squeeze(greatest(op.sum(op.abs(matrices), [1])), [1])
    halvings = op.ceil(op.log2(norm / _RADIUS))
    halvings = op.where(op.logical_and(op.isfinite(norm), halvings > 0.0), halvings, 0.0)
    small = _repeated(lambda a: a * 0.5, matrices, halvings)
    return unbatched(_repeated(lambda a: op.matmul(a, a), _series(small), halvings), x.shape[:-2])


def _series(a: Value) -> Value:
    """The sum of `A^i / i!` for `i` from 0, by Horner's rule."""
    count, size, _ = a.shape
    one = identity(count, size, size, a.dtype)
    factors = op.constant(1.0 / np.arange(_TERMS, 0, -1), a.dtype)
    total, _ = op.scan(lambda total, factor: (one + op.matmul(a, total) * factor, None), one, factors)
    return total


def _repeated(function: Callable[[Value], Value], x: Value, times: Value) -> Value:
    """Each matrix of `[b, n, n]` after as many applications of a function as `times` `[b]` says."""
    builder = current_function().builder
    with builder.while_([x, times]) as loop:
        with loop.condition as (_, rest):
            builder.yield_(op.any(rest > 0.0))
        with loop.body as (a, rest):
            is_open = op.expand_dims(rest > 0.0, [1, 2])
            builder.yield_(op.where(is_open, function(a), a), rest - 1.0)
    return loop.results[0]


@register("aten::linalg_pinv.atol_rtol_tensor")
def pseudo_inverse(
    ctx: Lowering, x: Value, *, atol: Value | None = None, rtol: Value | None = None, hermitian: bool = False
) -> Value:
    """The inverse of what is left without negligible singular values, those at most `max(atol, rtol * largest)`."""
    if hermitian:
        values, right = symmetric_eigen_of(ctx, squares(ctx, x))
        left = transposed(right)
    else:
        u, values, vt = singular_values(ctx, batched(ctx, x), True, False)
        assert u is not None and vt is not None  # it is asked for them
        left, right = transposed(vt), transposed(u)
    reciprocals, _ = invert(values, _cutoff(x, greatest(values), atol, rtol))
    return unbatched(op.matmul(left * op.expand_dims(reciprocals, [1]), right), x.shape[:-2])


def greatest(values: Value) -> Value:
    """The greatest absolute value of each row of `[b, k]`, 0 of none: `[b, 1]`."""
    return op.max(op.concat([op.abs(values), op.zeros((values.shape[0], 1), values.dtype)], 1), [1], True)


def invert(values: Value, cutoff: Value) -> tuple[Value, Value]:
    """Reciprocals of what is greater than the cutoff (in absolute value), 0 for the rest; and what was greater."""
    is_kept = op.abs(values) > cutoff
    return op.where(is_kept, 1.0 / op.where(is_kept, values, 1.0), 0.0), is_kept


def relative_tolerance(x: Value) -> Value:
    """What PyTorch takes for negligible next to the largest singular value unless told: a tensor of rank 0."""
    rows, columns = x.shape[-2:]
    longest = op.maximum(number(rows), number(columns))
    return op.astype(longest, x.dtype) * torch.finfo(to_torch(x.dtype)).eps


def _cutoff(x: Value, largest: Value, atol: Value | None, rtol: Value | None) -> Value:
    """What is negligible, `[b, 1]`: tolerances have no axes, or those of the batch."""
    batch = x.shape[:-2]

    def column(tolerance: Value) -> Value:
        return op.reshape(op.broadcast_to(op.astype(tolerance, x.dtype), batch), (product(batch), 1))

    absolute = None if atol is None else column(atol)
    relative = relative_tolerance(x) if rtol is None else column(rtol)
    if rtol is None and absolute is not None:
        relative = op.where(absolute > 0.0, 0.0, relative)
    cutoff = relative * largest
    return cutoff if absolute is None else op.maximum(absolute, cutoff)
