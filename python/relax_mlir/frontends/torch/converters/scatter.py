# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing at places that indices name: each gives a new tensor, in which the places have new values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float, limits
from ....symbolic import Sym
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .index import as_indices

_END = 2**63 - 1


@register("aten::index_put", "aten::_unsafe_index_put", "aten::_index_put_impl")
def index_put(
    ctx: Lowering, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False, *args: Any
) -> Value:
    values = ctx.cast(values, x.dtype)
    if _is_one_mask(indices) and values.ndim == 0 and not accumulate:
        mask = indices[-1]
        assert mask is not None
        return op.where(_spread_mask(mask, len(indices) - 1, x.ndim), values, x)
    return _put_at(x, as_indices(ctx, x, indices), values, accumulate)


def _put_at(x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool) -> Value:
    """Writes at indices of some axes, where the tensor lies: nothing of it is moved.

    An axis without an index that is before one with an index gets all its positions for an index. In the shape of the
    values, these axes come before what the indices have in common, or, where indexed axes are not neighbors, behind it:

        x[:, i] = v     v [size of axis 0, shape of i]         indices  arange [size, 1…], i
        x[i, :, j] = v  v [shape of i and j, size of axis 1]   indices  i […, 1], arange [size], j […, 1]
    """
    indexed = [axis for axis, entry in enumerate(indices) if entry is not None]
    whole = [axis for axis in range(indexed[-1]) if indices[axis] is None]
    common = max(entry.ndim for entry in indices if entry is not None)
    are_neighbors = indexed == list(range(indexed[0], indexed[-1] + 1))
    behind = common if are_neighbors else 0
    tensors = []
    for axis in range(indexed[-1] + 1):
        index = indices[axis]
        if index is None:
            ones = len(whole) - whole.index(axis) - 1 + behind
            index = op.reshape(op.arange(0, x.shape[axis], 1, "i64"), [x.shape[axis], *[1] * ones])
        elif not are_neighbors:
            index = op.expand_dims(index, list(range(index.ndim, index.ndim + len(whole))))
        tensors.append(index)
    return _put(x, tensors, values, accumulate)


def _is_one_mask(indices: Sequence[Value | None]) -> bool:
    *others, last = indices
    return last is not None and last.dtype == "bool" and all(entry is None for entry in others)


def _spread_mask(mask: Value, before: int, rank: int) -> Value:
    """A mask that broadcasts against a tensor of which it covers some axes."""
    behind = rank - before - mask.ndim
    return op.expand_dims(mask, list(range(mask.ndim, mask.ndim + behind))) if behind else mask


def _put(x: Value, tensors: list[Value], values: Value, accumulate: bool) -> Value:
    if x.dtype == "bool" and accumulate:
        added = op.index_put(op.astype(x, "i32"), tensors, op.astype(values, "i32"), True)
        return op.astype(added, "bool")
    return op.index_put(x, tensors, values, accumulate)


def _along(ctx: Lowering, x: Value, dim: int, index: Value, values: Value, accumulate: bool) -> Value:
    """Writes slices of an axis."""
    if x.ndim == 0:
        made = _put(op.reshape(x, (1,)), [op.reshape(index, (-1,))], op.reshape(values, (-1,)), accumulate)
        return op.reshape(made, ())
    index = index if index.ndim else op.reshape(index, (1,))
    return _put_at(x, [*[None] * ctx.axis(dim, x.ndim), index], values, accumulate)


@register("aten::index_add")
def index_add(ctx: Lowering, x: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1) -> Value:
    ctx.check_not_negative(index)
    if alpha != 1:
        source = op.multiply(source, ctx.tensor(alpha, source.dtype))
    return _along(ctx, x, dim, index, ctx.cast(source, x.dtype), True)


