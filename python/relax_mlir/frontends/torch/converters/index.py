# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading by tensors of indices.

A mask among indices stands for the positions where it is true, of which only a run knows the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....annotations import Tensor
from ....symbolic import Sym
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register
from .reduction import vector_norm


def as_indices(ctx: Lowering, x: Value, indices: Sequence[Value | None]) -> list[Value | None]:
    """One index tensor or None for each axis that is named: masks become positions."""
    found: list[Value | None] = []
    for index in indices:
        if index is None or index.dtype not in ("bool", "u8"):
            found.append(index if index is None or index.dtype in ("i32", "i64") else op.astype(index, "i64"))
            continue
        for axis, size in enumerate(index.shape):
            place = len(found) + axis
            ctx.require(compare("==", size, x.shape[place]), f"the mask has {size} elements along axis {place}")
        found += positions(ctx, index)
    return found


def positions(ctx: Lowering, mask: Value) -> list[Value]:
    """The positions of the elements that are not zero: a tensor for each axis."""
    rank = mask.ndim
    found = op.nonzero(ctx.cast(mask, "bool"))
    if not isinstance(found.shape[1], (int, Sym)):
        found = op.match_cast(found, Tensor((rank, Sym(ctx.symbols.unused("nonzero"))), found.dtype))
    if rank == 1:
        return [op.squeeze(found, [0])]
    return [op.squeeze(part, [0]) for part in op.split(found, rank, 0)]


@register("aten::index.Tensor", "aten::_unsafe_index.Tensor")
def index(ctx: Lowering, x: Value, indices: Sequence[Value | None]) -> Value:
    """Axes that are indexed come first, are read together, and go back to the first of their places if they are
    neighbors."""
    found = as_indices(ctx, x, indices)
    indexed = [axis for axis, entry in enumerate(found) if entry is not None]
    tensors = [entry for entry in found if entry is not None]
    if len(indexed) == 1:
        return op.take(x, tensors[0], indexed[0])
    rest = [axis for axis in range(x.ndim) if axis not in indexed]
    if indexed != list(range(len(indexed))):
        x = op.permute_dims(x, [*indexed, *rest])
    made = op.index_tensor(x, tensors)
    first = indexed[0]
    if first == 0 or indexed != list(range(first, first + len(indexed))):
        return made
    count = made.ndim - len(rest)
    before = list(range(count, count + first))
    return op.permute_dims(made, [*before, *range(count), *range(count + first, made.ndim)])


@register("aten::index_select")
def index_select(ctx: Lowering, x: Value, dim: int, index: Value) -> Value:
    ctx.check_not_negative(index)
    if x.ndim == 0:
        return op.reshape(op.take(op.reshape(x, (1,)), op.reshape(index, (-1,)), 0), ())
    return op.take(x, index if index.ndim else op.reshape(index, (1,)), ctx.axis(dim, x.ndim))


@register("aten::embedding")
def embedding(ctx: Lowering, weight: Value, indices: Value, *args: Any, **kwargs: Any) -> Value:
    return op.take(weight, indices, 0)


@register("aten::embedding_renorm")
def embedding_renorm(ctx: Lowering, weight: Value, indices: Value, max_norm: float, norm_type: float) -> Value:
    """The table, in which rows that are read have at most that norm."""
    norm = vector_norm(ctx, weight, norm_type, [1], True)
    limit = ctx.tensor(float(max_norm), weight.dtype)
    scaled = op.multiply(weight, op.divide(limit, op.add(norm, ctx.tensor(1e-7, weight.dtype))))
    read = op.index_put(op.zeros((weight.shape[0],), "i32"), [op.flatten(indices)], op.constant(np.int32(1)), False)
    is_read = op.expand_dims(op.not_equal(read, op.constant(np.int32(0))), [1])
    return op.where(op.logical_and(is_read, op.greater(norm, limit)), scaled, weight)


@register("aten::take")
def take(ctx: Lowering, x: Value, index: Value) -> Value:
    return op.take(op.flatten(x), index, 0)


