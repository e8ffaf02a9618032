# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops under their familiar names that are compositions of other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..annotations import Tensor
from ..dtypes import is_float, limits
from ..errors import fail
from ..scope import current_function
from ..symbolic import ExprLike, Sym
from ..values import Value
from ._generated import (
    arange,
    astype,
    concat,
    flatten,
    full,
    greater_equal,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    matmul,
    nonzero,
    permute_dims,
    scatter_elements,
    squeeze,
    strided_slice,
    take,
    where,
    zeros,
)
from .core import broadcast_to, constant, match_cast, reshape
from .scan import scan
from .sizes import as_value, checked_axis, known_shape, unused_symbol
from .support import Operand


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Value:
    """The dimensions in another order, the reverse one by default: `op.permute_dims`, as NumPy's `transpose`.

    `axes` are all dimensions in their new order. PyTorch's `transpose(x, i, j)`, which swaps two, is something else.
    """
    return permute_dims(x, axes)


def roll(x: Operand, shift: ExprLike | Sequence[ExprLike], axis: int | Sequence[int] | None = None) -> Value:
    """The elements moved along dimensions; those that leave at one end enter at the other. As NumPy's `roll`.

    Args:
      x: a tensor of any type, whose sizes along the axes are known.
      shift: by how many positions, negative towards the first; one for each axis, or one for all.
      axis: the dimensions. None rolls the flattened tensor, and keeps the shape.

    Raises:
      RelaxError: an axis is out of range, or the numbers of shifts and axes differ.
    """
    x = as_value(x, "roll: x")
    shifts = list(shift) if isinstance(shift, Sequence) else [shift]
    if axis is None:
        if len(shifts) != 1:
            fail(f"roll: {len(shifts)} shifts without axes; expected one")
        return reshape(_rolled(flatten(x), shifts[0], 0), known_shape(x, "roll: x"))
    rank = len(known_shape(x, "roll: x"))
    listed = list(axis) if isinstance(axis, Sequence) else [axis]
    axes = [checked_axis(each, rank, "roll: axis") for each in listed]
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        fail(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for each, by in zip(axes, shifts):
        x = _rolled(x, by, each)
    return x


def _rolled(x: Value, shift: ExprLike, axis: int) -> Value:
    """The last `shift` elements, modulo the size, before the others."""
    size = known_shape(x, "roll: x")[axis]
    if isinstance(size, int) and size == 0:
        return x
    may_be_empty = isinstance(size, Sym) and not current_function().proves_less(0, size)
    cut = (0 - shift) % (Sym.max(size, 1) if may_be_empty else size)  # there is no remainder by 0
    if isinstance(cut, int) and cut == 0:
        return x
    return concat([strided_slice(x, [axis], [cut], [size]), strided_slice(x, [axis], [0], [cut])], axis)


def bmm(lhs: Operand, rhs: Operand) -> Value:
    """Products of matrices in batches, `[b, n, k] @ [b, k, m]`, as PyTorch's; `op.matmul` without broadcasting.

    Raises:
      RelaxError: a rank is not 3, or sizes certainly differ; other sizes are checked at run time.
    """
    lhs, rhs = as_value(lhs, "bmm: lhs"), as_value(rhs, "bmm: rhs")
    for name, operand in (("lhs", lhs), ("rhs", rhs)):
        if operand.ndim != 3:
            fail(f"bmm: {name} is {operand.annotation!r}; expected a tensor of rank 3")
    (batch, *_), (other, *sizes) = known_shape(lhs, "bmm: lhs"), known_shape(rhs, "bmm: rhs")
    if isinstance(batch, int) and isinstance(other, int) and batch != other:
        fail(f"bmm: lhs has {batch} matrices, and rhs has {other}")
    if batch != other:
        rhs = match_cast(rhs, Tensor((batch, *sizes), rhs.dtype))
    return matmul(lhs, rhs)


def masked_select(x: Operand, mask: Operand) -> Value:
    """The elements where the mask is true, in order, after both are broadcast: `[count]`, as PyTorch's.

    Args:
      x: a tensor of any type, of known sizes.
      mask: a tensor of bool, of known sizes, or one that is broadcast.

    Raises:
      RelaxError: the mask is not of bool, sizes are unknown, or the shapes do not broadcast.
    """
    x, mask = as_value(x, "masked_select: x"), as_value(mask, "masked_select: mask")
    if mask.dtype != "bool":
        fail(f"masked_select: mask has the type {mask.dtype}; expected bool")
    shapes: list[list[ExprLike]] = [
        list(known_shape(part, f"masked_select: {name}")) for name, part in (("x", x), ("mask", mask))
    ]
    rank = max(map(len, shapes))
    ones: list[ExprLike] = [1] * rank
    aligned = zip(*(ones[len(shape) :] + shape for shape in shapes))
    shape = [_broadcast(*sizes) for sizes in aligned]
    found = nonzero(flatten(broadcast_to(mask, shape)))
    symbol = unused_symbol(current_function(), "masked_select_count")
    found = match_cast(found, Tensor((1, symbol), found.dtype))
    return take(flatten(broadcast_to(x, shape)), squeeze(found, [0]), 0)


def _broadcast(lhs: ExprLike, rhs: ExprLike) -> ExprLike:
    if isinstance(lhs, int) and isinstance(rhs, int) and 1 not in (lhs, rhs) and lhs != rhs:
        fail(f"masked_select: sizes {lhs} and {rhs} do not broadcast")
    return Sym.broadcast(lhs, rhs)


def scatter_add(x: Operand, indices: Operand, updates: Operand, axis: int = 0) -> Value:
    """`x` with updates added where indices say: `op.scatter_elements` with the reduction "add".

    Along `axis`, update `[i, j, …]` is added to position `indices[i, j, …]`, as by PyTorch's `scatter_add(x, axis,
    indices, updates)`. Indices count from the end if they are negative.
    """
    return scatter_elements(x, indices, updates, axis, "add")


def cummax(x: Operand, axis: int) -> tuple[Value, Value]:
    """The running maximum along a dimension, and where it is (i64), as PyTorch's.

    The last of equal elements counts; NaN stays once it has come. Both results have the shape of `x`.
    """
    return _running_extreme(as_value(x, "cummax: x"), axis, True)


def cummin(x: Operand, axis: int) -> tuple[Value, Value]:
    """The running minimum along a dimension, and where it is (i64), as PyTorch's.

    The last of equal elements counts; NaN stays once it has come. Both results have the shape of `x`.
    """
    return _running_extreme(as_value(x, "cummin: x"), axis, False)


def _running_extreme(x: Value, axis: int, is_max: bool) -> tuple[Value, Value]:
    """A scan along the axis."""
    name = "cummax" if is_max else "cummin"
    if x.dtype == "bool":
        values, places = _running_extreme(astype(x, "i8"), axis, is_max)
        return astype(values, "bool"), places
    shape = known_shape(x, f"{name}: x")
    axis = checked_axis(axis, len(shape), f"{name}: axis")
    order = [axis, *(place for place in range(len(shape)) if place != axis)]
    back = [order.index(place) for place in range(len(shape))]
    rows = permute_dims(x, order)
    better = greater_equal if is_max else less_equal

    def body(carry: tuple[Value, ...], row: tuple[Value, Value]) -> Any:
        best, place = carry
        value, index = row
        takes = better(value, best)
        if is_float(x.dtype):
            takes = logical_or(isnan(value), logical_and(takes, logical_not(isnan(best))))
        best, place = where(takes, value, best), where(takes, index, place)
        return (best, place), (best, place)

    # The first row takes the place of the start, which no element is worse than; there may be no row.
    sizes = [shape[place] for place in order[1:]]
    worst = constant(limits(x.dtype)[0 if is_max else 1], x.dtype)
    start = (full(sizes, worst), zeros(sizes, "i64"))
    _, made = scan(body, start, (rows, arange(0, shape[axis], 1, "i64")))
    return permute_dims(made[0], back), permute_dims(made[1], back)
