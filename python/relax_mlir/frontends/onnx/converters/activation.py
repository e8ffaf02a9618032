# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _is_narrow(x: Value) -> bool:
    return x.dtype in ("f16", "bf16")


def in_f32(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that computes in f32 where its operand is narrower, and rounds once."""

    def call(ctx: Lowering, x: Value, *others: Any) -> Value:
        if not _is_narrow(x):
            return function(ctx, x, *others)
        return op.astype(function(ctx, op.astype(x, "f32"), *others), x.dtype)

    return call


def _simple(name: str, function: Callable[[Lowering, Value], Value]) -> None:
    register(name)(in_f32(function))


def _shrink(ctx: Lowering, x: Value) -> Value:
    limit, bias = ctx.float("lambd", 0.5), ctx.scalar(ctx.float("bias", 0.0), x.dtype)
    zero = ctx.scalar(0, x.dtype)
    above = op.where(op.greater(x, ctx.scalar(limit, x.dtype)), op.subtract(x, bias), zero)
    return op.where(op.less(x, ctx.scalar(-limit, x.dtype)), op.add(x, bias), above)


def elu(ctx: Lowering, x: Value, alpha: float) -> Value:
    negative = op.multiply(ctx.scalar(alpha, x.dtype), op.expm1(x))
    return op.where(op.less(x, ctx.scalar(0, x.dtype)), negative, x)


def _celu(ctx: Lowering, x: Value) -> Value:
    alpha = ctx.scalar(ctx.float("alpha", 1.0), x.dtype)
    zero = ctx.scalar(0, x.dtype)
    negative = op.multiply(alpha, op.expm1(op.divide(op.minimum(x, zero), alpha)))
    return op.add(op.maximum(x, zero), negative)


def _selu(ctx: Lowering, x: Value) -> Value:
    gamma = ctx.scalar(ctx.float("gamma", _SELU_GAMMA), x.dtype)
    return op.multiply(gamma, elu(ctx, x, ctx.float("alpha", _SELU_ALPHA)))


def hard_sigmoid(ctx: Lowering, x: Value, alpha: float, beta: float) -> Value:
    line = op.add(op.multiply(x, ctx.scalar(alpha, x.dtype)), ctx.scalar(beta, x.dtype))
    return op.minimum(op.maximum(line, ctx.scalar(0, x.dtype)), ctx.scalar(1, x.dtype))


def softplus(ctx: Lowering, x: Value) -> Value:
    """`log(1 + exp(x))` without overflow."""
    zero = ctx.scalar(0, x.dtype)
    return op.add(op.maximum(x, zero), op.log1p(op.exp(op.negative(op.abs(x)))))


def softsign(ctx: Lowering, x: Value) -> Value:
    return op.divide(x, op.add(op.abs(x), ctx.scalar(1, x.dtype)))


def thresholded_relu(ctx: Lowering, x: Value, alpha: float) -> Value:
    return op.where(op.greater(x, ctx.scalar(alpha, x.dtype)), x, ctx.scalar(0, x.dtype))


def _gelu(ctx: Lowering, x: Value) -> Value:
    kind = ctx.text("approximate", "none")
    if kind not in ("none", "tanh"):
        raise ctx.unsupported(f"the approximation '{kind}'; expected none or tanh", "approximate")
    return op.gelu_tanh(x) if kind == "tanh" else op.gelu(x)


def _swish(ctx: Lowering, x: Value) -> Value:
    return op.multiply(x, op.sigmoid(op.multiply(x, ctx.scalar(ctx.float("alpha", 1.0), x.dtype))))


register("Relu")(lambda ctx, x: op.maximum(x, ctx.scalar(0, x.dtype)))
_simple("Sigmoid", lambda ctx, x: op.sigmoid(x))
_simple("Tanh", lambda ctx, x: op.tanh(x))
_simple("Elu", lambda ctx, x: elu(ctx, x, ctx.float("alpha", 1.0)))
_simple("Celu", _celu)
_simple("Selu", _selu)
_simple("Shrink", _shrink)
_simple("Softplus", softplus)
_simple("Softsign", softsign)
_simple("HardSigmoid", lambda ctx, x: hard_sigmoid(ctx, x, ctx.float("alpha", 0.2), ctx.float("beta", 0.5)))
_simple("HardSwish", lambda ctx, x: op.multiply(x, hard_sigmoid(ctx, x, 1 / 6, 0.5)))
_simple("Mish", lambda ctx, x: op.multiply(x, op.tanh(softplus(ctx, x))))
_simple("ThresholdedRelu", lambda ctx, x: thresholded_relu(ctx, x, ctx.float("alpha", 1.0)))
_simple("Gelu", _gelu)
_simple("Swish", _swish)


@register("LeakyRelu")
def leaky_relu(ctx: Lowering, x: Value) -> Value:
    slope = ctx.scalar(ctx.float("alpha", 0.01), x.dtype)
    return op.where(op.less(x, ctx.scalar(0, x.dtype)), op.multiply(x, slope), x)


@register("PRelu")
def prelu(ctx: Lowering, x: Value, slope: Value) -> Value:
    """The slope broadcasts to the input; before version 7 it is one for each channel."""
    if ctx.version < 7 and slope.ndim == 1 and x.ndim > 2:
        slope = op.reshape(slope, [slope.shape[0], *[1] * (x.ndim - 2)])
    return op.where(op.less(x, ctx.scalar(0, x.dtype)), op.multiply(x, slope), x)
