# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move elements: reshaping, slicing, joining, padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....symbolic import ExprLike, Facts, Range, Sym
from ....values import Value
from ...conditions import compare, junction
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data

_FIRST, _LAST = -(2**63 - 1), 2**63 - 1


@register_data("Identity")
def identity(ctx: Lowering, x: Any) -> Any:
    return x


@register_data("Reshape")
def reshape(ctx: Lowering, x: Data, shape: Data | None = None) -> Data:
    """0 stands for the size of the input, unless `allowzero`; -1 for what remains."""
    sizes = ctx.integers(shape, "the shape") if shape is not None else list(ctx.ints("shape"))
    if not ctx.int("allowzero", 0):
        sizes = [_copied(ctx, size, x, axis) for axis, size in enumerate(sizes)]
    elif -1 in sizes and 0 in sizes:
        ctx.fail("the shape has 0 and -1, which allowzero does not allow")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = _remaining(ctx, math.prod(x.shape), math.prod(s for s in sizes if s != -1))
    return Data(x.dtype, value=op.reshape(ctx.value(x), sizes))


def _remaining(ctx: Lowering, total: ExprLike, known: ExprLike) -> ExprLike:
    """The size that -1 stands for, as an expression that is right for empty tensors as well; -1 where there is none.

    12*b*n elements in b*n rows are rows of 12. A quotient says that only of b*n >= 1, so the factors that both have
    are cancelled; then what remains times the other sizes is the number of elements, whatever b and n are.
    """
    quotient = total // known if known != 0 else -1
    if not isinstance(quotient, Sym):
        return quotient if quotient * known == total else -1
    simple = Facts({Sym(name): Range(1) for name in quotient.symbols}).simplify(quotient)
    found = simple.value if simple.is_constant else simple
    return found if ctx.equal(found * known, total) else -1


def _copied(ctx: Lowering, size: ExprLike, x: Data, axis: int) -> ExprLike:
    """A size of the new shape, where 0 means that of the input.

    An expression that may be 0 is that only where the input has no elements there either, which is checked.
    """
    if isinstance(size, int):
        if size == 0 and axis >= x.ndim:
            ctx.fail(f"the shape has 0 at {axis}, and the input has {x.ndim} axes")
        return x.shape[axis] if size == 0 else size
    if axis < x.ndim and not ctx.equal(size, x.shape[axis]):
        is_same = junction("or", [compare(">=", size, 1), compare("==", x.shape[axis], 0)])
        ctx.require(is_same, f"size {axis} of the shape is 0, which stands for that of the input; set allowzero")
    return size


@register("Transpose")
def transpose(ctx: Lowering, x: Value) -> Value:
    order = ctx.ints("perm", None)
    return op.permute_dims(x, list(reversed(range(x.ndim))) if order is None else order)


