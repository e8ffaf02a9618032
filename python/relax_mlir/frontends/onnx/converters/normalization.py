# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalization by mean and variance."""

from __future__ import annotations

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..lowering import Lowering
from ..registry import register


def _spread(values: Value, rank: int) -> Value:
    """One value for each channel, to be broadcast."""
    return op.reshape(values, [values.shape[0], *[1] * (rank - 2)])


@register("BatchNormalization")
def batch_normalization(
    ctx: Lowering, x: Value, scale: Value, bias: Value, mean: Value, variance: Value
) -> tuple[Value, ...] | Value:
    """With the statistics that are given, or in training with those of the batch, which also update the given ones."""
    epsilon, momentum = ctx.float("epsilon", 1e-5), ctx.float("momentum", 0.9)
    is_training = bool(ctx.int("training_mode", 0))
    narrow = x.dtype in ("f16", "bf16")
    wide = "f32" if narrow else x.dtype
    given = ctx.cast(x, wide)
    scale, bias, mean, variance = (ctx.cast(part, wide) for part in (scale, bias, mean, variance))
    if x.ndim == 1:
        given = op.expand_dims(given, [1])
    options = {"axis": 1, "epsilon": epsilon, "momentum": 1 - momentum, "training": is_training}
    made, new_mean, new_variance = op.batch_norm(given, scale, bias, mean, variance, **options)
    made = op.reshape(ctx.cast(made, x.dtype), list(x.shape))
    return (made, new_mean, new_variance) if is_training else made


@register("InstanceNormalization")
def instance_normalization(ctx: Lowering, x: Value, scale: Value, bias: Value) -> Value:
    narrow = x.dtype in ("f16", "bf16")
    given = op.astype(x, "f32") if narrow else x
    scale, bias = ctx.cast(scale, given.dtype), ctx.cast(bias, given.dtype)
    axes = list(range(2, x.ndim))
    return ctx.cast(op.instance_norm(given, 1, axes, scale, bias, ctx.float("epsilon", 1e-5)), x.dtype)


@register("GroupNormalization")
def group_normalization(ctx: Lowering, x: Value, scale: Value, bias: Value) -> Value:
    """Scale and bias are one for each channel; before version 21, one for each group."""
    groups, axes = ctx.int("num_groups"), list(range(2, x.ndim))
    wide = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    made = op.group_norm(ctx.cast(x, wide), groups, 1, axes, None, None, ctx.float("epsilon", 1e-5))
    scale, bias = ctx.cast(scale, wide), ctx.cast(bias, wide)
    if ctx.version < 21:
        scale, bias = (_for_channels(part, x.shape[1], groups) for part in (scale, bias))
    made = op.add(op.multiply(made, _spread(scale, x.ndim)), _spread(bias, x.ndim))
    return ctx.cast(made, x.dtype)


def _for_channels(values: Value, channels: ExprLike, groups: int) -> Value:
    """One value for each group as one for each channel."""
    spread = op.broadcast_to(op.expand_dims(values, [1]), (groups, channels // groups))
    return op.reshape(spread, (channels,))


@register("LayerNormalization")
def layer_normalization(ctx: Lowering, x: Value, scale: Value, bias: Value | None = None) -> tuple[Value, ...] | Value:
    axis = ctx.axis(ctx.int("axis", -1), x.ndim)
    return layer_norm(ctx, x, scale, bias, axis, ctx.float("epsilon", 1e-5))


def layer_norm(
    ctx: Lowering, x: Value, scale: Value, bias: Value | None, axis: int, epsilon: float
) -> tuple[Value, ...] | Value:
    """Normalization over the axes from one on; with mean and the inverse of the deviation, where they are used."""
    axes = list(range(axis, x.ndim))
    wide = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    given = ctx.cast(x, wide)
    made = op.layer_norm(given, axes, None, None, epsilon)
    made = op.multiply(made, ctx.cast(scale, wide))
    if bias is not None:
        made = op.add(made, ctx.cast(bias, wide))
    made = ctx.cast(made, x.dtype)
    if not (ctx.uses_output(1) or ctx.uses_output(2)):
        return made
    mean = op.mean(given, axes, True)
    inverse = op.rsqrt(op.add(op.variance(given, axes, True), ctx.scalar(epsilon, wide)))
    return made, mean, inverse


@register("RMSNormalization")
def rms_normalization(ctx: Lowering, x: Value, scale: Value) -> Value:
    return rms_norm(ctx, x, scale, ctx.axis(ctx.int("axis", -1), x.ndim), ctx.float("epsilon", 1e-5))


def rms_norm(ctx: Lowering, x: Value, scale: Value, axis: int, epsilon: float) -> Value:
    """The tensor divided by the root of the mean of its squares over the axes from one on."""
    axes = list(range(axis, x.ndim))
    wide = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    made = op.rms_norm(ctx.cast(x, wide), axes, None, epsilon)
    return ctx.cast(op.multiply(made, ctx.cast(scale, wide)), x.dtype)


@register("MeanVarianceNormalization")
def mean_variance_normalization(ctx: Lowering, x: Value) -> Value:
    axes = ctx.axes(ctx.ints("axes", [0, 2, 3]), x.ndim)
    centered = op.subtract(x, op.mean(x, axes, True))
    deviation = op.sqrt(op.mean(op.multiply(centered, centered), axes, True))
    return op.divide(centered, op.add(deviation, ctx.scalar(1e-9, x.dtype)))


@register("LRN")
def local_response_normalization(ctx: Lowering, x: Value) -> Value:
    """Divided by a power of the mean square of neighboring channels."""
    size, alpha = ctx.int("size"), ctx.float("alpha", 1e-4)
    beta, bias = ctx.float("beta", 0.75), ctx.float("bias", 1.0)
    before, channels = (size - 1) // 2, x.shape[1]
    widths = [0] * (2 * x.ndim)
    widths[2], widths[3] = before, size - 1 - before
    squares = op.pad(op.multiply(x, x), widths)
    total = None
    for step in range(size):
        part = op.strided_slice(squares, [1], [step], [channels + step])
        total = part if total is None else op.add(total, part)
    assert total is not None
    scale = op.add(op.multiply(total, ctx.scalar(alpha / size, x.dtype)), ctx.scalar(bias, x.dtype))
    return op.divide(x, op.power(scale, ctx.scalar(beta, x.dtype)))
