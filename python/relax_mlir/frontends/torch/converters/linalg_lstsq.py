# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Least squares, by singular values whatever the driver: the solution of least norm among the best ones.

PyTorch does not trace the op, since the drivers `gelsd` and `gelss` give residuals only where all matrices have full
rank. Here they are expected to have it, which is checked where the program runs.
"""

from __future__ import annotations

import torch

from .... import op
from ....values import Value
from ..dtypes import to_torch
from ..fakes import register_missing_fake
from ..lowering import Lowering
from ..registry import register
from .linalg_functions import greatest, invert, relative_tolerance
from .linalg_matrices import batched, broadcast_batches, transposed, unbatched, with_rows
from .linalg_spectral import singular_values

_DEFAULT = "gelsy"


@register_missing_fake("aten::linalg_lstsq")
def _(
    a: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[torch.Tensor, ...]:
    """The solution, the residuals, the ranks, and the singular values."""
    driver = driver or _DEFAULT
    batch, (rows, columns) = a.shape[:-2], a.shape[-2:]
    vectors = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    common = torch.broadcast_shapes(batch, vectors.shape[:-2])
    has_residuals = driver != "gelsy" and rows > columns
    solution = a.new_empty((*common, columns, vectors.shape[-1]))
    residuals = a.new_empty((*common, vectors.shape[-1]) if has_residuals else (0,))
    rank = a.new_empty((0,) if driver == "gels" else batch, dtype=torch.int64)
    values = a.new_empty((*batch, min(rows, columns)) if driver in ("gelsd", "gelss") else (0,))
    return solution.squeeze(-1) if b.ndim == a.ndim - 1 else solution, residuals, rank, values


@register("aten::linalg_lstsq")
def lstsq(
    ctx: Lowering, a: Value, b: Value, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Value, ...]:
    driver = driver or _DEFAULT
    batch, (rows, columns) = a.shape[:-2], a.shape[-2:]
    is_vector = b.ndim == a.ndim - 1
    common, right = broadcast_batches(a, op.expand_dims(b, [b.ndim]) if is_vector else b)
    matrices, right = batched(ctx, common), with_rows(ctx, batched(ctx, right), rows)
    u, values, vt = singular_values(ctx, matrices, True, False)
    assert u is not None and vt is not None  # it is asked for them
    reciprocals, is_kept = invert(values, _tolerance(ctx, a, rcond, driver) * greatest(values))
    solution = op.matmul(transposed(vt), op.expand_dims(reciprocals, [2]) * op.matmul(transposed(u), right))
    nothing = op.zeros((0,), a.dtype)
    rank, residuals = op.sum(op.astype(is_kept, "i64"), [1]), nothing
    if not _is_nothing(ctx.results[1]):
        residuals = unbatched(op.sum(op.square(right - op.matmul(matrices, solution)), [1]), common.shape[:-2])
        if driver != "gels":
            ctx.check(op.equal(rank, ctx.tensor(columns, "i64")), "a matrix has no full rank: there are no residuals")
    solution = unbatched(solution, common.shape[:-2])
    return (
        op.squeeze(solution, [solution.ndim - 1]) if is_vector else solution,
        residuals,
        op.zeros((0,), "i64") if driver == "gels" else unbatched(rank, batch),
        unbatched(values, batch) if driver in ("gelsd", "gelss") else nothing,
    )


def _is_nothing(example: torch.Tensor) -> bool:
    """Whether a result is left out: PyTorch has one axis of no elements for it."""
    return example.ndim == 1 and isinstance(example.shape[0], int) and example.shape[0] == 0


def _tolerance(ctx: Lowering, a: Value, rcond: float | None, driver: str) -> Value:
    """What is negligible next to the largest singular value: nothing for `gels`, which expects full rank."""
    if driver == "gels":
        return ctx.tensor(0.0, a.dtype)
    if rcond is None:
        return relative_tolerance(a)
    return ctx.tensor(rcond if rcond >= 0 else torch.finfo(to_torch(a.dtype)).eps, a.dtype)
