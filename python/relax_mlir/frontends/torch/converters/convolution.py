# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and transposed convolutions over one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_FORWARD = {1: op.conv1d, 2: op.conv2d, 3: op.conv3d}
_TRANSPOSED = {1: op.conv1d_transpose, 2: op.conv2d_transpose, 3: op.conv3d_transpose}


@register("aten::conv1d", "aten::conv2d", "aten::conv3d")
def convolution(
    ctx: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    count = weight.ndim - 2
    if isinstance(padding, str):
        padding = _padding_of(padding, weight.shape[2:], _each(dilation, count))
        if not all(isinstance(width, int) for width in padding):
            # Widths that depend on the kernel's dynamic size are padded before.
            x = op.pad(x, [0] * (2 * (x.ndim - count)) + [width for pair in _pairs(padding) for width in pair])
            padding = 0
    options = {"strides": _each(stride, count), "padding": _each(padding, count), "dilation": _each(dilation, count)}
    return _batched(x, count, lambda x: _with_bias(forward(x, weight, groups=groups, **options), bias))


@register("aten::conv_transpose1d", "aten::conv_transpose2d.input", "aten::conv_transpose3d.input")
def transposed_convolution(
    ctx: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Value:
    count = weight.ndim - 2
    options = {
        "strides": _each(stride, count),
        "padding": _each(padding, count),
        "output_padding": _each(output_padding, count),
        "dilation": _each(dilation, count),
        "groups": groups,
    }
    return _batched(x, count, lambda x: _with_bias(transposed(x, weight, **options), bias))


@register("aten::convolution")
def any_convolution(
    ctx: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Value:
    if transposed:
        return transposed_convolution(ctx, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolution(ctx, x, weight, bias, stride, padding, dilation, groups)


def forward(x: Value, weight: Value, **options: Any) -> Value:
    """The convolution over as many axes as the kernel has."""
    return _FORWARD[weight.ndim - 2](x, weight, **options)


def transposed(x: Value, weight: Value, **options: Any) -> Value:
    """The transposed convolution over as many axes as the kernel has."""
    return _TRANSPOSED[weight.ndim - 2](x, weight, **options)


def _each(value: Any, count: int) -> list[int]:
    """One number for each axis."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _padding_of(kind: str, kernel: Sequence[ExprLike], dilation: Sequence[int]) -> list[ExprLike]:
    """The padding before, then after, for each axis."""
    if kind == "valid":
        return [0] * len(kernel)
    totals = [step * (size - 1) for size, step in zip(kernel, dilation)]
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


def _pairs(padding: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The padding before and after each axis, of all those before, then all those after."""
    count = len(padding) // 2
    return list(zip(padding[:count], padding[count:]))


def _batched(x: Value, count: int, function: Any) -> Value:
    """The function of a batch; one image without a batch becomes a batch of one."""
    if x.ndim == count + 2:
        return function(x)
    return op.squeeze(function(op.expand_dims(x, [0])), [0])


def _with_bias(x: Value, bias: Value | None) -> Value:
    return x if bias is None else op.add(x, op.reshape(bias, [-1, *[1] * (x.ndim - 2)]))
