# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling over one to three axes."""

from __future__ import annotations

from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .convolution import _batched, _each

_MAX = {1: op.max_pool1d, 2: op.max_pool2d, 3: op.max_pool3d}
_MEAN = {1: op.avg_pool1d, 2: op.avg_pool2d, 3: op.avg_pool3d}
_ADAPTIVE = {1: op.adaptive_avg_pool1d, 2: op.adaptive_avg_pool2d, 3: op.adaptive_avg_pool3d}


def _axes(ctx: Lowering) -> int:
    """The number of axes, which the name of the op has."""
    return int(ctx.name.partition("d.")[0][-1])


@register("aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d")
def max_pool(
    ctx: Lowering,
    x: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: Any = False,
) -> Value:
    count = _axes(ctx)
    kernel = _each(kernel_size, count)
    options = {
        "pool_size": kernel,
        "strides": _each(stride, count) if stride else kernel,
        "padding": _each(padding, count),
        "dilation": _each(dilation, count),
        "ceil_mode": bool(ceil_mode),
    }
    return _batched(x, count, lambda x: _MAX[count](x, **options))


@register("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def mean_pool(
    ctx: Lowering,
    x: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    count = _axes(ctx)
    kernel = _each(kernel_size, count)
    if divisor_override and ceil_mode:
        raise ctx.unsupported("ceil_mode together with divisor_override; give one of them")
    options = {
        "pool_size": kernel,
        "strides": _each(stride, count) if stride else kernel,
        "padding": _each(padding, count),
        "ceil_mode": bool(ceil_mode),
        "count_include_pad": bool(count_include_pad or divisor_override),
    }
    made = _batched(x, count, lambda x: _MEAN[count](x, **options))
    if not divisor_override:
        return made
    total = 1
    for size in kernel:
        total *= size
    return op.multiply(made, ctx.tensor(total / divisor_override, x.dtype))


@register("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::adaptive_avg_pool3d")
@register("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_mean_pool(ctx: Lowering, x: Value, output_size: Any) -> Value:
    count = _axes(ctx)
    sizes = ctx.shape[-count:]
    return _batched(x, count, lambda x: _ADAPTIVE[count](x, sizes))