@register("Flatten")
def flatten(ctx: Lowering, x: Value) -> Value:
    axis = ctx.int("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return op.reshape(x, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


@register_data("Unsqueeze")
def unsqueeze(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
    found = ctx.numbers(axes, "the axes") if axes is not None else ctx.ints("axes")
    found = ctx.axes(found, x.ndim + len(found))
    return Data(x.dtype, value=ctx.expand(ctx.value(x), found))


@register_data("Squeeze")
def squeeze(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
    found = ctx.numbers(axes, "the axes") if axes is not None else ctx.ints("axes", None)
    if found is None:
        found = [
            axis for axis, size in enumerate(x.shape) if ctx.fixed(size, "all sizes, since it names no axes,") == 1
        ]
    value = ctx.value(x)
    found = ctx.axes(found, x.ndim)
    for axis in found:
        if not ctx.is_one(x.shape[axis]):
            ctx.require(compare("==", x.shape[axis], 1), f"axis {axis} is removed, so it must have the size 1")
    sizes = [size for axis, size in enumerate(x.shape) if axis not in found]
    return Data(x.dtype, value=op.reshape(value, sizes))


@register("Concat")
def concat(ctx: Lowering, *parts: Value) -> Value:
    axis = ctx.int("axis", 1) if ctx.version < 4 else ctx.int("axis")
    return op.concat(list(parts), ctx.axis(axis, parts[0].ndim))


@register_data("Split")
def split(ctx: Lowering, x: Data, lengths: Data | None = None) -> tuple[Data, ...]:
    """Into parts of given lengths, or of one length, of which the last may be shorter."""
    axis = ctx.axis(ctx.int("axis", 0), x.ndim)
    count = ctx.int("num_outputs", len(ctx.node.outputs))
    if lengths is not None:
        sizes = ctx.sizes(lengths, "the lengths")
    elif "split" in ctx.node.attributes:
        sizes = ctx.ints("split")
    else:
        sizes = None
    value = ctx.value(x)
    if sizes is None:
        whole = x.shape[axis]
        part = Sym.parse("0") + whole if isinstance(whole, int) else whole
        part = part.ceildiv(count)
        part = part.value if part.is_constant else part
        starts: list[ExprLike] = [part * index for index in range(count)]
        parts = [
            op.strided_slice(value, [axis], [start], [start + part if index < count - 1 else _LAST])
            for index, start in enumerate(starts)
        ]
    else:
        if len(sizes) != len(ctx.node.outputs):
            ctx.fail(f"there are {len(sizes)} lengths for {len(ctx.node.outputs)} results")
        parts = pieces(ctx, value, sizes, axis)
    return tuple(Data(x.dtype, value=part) for part in parts)


def pieces(ctx: Lowering, x: Value, sizes: Sequence[ExprLike], axis: int) -> list[Value]:
    """A tensor cut into parts, whose sizes make up that of the axis."""
    total = sum(sizes, start=0)
    if not ctx.equal(total, x.shape[axis]):
        ctx.require(compare("==", total, x.shape[axis]), "the lengths add up to the size of the axis")
    if isinstance(x.shape[axis], int) and not x.shape[axis]:
        return [x for _ in sizes]  # all parts are empty
    parts: list[Value] = []
    start: ExprLike = 0
    for size in sizes:
        part = op.strided_slice(x, [axis], [start], [start + size], assume_inbound=True)
        parts.append(part)
        start = start + size
    return parts


@register_data("Slice")
def slice_(ctx: Lowering, x: Data, *limits: Data | None) -> Data:
    given = dict(zip(("starts", "ends", "axes", "steps"), limits))

    def found(name: str) -> Any:
        operand = given.get(name)
        return ctx.numbers(operand, f"the {name}") if operand is not None else ctx.ints(name, None)

    value = ctx.value(x)
    starts, ends = given.get("starts"), given.get("ends")
    if starts is not None and ends is not None and not (_is_known(starts) and _is_known(ends)):
        return Data(x.dtype, value=_dynamic_slice(ctx, value, starts, ends, found("axes"), found("steps")))
    begin = ctx.integers(starts, "the starts") if starts is not None else ctx.ints("starts")
    end = ctx.integers(ends, "the ends") if ends is not None else ctx.ints("ends")
    axes, steps = found("axes"), found("steps")
    axes = ctx.axes(axes if axes is not None else range(len(begin)), x.ndim)
    begin, end = [_limited(entry) for entry in begin], [_limited(entry) for entry in end]
    return Data(x.dtype, value=op.strided_slice(value, axes, begin, end, steps))


def _is_known(data: Data) -> bool:
    return data.elements is not None


def _limited(position: ExprLike) -> ExprLike:
    return min(max(position, _FIRST), _LAST) if isinstance(position, int) else position


def _dynamic_slice(
    ctx: Lowering, x: Value, starts: Data, ends: Data, axes: list[int] | None, steps: list[int] | None
) -> Value:
    """A slice of which only a run knows the ends."""
    count = starts.shape[0]
    if not isinstance(count, int):
        ctx.elements(starts, "the starts")
    axes = ctx.axes(axes if axes is not None else range(count), x.ndim)
    steps = steps or [1] * count

    def whole(data: Data, default: int) -> Value:
        given = op.astype(ctx.value(data), "i64")
        return op.concat(
            [
                op.strided_slice(given, [0], [axes.index(axis)], [axes.index(axis) + 1])
                if axis in axes
                else op.constant(np.asarray([default]))
                for axis in range(x.ndim)
            ],
            0,
        )

    strides = [steps[axes.index(axis)] if axis in axes else 1 for axis in range(x.ndim)]
    return op.dynamic_strided_slice(x, whole(starts, 0), whole(ends, _LAST), op.constant(np.asarray(strides)))


@register_data("Expand")
def expand(ctx: Lowering, x: Data, shape: Data) -> Data:
    """Broadcasts both ways: a size of 1 in the shape leaves that of the input."""
    sizes = ctx.sizes(shape, "the shape")
    return Data(x.dtype, value=op.broadcast_to(ctx.value(x), ctx.broadcast(x.shape, sizes)))


@register_data("Tile")
def tile(ctx: Lowering, x: Data, repeats: Data) -> Data:
    counts = ctx.sizes(repeats, "the repeats")
    if len(counts) != x.ndim:
        ctx.fail(f"there are {len(counts)} repeats for {x.ndim} axes")
    value = ctx.value(x)
    numbers = [count for count in counts if isinstance(count, int)]
    if len(numbers) == len(counts):
        return Data(x.dtype, value=op.tile(value, numbers))
    inner = [size for pair in zip([1] * x.ndim, x.shape) for size in pair]
    spread = [size for pair in zip(counts, x.shape) for size in pair]
    made = op.broadcast_to(op.reshape(value, inner), spread)
    return Data(x.dtype, value=op.reshape(made, [count * size for count, size in zip(counts, x.shape)]))


@register("DepthToSpace")
def depth_to_space(ctx: Lowering, x: Value) -> Value:
    block, mode = ctx.int("blocksize"), ctx.text("mode", "DCR")
    n, c, *sizes = x.shape
    count, depth = len(sizes), c // block ** len(sizes)
    if mode == "DCR":
        split, first = [n, *[block] * count, depth, *sizes], [count + 1]
        blocks = list(range(1, count + 1))
    elif mode == "CRD":
        split, first = [n, depth, *[block] * count, *sizes], [1]
        blocks = list(range(2, count + 2))
    else:
        raise ctx.unsupported(f"the mode '{mode}'; expected DCR or CRD", "mode")
    rest = [axis for pair in zip(range(count + 2, 2 * count + 2), blocks) for axis in pair]
    made = op.permute_dims(op.reshape(x, split), [0, *first, *rest])
    return op.reshape(made, [n, depth, *(size * block for size in sizes)])


@register("SpaceToDepth")
def space_to_depth(ctx: Lowering, x: Value) -> Value:
    block, mode = ctx.int("blocksize"), ctx.text("mode", "DCR")
    n, c, *sizes = x.shape
    count = len(sizes)
    split = [n, c, *(part for size in sizes for part in (size // block, block))]
    blocks, places = list(range(3, 2 * count + 2, 2)), list(range(2, 2 * count + 2, 2))
    order = [0, *blocks, 1, *places] if mode == "DCR" else [0, 1, *blocks, *places]
    made = op.permute_dims(op.reshape(x, split), order)
    return op.reshape(made, [n, c * block**count, *(size // block for size in sizes)])


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@register_data("Pad")
def pad(ctx: Lowering, x: Data, pads: Data | None = None, value: Data | None = None, axes: Data | None = None) -> Data:
    """Pads, or crops where a number is negative; the value is an operand since version 11."""
    mode = ctx.text("mode", "constant")
    if mode not in _MODES:
        raise ctx.unsupported(f"the mode '{mode}'; expected one of {', '.join(_MODES)}", "mode")
    widths = ctx.integers(pads, "the pads") if pads is not None else ctx.ints("pads", None) or ctx.ints("paddings")
    over = ctx.axes(ctx.numbers(axes, "the axes"), x.ndim) if axes is not None else list(range(x.ndim))
    if len(widths) != 2 * len(over):
        ctx.fail(f"there are {len(widths)} pads for {len(over)} axes")
    both: list[ExprLike] = [0] * (2 * x.ndim)
    for place, axis in enumerate(over):
        both[2 * axis], both[2 * axis + 1] = widths[place], widths[place + len(over)]
    source = ctx.value(x)
    if mode != "constant":
        return Data(x.dtype, value=_mirrored(ctx, source, both, _MODES[mode]))
    if value is None:
        number = ctx.float("value", 0.0)
        return Data(x.dtype, value=_padded(ctx, source, both, number))
    if value.is_constant and value.elements.size == 1:
        return Data(x.dtype, value=_padded(ctx, source, both, value.elements.reshape(-1)[0].item()))
    return Data(x.dtype, value=pad_with(source, both, op.reshape(ctx.value(value), ())))


def _padded(ctx: Lowering, x: Value, widths: Sequence[ExprLike], number: Any) -> Value:
    if x.dtype == "bool":
        return op.astype(op.pad(op.astype(x, "u8"), widths, pad_value=int(bool(number))), "bool")
    return op.pad(x, widths, pad_value=float(number) if is_float(x.dtype) else int(number))


def pad_with(x: Value, widths: Sequence[ExprLike], value: Value) -> Value:
    """A tensor padded with the element of a tensor."""
    inside = op.pad(op.ones(x.shape, "u8"), widths)
    as_bytes = x.dtype == "bool"
    padded = op.pad(op.astype(x, "u8") if as_bytes else x, widths)
    padded = op.astype(padded, "bool") if as_bytes else padded
    return op.where(op.not_equal(inside, op.constant(np.uint8(0))), padded, value)


def _mirrored(ctx: Lowering, x: Value, widths: Sequence[ExprLike], mode: str) -> Value:
    """Padding with elements of the tensor; where a number is negative, the tensor is cropped first."""
    crops = [min(width, 0) if isinstance(width, int) else 0 for width in widths]
    if any(crops):
        x = op.pad(x, crops)
    rest = [max(width, 0) if isinstance(width, int) else width for width in widths]
    if mode == "circular":
        return _wrapped(x, rest)
    return op.pad(x, rest, pad_mode=mode)


def _wrapped(x: Value, widths: Sequence[ExprLike]) -> Value:
    """Padding with the other end, as often around as it takes."""
    for axis in range(x.ndim):
        before, after = widths[2 * axis], widths[2 * axis + 1]
        if (before, after) != (0, 0):
            places = op.arange(-before, x.shape[axis] + after, 1, "i64")
            x = op.take(x, places, axis, mode="wrap")
    return x


@register_data("Trilu")
def trilu(ctx: Lowering, x: Data, diagonal: Data | None = None) -> Data:
    value, upper = ctx.value(x), ctx.int("upper", 1)
    if diagonal is None or diagonal.is_constant:
        k = 0 if diagonal is None else ctx.number(diagonal, "k")
        return Data(x.dtype, value=(op.triu if upper else op.tril)(value, k))
    rows = op.expand_dims(op.arange(0, x.shape[-2], 1, "i64"), [1])
    columns = op.expand_dims(op.arange(0, x.shape[-1], 1, "i64"), [0])
    edge = op.add(rows, op.reshape(op.astype(ctx.value(diagonal), "i64"), ()))
    keep = op.greater_equal(columns, edge) if upper else op.less_equal(columns, edge)
    return Data(x.dtype, value=op.where(keep, value, ctx.scalar(0, value.dtype)))
