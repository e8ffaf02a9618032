# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views and rearrangements: in a program of values, a view is a new value.

Shapes are those that PyTorch found, so that a `-1` needs no solving and a size that the trace took for granted is
checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import op
from ....symbolic import ExprLike, Sym
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register

_END = 2**63 - 1


@register(
    *("aten::view.default", "aten::_unsafe_view", "aten::reshape", "aten::flatten", "aten::unflatten", "aten::view_as"),
    *("aten::_reshape_copy", "aten::view_copy.default", "aten::ravel", "aten::_reshape_alias"),
)
def reshape(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    shape = ctx.shape
    is_same = len(shape) == x.ndim and all(map(ctx.equal, x.shape, shape))
    return x if is_same else op.reshape(x, shape)


@register("aten::view.dtype")
def view_as_type(ctx: Lowering, x: Value, dtype: str) -> Value:
    if x.dtype == dtype:
        return x
    raise ctx.unsupported(f"it shows the bytes of {x.dtype} as {dtype}, which a program of values has no op for")


@register("aten::unsqueeze")
def unsqueeze(ctx: Lowering, x: Value, dim: int) -> Value:
    return op.expand_dims(x, [dim % (x.ndim + 1)])


@register("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")
def squeeze(ctx: Lowering, x: Value, dim: Any = None) -> Value:
    """Drops what the trace has found to be 1; a size that it has found to be another stays."""
    axes = [axis for axis in ctx.axes(dim, x.ndim) if x.ndim] if dim is not None else range(x.ndim)
    dropped = [axis for axis in axes if ctx.is_one(ctx.example(0).shape[axis])]
    for axis in axes:
        if isinstance(size := x.shape[axis], Sym) and axis not in dropped:
            ctx.require(compare("!=", size, 1), f"axis {axis} was traced for sizes other than 1, where it is dropped")
    return op.squeeze(x, dropped) if dropped else x


@register("aten::expand", "aten::expand_as", "aten::broadcast_to", "aten::expand_copy")
def expand(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    shape = ctx.shape
    is_same = len(shape) == x.ndim and all(map(ctx.equal, x.shape, shape))
    return x if is_same else op.broadcast_to(x, shape)


@register("aten::permute", "aten::permute_copy")
def permute(ctx: Lowering, x: Value, dims: Sequence[int]) -> Value:
    axes = [ctx.axis(axis, x.ndim) for axis in dims]
    return x if axes == sorted(axes) else op.permute_dims(x, axes)


@register("aten::transpose.int", "aten::transpose_copy.int", "aten::swapaxes")
def transpose(ctx: Lowering, x: Value, dim0: int, dim1: int) -> Value:
    axes = list(range(x.ndim))
    first, second = ctx.axis(dim0, x.ndim), ctx.axis(dim1, x.ndim)
    if first == second:
        return x
    axes[first], axes[second] = axes[second], axes[first]
    return op.permute_dims(x, axes)


@register("aten::t", "aten::t_copy", "aten::numpy_T", "aten::mT", "aten::adjoint")
def transpose_matrix(ctx: Lowering, x: Value) -> Value:
    return x if x.ndim < 2 else transpose(ctx, x, -2, -1)


@register("aten::movedim.int", "aten::movedim.intlist")
def move_axes(ctx: Lowering, x: Value, source: Any, destination: Any) -> Value:
    moved, places = ctx.axes(source, x.ndim), ctx.axes(destination, x.ndim)
    rest = iter(axis for axis in range(x.ndim) if axis not in moved)
    order = [moved[places.index(place)] if place in places else next(rest) for place in range(x.ndim)]
    return op.permute_dims(x, order)


@register("aten::cat", "aten::concat")
def concat(ctx: Lowering, tensors: list[Value], dim: int = 0) -> Value:
    """PyTorch leaves out tensors of shape `[0]` next to others of higher rank."""
    rank = len(ctx.shape)
    parts = [part for part in tensors if part.ndim == rank or not (part.ndim == 1 and part.shape[0] == 0)]
    return op.concat(ctx.same(*parts), ctx.axis(dim, rank)) if parts else op.zeros(ctx.shape, ctx.dtype)


@register("aten::stack")
def stack(ctx: Lowering, tensors: list[Value], dim: int = 0) -> Value:
    return op.stack(ctx.same(*tensors), dim % (tensors[0].ndim + 1))


@register("aten::split.Tensor", "aten::split", "aten::split.sizes", "aten::split_with_sizes", "aten::chunk")
@register("aten::tensor_split.sections", "aten::tensor_split.indices", "aten::unsafe_split", "aten::unsafe_chunk")
@register("aten::split_copy.Tensor", "aten::split_with_sizes_copy", "aten::unsafe_split_with_sizes")
def split(ctx: Lowering, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
    """Parts of the sizes that the trace has found, whose number is fixed."""
    axis = ctx.axis(dim, x.ndim)
    parts = [ctx.shape_of(example)[axis] for example in ctx.results]
    total: ExprLike = 0
    positions: list[ExprLike] = []
    for size in parts:
        total = total + size
        positions.append(total)
    ctx.require(compare("==", x.shape[axis], total), f"axis {axis} was split into parts of {total} elements")
    return op.split(x, positions[:-1], axis) if len(parts) > 1 else (x,)


@register("aten::unbind.int", "aten::unbind_copy.int")
def unbind(ctx: Lowering, x: Value, dim: int = 0) -> tuple[Value, ...]:
    axis = ctx.axis(dim, x.ndim)
    count = len(ctx.results)
    ctx.require(compare("==", x.shape[axis], count), f"axis {axis} was taken apart into {count} tensors")
    parts = op.split(x, count, axis) if count > 1 else (x,)
    return tuple(op.squeeze(part, [axis]) for part in parts)


@register("aten::slice.Tensor", "aten::slice_copy.Tensor", "aten::narrow.slice")
def slice_(ctx: Lowering, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> Value:
    axis = ctx.axis(dim, x.ndim)
    size = x.shape[axis]
    start = 0 if start is None else start
    end = _END if end is None else end
    if start == 0 and step == 1 and (end == _END or (size is not None and ctx.equal(end, size))):
        return x
    return op.strided_slice(x, [axis], [start], [end], None if step == 1 else [step])


@register("aten::narrow", "aten::narrow_copy")
def narrow(ctx: Lowering, x: Value, dim: int, start: Any, length: Any) -> Value:
    axis = ctx.axis(dim, x.ndim)
    start = start + x.shape[axis] if isinstance(start, int) and start < 0 else start
    ctx.require(compare("<=", start + length, x.shape[axis]), "the part lies beyond the end")
    return op.strided_slice(x, [axis], [start], [start + length])


@register("aten::select.int", "aten::select_copy.int")
def select(ctx: Lowering, x: Value, dim: int, index: Any) -> Value:
    """One index of an axis, as a slice: the index is checked where it is not known to be inside."""
    axis = ctx.axis(dim, x.ndim)
    size = x.shape[axis]
    if isinstance(index, int):
        ctx.require(
            compare(">=" if index < 0 else ">", size, -index if index < 0 else index), f"index {index} is outside"
        )
        end = _END if index == -1 else index + 1
        return op.squeeze(op.strided_slice(x, [axis], [index], [end]), [axis])
    return op.take(x, ctx.integer(index), axis)


@register("aten::repeat", "aten::tile")
def repeat(ctx: Lowering, x: Value, repeats: Sequence[Any]) -> Value:
    if all(isinstance(count, int) for count in repeats):
        return op.tile(x, list(repeats)) if repeats else x
    shape = [1] * (len(repeats) - x.ndim) + list(x.shape)
    x = op.reshape(x, [part for size in shape for part in (1, size)])
    x = op.broadcast_to(x, [part for count, size in zip(repeats, shape) for part in (count, size)])
    return op.reshape(x, ctx.shape)


@register("aten::repeat_interleave.self_int")
def repeat_elements(ctx: Lowering, x: Value, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Value:
    if dim is None:
        x, dim = op.flatten(x), 0
    axis = ctx.axis(dim, x.ndim)
    x = op.expand_dims(x, [axis + 1])
    shape = list(x.shape)
    shape[axis + 1] = repeats
    return op.reshape(op.broadcast_to(x, shape), ctx.shape)


@register("aten::flip")
def flip(ctx: Lowering, x: Value, dims: Sequence[int]) -> Value:
    for axis in {ctx.axis(dim, x.ndim) for dim in dims} if x.ndim else ():
        x = op.flip(x, axis)
    return x


@register("aten::roll")
def roll(ctx: Lowering, x: Value, shifts: Any, dims: Any = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, (int, Sym)) else list(shifts)
    if x.ndim == 0:
        return x
    if not dims and dims != 0:
        return op.roll(x, shifts[0])
    return op.roll(x, shifts, ctx.axes(dims, x.ndim))


@register("aten::unfold", "aten::unfold_copy")
def unfold(ctx: Lowering, x: Value, dimension: int, size: int, step: int) -> Value:
    """Windows along an axis, which come last in the result."""
    if x.ndim == 0:
        return op.reshape(x, ctx.shape)
    axis = ctx.axis(dimension, x.ndim)
    count = ctx.shape[axis]
    starts = op.arange(0, count * step, step, "i64")
    indices = op.add(op.expand_dims(starts, [1]), op.expand_dims(op.arange(0, size, 1, "i64"), [0]))
    made = op.take(x, indices, axis)
    order = [place for place in range(made.ndim) if place != axis + 1] + [axis + 1]
    return op.permute_dims(made, order)


@register("aten::diagonal", "aten::diagonal_copy")
def diagonal(ctx: Lowering, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The diagonal of two axes, which comes last in the result."""
    rows, columns = ctx.axis(dim1, x.ndim), ctx.axis(dim2, x.ndim)
    rest = [axis for axis in range(x.ndim) if axis not in (rows, columns)]
    x = op.permute_dims(x, [rows, columns, *rest])
    length = ctx.shape[-1]
    first = op.arange(max(-offset, 0), length + max(-offset, 0), 1, "i64")
    second = op.arange(max(offset, 0), length + max(offset, 0), 1, "i64")
    made = op.index_tensor(x, [first, second])
    return op.permute_dims(made, [*range(1, made.ndim), 0])


@register("aten::pixel_shuffle")
def pixel_shuffle(ctx: Lowering, x: Value, upscale_factor: int) -> Value:
    """Channels become pixels: `[…, c*r*r, h, w]` to `[…, c, h*r, w*r]`."""
    factor = upscale_factor
    *lead, channels, height, width = x.shape
    x = op.reshape(x, (*lead, channels // factor**2, factor, factor, height, width))
    count = len(lead)
    x = op.permute_dims(x, [*range(count + 1), count + 3, count + 1, count + 4, count + 2])
    return op.reshape(x, ctx.shape)


@register("aten::pixel_unshuffle")
def pixel_unshuffle(ctx: Lowering, x: Value, downscale_factor: int) -> Value:
    """Pixels become channels: `[…, c, h*r, w*r]` to `[…, c*r*r, h, w]`."""
    factor = downscale_factor
    *lead, channels, height, width = x.shape
    ctx.require(compare("==", height % factor, 0), f"the height is a multiple of {factor}")
    ctx.require(compare("==", width % factor, 0), f"the width is a multiple of {factor}")
    x = op.reshape(x, (*lead, channels, height // factor, factor, width // factor, factor))
    count = len(lead)
    x = op.permute_dims(x, [*range(count + 1), count + 2, count + 4, count + 1, count + 3])
    return op.reshape(x, ctx.shape)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


@register("aten::pad", "aten::constant_pad_nd")
def pad(ctx: Lowering, x: Value, pad: Sequence[Any], *args: Any, **kwargs: Any) -> Value:
    """Widths come in pairs, from the last axis backwards."""
    if "constant_pad" in ctx.name:
        mode, value = "constant", args[0] if args else kwargs.get("value", 0)
    else:
        defaults: tuple[Any, Any] = ("constant", None)
        mode, value = args + defaults[len(args) :]
        mode, value = kwargs.get("mode", mode), kwargs.get("value", value)
    return _padded(x, pad, mode, value)


@register("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d")
def reflection_pad(ctx: Lowering, x: Value, padding: Sequence[Any]) -> Value:
    return _padded(x, padding, "reflect", None)


@register("aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
def replication_pad(ctx: Lowering, x: Value, padding: Sequence[Any]) -> Value:
    return _padded(x, padding, "replicate", None)


def _padded(x: Value, widths: Sequence[Any], mode: str, value: Any) -> Value:
    pairs: list[Any] = [0] * (2 * x.ndim)
    for place in range(len(widths) // 2):
        axis = x.ndim - 1 - place
        pairs[2 * axis], pairs[2 * axis + 1] = widths[2 * place], widths[2 * place + 1]
    if mode != "constant":
        return op.pad(x, pairs, _MODES[mode])
    number = 0 if value is None else value
    if x.dtype == "bool":
        padded = op.pad(op.astype(x, "i8"), pairs, "constant", int(bool(number)))
        return op.astype(padded, "bool")
    return op.pad(x, pairs, "constant", float(number) if x.dtype.startswith(("f", "bf")) else int(number))
