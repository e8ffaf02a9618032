# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing at indices: each gives a new tensor, in which the places have new values."""

from __future__ import annotations

from .... import op
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def _reduction(ctx: Lowering) -> str:
    kind = ctx.text("reduction", "none")
    if kind not in _REDUCTIONS:
        raise ctx.unsupported(f"the reduction '{kind}'; expected one of {', '.join(_REDUCTIONS)}", "reduction")
    return _REDUCTIONS[kind]


@register("ScatterElements", "Scatter")
def scatter_elements(ctx: Lowering, x: Value, indices: Value, updates: Value) -> Value:
    axis = ctx.axis(ctx.int("axis", 0), x.ndim)
    return op.scatter_elements(x, indices, updates, axis, _reduction(ctx))


@register_data("ScatterND")
def scatter_nd(ctx: Lowering, x: Data, indices: Data, updates: Data) -> Data:
    ctx.fixed(indices.shape[-1], "the last size of the indices, which says how many axes they index,")
    made = op.scatter_nd(ctx.value(x), ctx.value(indices), ctx.value(updates), _reduction(ctx))
    return Data(x.dtype, value=made)


@register("TensorScatter")
def tensor_scatter(ctx: Lowering, cache: Value, update: Value, start: Value | None = None) -> Value:
    """Writes rows into a cache from a place of each batch on; in the circular mode it begins again at the end."""
    axis = ctx.axis(ctx.int("axis", -2), cache.ndim)
    mode = ctx.text("mode", "linear")
    if mode not in ("linear", "circular"):
        raise ctx.unsupported(f"the mode '{mode}'; expected linear or circular", "mode")
    rows = op.arange(0, update.shape[axis], 1, "i64")
    shape = [update.shape[axis] if place == axis else 1 for place in range(cache.ndim)]
    index = op.reshape(rows, shape)
    if start is not None:
        begin = op.reshape(op.astype(start, "i64"), [cache.shape[0], *[1] * (cache.ndim - 1)])
        index = op.add(index, begin)
    if mode == "circular":
        index = op.floor_mod(index, ctx.scalar(cache.shape[axis], "i64"))
    return op.scatter_elements(cache, op.broadcast_to(index, list(update.shape)), update, axis)