@register("aten::gather")
def gather(ctx: Lowering, x: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Value:
    """Losses over classes become this as well: an index is a target then."""
    index = index if index.dtype in ("i32", "i64") else op.astype(index, "i64")
    ctx.check_not_negative(index, "an index (or a target of a loss)")
    if x.ndim == 0 or index.ndim == 0:
        shape = index.shape
        made = op.gather_elements(op.reshape(x, (-1,)), op.reshape(index, (-1,)), 0)
        return op.reshape(made, shape)
    return op.gather_elements(x, index, ctx.axis(dim, x.ndim))


@register("aten::nonzero")
def nonzero(ctx: Lowering, x: Value) -> Value:
    """One row for each element that is not zero; `relax.nonzero` has a column."""
    found = op.permute_dims(op.nonzero(op.reshape(ctx.cast(x, "bool"), x.shape or (1,))), [1, 0])
    # A tensor of rank 0 has positions without coordinates.
    return found if x.ndim else op.strided_slice(found, [1], [0], [0])


@register("aten::nonzero_static")
def nonzero_static(ctx: Lowering, x: Value, *, size: Any, fill_value: int = -1) -> Value:
    """As many positions as `size` says: those behind are left out, and rows without one have the fill value."""
    if x.ndim == 0:
        return op.full(ctx.shape, ctx.tensor(fill_value, "i64"), "i64")
    flags = op.flatten(ctx.cast(x, "bool"))
    place = op.subtract(op.cumsum(op.astype(flags, "i64"), 0), ctx.tensor(1, "i64"))
    limit = ctx.tensor(size, "i64")
    # One row more takes what is left out.
    row = op.where(op.logical_and(flags, op.less(place, limit)), place, limit)
    found = op.full((size + 1,), ctx.tensor(-1, "i64"), "i64")
    found = op.index_put(found, [row], op.arange(0, flags.shape[0], 1, "i64"), False)
    found = op.strided_slice(found, [0], [0], [size])
    is_found = op.greater_equal(found, ctx.tensor(0, "i64"))
    columns: list[Value] = []
    for length in reversed(x.shape):
        columns.insert(0, op.floor_mod(found, ctx.tensor(length, "i64")))
        found = op.floor_divide(found, ctx.tensor(length, "i64"))
    return op.where(op.expand_dims(is_found, [1]), op.stack(columns, 1), ctx.tensor(fill_value, "i64"))


@register("aten::masked_select")
def masked_select(ctx: Lowering, x: Value, mask: Value) -> Value:
    return op.masked_select(x, ctx.cast(mask, "bool"))


@register("aten::repeat_interleave.self_Tensor")
def repeat_interleave(
    ctx: Lowering, x: Value, repeats: Value, dim: int | None = None, *, output_size: Any = None
) -> Value:
    """Each slice as often as its number says; one number counts for all."""
    if dim is None:
        x, dim = op.flatten(x), 0
    axis = ctx.axis(dim, x.ndim)
    repeats = op.broadcast_to(repeats if repeats.ndim else op.reshape(repeats, (1,)), (x.shape[axis],))
    return op.take(x, _repeated(ctx, repeats, output_size, axis), axis)


@register("aten::repeat_interleave.Tensor")
def repeat_interleave_indices(ctx: Lowering, repeats: Value, *, output_size: Any = None) -> Value:
    return ctx.cast(_repeated(ctx, repeats, output_size, 0), ctx.dtype)


def _repeated(ctx: Lowering, repeats: Value, output_size: Any, axis: int) -> Value:
    """Index `i` as often as `repeats[i]` says: each place of the result finds its index among the running sums."""
    from ..scalars import define_size

    ctx.check_not_negative(repeats, "a number of repeats")
    repeats = ctx.cast(repeats, "i64")
    ends, count = op.cumsum(repeats, 0), op.sum(repeats)
    total = output_size
    if total is None:
        expr = ctx.results[0].shape[axis]
        symbol = expr.node.expr if hasattr(expr, "node") else None
        if symbol is None or not symbol.is_Symbol or symbol in ctx.symbols.values:
            symbol = None
        total = define_size(ctx.symbols, count, "repeats", symbol)
    else:
        ctx.check(op.equal(count, ctx.tensor(total, "i64")), "the repeats do not add up to output_size")
    return op.bucketize(op.arange(0, total, 1, "i64"), ends, right=True)


@register(
    "aten::embedding_bag",
    "aten::_embedding_bag",
    "aten::_embedding_bag_forward_only",
    "aten::embedding_bag.padding_idx",
)
def embedding_bag(
    ctx: Lowering,
    weight: Value,
    indices: Value,
    offsets: Value,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> Any:
    """Sums, means (mode 1) or maxima (2) of rows; bag `b` has the indices from `offsets[b]` to the next offset."""
    indices, offsets = op.astype(indices, "i64"), op.astype(offsets, "i64")
    if include_last_offset:
        offsets = op.strided_slice(offsets, [0], [0], [offsets.shape[0] - 1])
    count, bags, width = indices.shape[0], offsets.shape[0], weight.shape[1]
    bag = op.subtract(op.bucketize(op.arange(0, count, 1, "i64"), offsets, right=True), ctx.tensor(1, "i64"))
    rows = op.take(weight, indices, 0)
    if per_sample_weights is not None:
        rows = op.multiply(rows, op.expand_dims(per_sample_weights, [1]))
    counted = op.ones((count,), weight.dtype)
    if padding_idx is not None and padding_idx >= 0:
        is_row = op.not_equal(indices, ctx.tensor(padding_idx, "i64"))
        counted = op.astype(is_row, weight.dtype)
        if mode != 2:
            rows = op.multiply(rows, op.expand_dims(counted, [1]))
        else:
            rows = op.where(op.expand_dims(is_row, [1]), rows, ctx.tensor(float("-inf"), weight.dtype))
    sizes = op.index_put(op.zeros((bags,), weight.dtype), [bag], counted, True)
    if mode == 2:
        least = op.full((bags, width), ctx.tensor(float("-inf"), weight.dtype))
        places = op.broadcast_to(op.expand_dims(bag, [1]), (count, width))
        made = op.scatter_elements(least, places, rows, 0, "max")
        made = op.where(
            op.expand_dims(op.equal(sizes, ctx.tensor(0.0, weight.dtype)), [1]), ctx.tensor(0.0, weight.dtype), made
        )
    else:
        made = op.index_put(op.zeros((bags, width), weight.dtype), [bag], rows, True)
    if mode == 1:
        made = op.divide(made, op.expand_dims(op.maximum(sizes, ctx.tensor(1.0, weight.dtype)), [1]))
    if not isinstance(ctx.result, (tuple, list)):
        return made
    if any(map(ctx.uses_result, range(1, len(ctx.results)))):
        raise ctx.unsupported("what its gradient needs; for training, use torch.nn.Embedding and reduce the bags")
    return (made, *(None for _ in ctx.results[1:]))
