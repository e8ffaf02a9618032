# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, which stay one op where we have one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering, in_f32
from ..registry import register


def _activation(name: str, function: Callable[[Value], Value]) -> None:
    def convert(ctx: Lowering, x: Value) -> Value:
        return function(ctx.cast(x, ctx.dtype))

    convert.__name__ = name
    register(f"aten::{name}")(convert)


_activation("silu", op.silu)
_activation("selu", op.selu)
_activation("hardsigmoid", op.hard_sigmoid)
_activation("hardswish", op.hard_swish)


@register("aten::relu")
def relu(ctx: Lowering, x: Value) -> Value:
    return op.relu(x) if x.dtype.startswith(("f", "bf")) else op.maximum(x, ctx.tensor(0, x.dtype))


@register("aten::relu6")
def relu6(ctx: Lowering, x: Value) -> Value:
    return hardtanh(ctx, x, 0.0, 6.0)


@register("aten::hardtanh")
def hardtanh(ctx: Lowering, x: Value, low: Any = -1.0, high: Any = 1.0) -> Value:
    return op.minimum(op.maximum(x, ctx.tensor(low, x.dtype)), ctx.tensor(high, x.dtype))


@register("aten::gelu")
def gelu(ctx: Lowering, x: Value, *, approximate: str = "none") -> Value:
    return op.gelu_tanh(x) if approximate == "tanh" else op.gelu(x)


@register("aten::mish")
@in_f32
def mish(ctx: Lowering, x: Value) -> Value:
    return op.multiply(x, op.tanh(op.softplus(x)))


@register("aten::leaky_relu")
def leaky_relu(ctx: Lowering, x: Value, negative_slope: float = 0.01) -> Value:
    return op.leakyrelu(x, float(negative_slope))


@register("aten::prelu", "aten::_prelu_kernel")
@in_f32
def prelu(ctx: Lowering, x: Value, weight: Value) -> Value:
    """The slopes belong to dimension 1, or are of the rank of the input and broadcast."""
    if weight.ndim == 1 and x.ndim > 1 and not ctx.is_one(weight.shape[0]):
        weight = op.reshape(weight, [-1, *[1] * (x.ndim - 2)])
    return op.where(op.greater(x, ctx.tensor(0.0, x.dtype)), x, op.multiply(x, weight))


@register("aten::elu")
@in_f32
def elu(ctx: Lowering, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Value:
    dtype = x.dtype
    below = op.multiply(op.expm1(op.multiply(x, ctx.tensor(input_scale, dtype))), ctx.tensor(alpha * scale, dtype))
    above = x if scale == 1 else op.multiply(x, ctx.tensor(scale, dtype))
    return op.where(op.greater(x, ctx.tensor(0.0, dtype)), above, below)


@register("aten::celu")
@in_f32
def celu(ctx: Lowering, x: Value, alpha: float = 1.0) -> Value:
    return elu(ctx, x, alpha, 1.0, 1.0 / alpha)


@register("aten::softplus")
def softplus(ctx: Lowering, x: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    return op.softplus(x, float(beta), float(threshold))


@register("aten::logsigmoid", "aten::log_sigmoid")
@in_f32
def log_sigmoid(ctx: Lowering, x: Value) -> Value:
    """`min(x, 0) - log1p(exp(-abs(x)))`, which neither overflows nor cancels."""
    zero = ctx.tensor(0.0, x.dtype)
    return op.subtract(op.minimum(x, zero), op.log1p(op.exp(op.negative(op.abs(x)))))


@register("aten::log_sigmoid_forward")
def log_sigmoid_forward(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    return log_sigmoid(ctx, x), op.zeros((0,), x.dtype)


@register("aten::glu")
@in_f32
def glu(ctx: Lowering, x: Value, dim: int = -1) -> Value:
    first, second = op.split(x, 2, ctx.axis(dim, x.ndim))
    return op.multiply(first, op.sigmoid(second))


@register("aten::threshold")
def threshold(ctx: Lowering, x: Value, threshold: Any, value: Any) -> Value:
    above = op.greater(x, ctx.tensor(threshold, x.dtype))
    return op.where(op.logical_or(above, op.isnan(x)), x, ctx.tensor(value, x.dtype))


@register("aten::softmax.int", "aten::_softmax", "aten::softmax")
def softmax(ctx: Lowering, x: Value, dim: int, *args: Any, **kwargs: Any) -> Value:
    x = ctx.cast(x, ctx.dtype)
    if x.ndim == 0:
        return op.where(op.isfinite(x), ctx.tensor(1.0, x.dtype), ctx.tensor(math.nan, x.dtype))
    return op.softmax(x, ctx.axis(dim, x.ndim))


@register("aten::_safe_softmax")
def safe_softmax(ctx: Lowering, x: Value, dim: int, dtype: str | None = None) -> Value:
    """Zeros, not NaN, where all elements are minus infinity."""
    x = ctx.cast(x, ctx.dtype)
    axis = ctx.axis(dim, x.ndim)
    is_hidden = op.all(op.equal(x, ctx.tensor(-math.inf, x.dtype)), [axis], True)
    return op.where(is_hidden, ctx.tensor(0.0, x.dtype), op.softmax(x, axis))


@register("aten::log_softmax.int", "aten::_log_softmax", "aten::log_softmax")
def log_softmax(ctx: Lowering, x: Value, dim: int, *args: Any, **kwargs: Any) -> Value:
    x = ctx.cast(x, ctx.dtype)
    if x.ndim == 0:
        return op.subtract(x, x)
    return op.log_softmax(x, ctx.axis(dim, x.ndim))
