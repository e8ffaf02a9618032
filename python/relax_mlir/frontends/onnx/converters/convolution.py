# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and transposed convolutions over one to three axes."""

from __future__ import annotations

import dataclasses
from typing import Any

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data
from .windows import Windows, padded, read_windows

_FORWARD = {1: op.conv1d, 2: op.conv2d, 3: op.conv3d}
_TRANSPOSED = {1: op.conv1d_transpose, 2: op.conv2d_transpose, 3: op.conv3d_transpose}


def check_axes(ctx: Lowering, count: int) -> None:
    """Refuses windows over more axes than there are ops for."""
    if count not in _FORWARD:
        raise ctx.unsupported(f"windows over {count} axes; one to three are supported")


def convolve(ctx: Lowering, x: Value, weight: Value, windows: Windows | None = None, **options: Any) -> Value:
    """A convolution by the attributes of the node."""
    check_axes(ctx, x.ndim - 2)
    kernel = [
        size if isinstance(size, int) else given
        for size, given in zip(weight.shape[2:], ctx.ints("kernel_shape", weight.shape[2:]))
    ]
    windows = windows or read_windows(ctx, x.shape[2:], kernel)
    if windows.is_padded_by_numbers:
        options["padding"] = windows.padding
    else:
        x = padded(x, windows.pads)
    groups = ctx.int("group", 1)
    options |= {"strides": windows.strides, "dilation": windows.dilations, "groups": groups}
    return _FORWARD[x.ndim - 2](x, weight, **options)


def with_bias(x: Value, bias: Value | None) -> Value:
    """A number added to each channel."""
    return x if bias is None else op.add(x, op.reshape(bias, [bias.shape[0], *[1] * (x.ndim - 2)]))


@register("Conv")
def convolution(ctx: Lowering, x: Value, weight: Value, bias: Value | None = None) -> Value:
    return with_bias(convolve(ctx, x, weight), bias)


@register("ConvTranspose")
def transposed_convolution(ctx: Lowering, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """The whole result, of which padding cuts off the ends; a size that is given decides how much."""
    count = x.ndim - 2
    check_axes(ctx, count)
    extra = ctx.ints("output_padding", [0] * count)
    windows = read_windows(_without_padding(ctx), x.shape[2:], weight.shape[2:])
    options = {"strides": windows.strides, "dilation": windows.dilations, "groups": ctx.int("group", 1)}
    pads = _cut(ctx, x, windows, extra)
    if all(isinstance(entry, int) and entry >= 0 for pair in pads for entry in pair) and _fits(windows, extra):
        whole = dataclasses.replace(windows, pads=pads)
        made = _TRANSPOSED[count](x, weight, padding=whole.padding, output_padding=extra, **options)
    else:
        made = _TRANSPOSED[count](x, weight, **options)
        made = padded(made, [(-before, more - after) for (before, after), more in zip(pads, extra)])
    return with_bias(made, bias)


def _fits(windows: Windows, extra: list[int]) -> bool:
    """Whether the op takes the output padding as its own."""
    return all(more < max(pair) for more, pair in zip(extra, zip(windows.strides, windows.dilations)))


def _without_padding(ctx: Lowering) -> Lowering:
    """The node without the padding that follows from sizes, which is another one for a transposed convolution."""
    node = dataclasses.replace(
        ctx.node, attributes={key: value for key, value in ctx.node.attributes.items() if key != "auto_pad"}
    )
    return Lowering(ctx.importer, node, ctx.version, ctx.operands)


def _cut(ctx: Lowering, x: Value, windows: Windows, extra: list[int]) -> list[tuple[ExprLike, ExprLike]]:
    """How much of the whole result is cut off at both ends of each axis."""
    sizes, mode = ctx.ints("output_shape", None), ctx.text("auto_pad", "NOTSET")
    if sizes is None and mode in ("NOTSET", ""):
        return windows.pads
    if sizes is None and mode == "VALID":
        return [(0, 0) for _ in extra]
    wanted = (
        sizes[-len(extra) :]
        if sizes is not None
        else [size * stride for size, stride in zip(x.shape[2:], windows.strides)]
    )
    pairs: list[tuple[ExprLike, ExprLike]] = []
    for axis, size in enumerate(wanted):
        whole = (x.shape[2 + axis] - 1) * windows.strides[axis] + windows.span(axis) + extra[axis]
        total = whole - size
        if isinstance(total, int) and total < 0:
            pairs.append((0, total))
            continue
        half = total // 2
        pairs.append((half, total - half) if mode == "SAME_UPPER" else (total - half, half))
    return pairs


@register_data("DeformConv")
def deformable_convolution(
    ctx: Lowering, x: Data, weight: Data, offset: Data, bias: Data | None = None, mask: Data | None = None
) -> Value:
    """Each element of a window is read at a place of its own, between elements, and zero outside."""
    from .image import deformed_windows

    image, kernel, shift = ctx.value(x), ctx.value(weight), ctx.value(offset)
    if image.ndim != 4:
        raise ctx.unsupported(f"an input of rank {image.ndim}; images of two axes are supported")
    sizes = ctx.ints("kernel_shape", list(kernel.shape[2:]))
    windows = read_windows(ctx, image.shape[2:], sizes)
    groups, parts = ctx.int("group", 1), ctx.int("offset_group", 1)
    columns = deformed_windows(ctx, image, shift, ctx.value(mask), windows, parts)  # [n, c, kernel, oh * ow]
    n, c, area, places = columns.shape
    m = kernel.shape[0]
    columns = op.reshape(columns, (n, groups, c // groups * area, places))
    kernel = op.reshape(kernel, (1, groups, m // groups, kernel.shape[1] * area))
    made = op.reshape(op.matmul(kernel, columns), (n, m, *shift.shape[2:]))
    return with_bias(made, ctx.value(bias))