@register("aten::index_copy")
def index_copy(ctx: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    ctx.check_not_negative(index)
    return _along(ctx, x, dim, index, source, False)


@register("aten::index_fill")
def index_fill(ctx: Lowering, x: Value, dim: int, index: Value, value: Any) -> Value:
    return _along(ctx, x, dim, index, ctx.tensor(value, x.dtype), False)


@register("aten::masked_scatter")
def masked_scatter(ctx: Lowering, x: Value, mask: Value, source: Value) -> Value:
    """Where the mask is true the next element of the source, whose number is checked."""
    mask = op.broadcast_to(mask, ctx.shape)
    x = op.broadcast_to(x, ctx.shape)
    flags = op.astype(op.flatten(mask), "i64")
    count = op.sum(flags, [0])
    available = ctx.tensor(_size(source), "i64")
    op.assert_(op.less_equal(count, available), f"{ctx.name}: the mask is true more often than the source has elements")
    place = op.subtract(op.cumsum(flags, 0), ctx.tensor(1, "i64"))
    values = op.take(op.concat([op.flatten(source), op.zeros((1,), source.dtype)], 0), place, 0, "clip")
    return op.where(mask, op.reshape(values, ctx.shape), x)


def _size(x: Value) -> Any:
    total: Any = 1
    for size in x.shape:
        total = total * size
    return total


@register("aten::scatter.src", "aten::scatter.value", "aten::scatter.reduce", "aten::scatter.value_reduce")
def scatter(ctx: Lowering, x: Value, dim: int, index: Value, source: Any, *, reduce: str | None = None) -> Value:
    ctx.check_not_negative(index)
    kind = {None: "update", "add": "add", "multiply": "mul"}[reduce]
    return _scattered(ctx, x, dim, index, source, kind)


@register("aten::scatter_add")
def scatter_add(ctx: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    ctx.check_not_negative(index)
    return _scattered(ctx, x, dim, index, source, "add")


@register("aten::scatter_reduce.two")
def scatter_reduce(
    ctx: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    ctx.check_not_negative(index)
    kinds = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "mean": "add"}
    kind = kinds[reduce]
    count = op.ones(x.shape, x.dtype)
    if not include_self:
        # A place that is written starts with what does not count.
        neutral = op.full(x.shape, ctx.tensor(_neutral(kind, x.dtype), x.dtype))
        touched = _scattered(ctx, op.zeros(x.shape, "i32"), dim, index, 1, "update")
        is_touched = op.not_equal(touched, op.constant(np.int32(0)))
        count = op.where(is_touched, op.zeros(x.shape, x.dtype), count)
        x = op.where(is_touched, neutral, x)
    made = _scattered(ctx, x, dim, index, source, kind)
    if reduce != "mean":
        return made
    count = _scattered(ctx, count, dim, index, 1, "add")
    count = op.maximum(count, ctx.tensor(1, x.dtype))
    return op.divide(made, count) if is_float(x.dtype) else op.floor_divide(made, count)


def _neutral(kind: str, dtype: str) -> Any:
    if kind in ("add", "mul"):
        return 0 if kind == "add" else 1
    least, greatest = limits(dtype)
    return least if kind == "max" else greatest


def _scattered(ctx: Lowering, x: Value, dim: int, index: Value, source: Any, kind: str) -> Value:
    """`relax.scatter_elements`, of as many updates as there are indices."""
    index = index if index.dtype in ("i32", "i64") else op.astype(index, "i64")
    if not isinstance(source, Value):
        source = op.full(index.shape, ctx.tensor(source, x.dtype), x.dtype)
    source = ctx.cast(source, x.dtype)
    if x.ndim == 0 or index.ndim == 0:
        parts = [op.reshape(part, (-1,)) for part in (x, index, source)]
        return op.reshape(_scattered(ctx, parts[0], 0, parts[1], parts[2], kind), x.shape)
    cut = [axis for axis in range(index.ndim) if not ctx.equal(source.shape[axis], index.shape[axis])]
    if cut:
        source = op.strided_slice(source, cut, [0] * len(cut), [index.shape[axis] for axis in cut])
    axis = ctx.axis(dim, x.ndim)
    if x.dtype == "bool":
        kind = {"add": "max", "mul": "min"}.get(kind, kind)  # a sum of bytes would start again at 256
        made = op.scatter_elements(op.astype(x, "i8"), index, op.astype(source, "i8"), axis, kind)
        return op.astype(made, "bool")
    return op.scatter_elements(x, index, source, axis, kind)


@register("aten::slice_scatter")
def slice_scatter(
    ctx: Lowering, x: Value, source: Value, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Value:
    axis, source = ctx.axis(dim, x.ndim), ctx.cast(source, x.dtype)
    start, end = 0 if start is None else start, _END if end is None else end
    if start == 0 and step == 1 and ctx.equal(source.shape[axis], x.shape[axis]):
        return source
    return op.slice_scatter(x, source, axis, start, end, step)


@register("aten::select_scatter")
def select_scatter(ctx: Lowering, x: Value, source: Value, dim: int, index: Any) -> Value:
    axis = ctx.axis(dim, x.ndim)
    row = op.expand_dims(ctx.cast(source, x.dtype), [axis])
    if isinstance(index, Sym):
        # Only a run knows whether it counts from the end, where -1 would end a slice before it starts.
        return _along(ctx, x, axis, op.reshape(ctx.integer(index), (1,)), row, False)
    end = _END if index == -1 else index + 1
    return op.slice_scatter(x, row, axis, index, end, 1)


@register("aten::put")
def put(ctx: Lowering, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    made = _put(op.flatten(x), [op.flatten(index)], op.flatten(source), accumulate)
    return op.reshape(made, ctx.shape)


@register("aten::index_reduce")
def index_reduce(
    ctx: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    """As `scatter_reduce` with one index for each slice."""
    axis = ctx.axis(dim, x.ndim)
    shape = [1] * x.ndim
    shape[axis] = -1
    index = op.broadcast_to(op.reshape(index, shape), source.shape)
    return scatter_reduce(ctx, x, axis, index, source, reduce, include_self=include_self)


@register("aten::diagonal_scatter")
def diagonal_scatter(ctx: Lowering, x: Value, source: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The source, whose last axis lies along the diagonal, in place of it."""
    rows, columns = ctx.axis(dim1, x.ndim), ctx.axis(dim2, x.ndim)
    order = [rows, columns, *(axis for axis in range(x.ndim) if axis not in (rows, columns))]
    length = source.shape[-1]
    places = [op.arange(max(start, 0), length + max(start, 0), 1, "i64") for start in (-offset, offset)]
    source = op.permute_dims(source, [source.ndim - 1, *range(source.ndim - 1)])
    made = op.index_put(op.permute_dims(x, order), places, ctx.cast(source, x.dtype), False)
    return op.permute_dims(made, [order.index(axis) for axis in range(x.ndim)])
