# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms, which stay whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .... import op
from ....values import Value
from ..dtypes import from_torch, to_torch
from ..lowering import NARROW, Lowering, wide_type
from ..registry import register


def _last_axes(ctx: Lowering, x: Value, shape: Sequence[Any]) -> list[int]:
    return list(range(x.ndim - len(shape), x.ndim))


@register("aten::layer_norm")
def layer_norm(
    ctx: Lowering,
    x: Value,
    normalized_shape: Sequence[Any],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:
    axes = _last_axes(ctx, x, normalized_shape)
    if eps < 0:
        return _scaled(ctx, _by_hand(ctx, x, axes, eps), weight, bias)
    return op.layer_norm(x, axes, weight, bias, eps)


def _by_hand(ctx: Lowering, x: Value, axes: Sequence[int], eps: float, keeps_mean: bool = False) -> Value:
    """A norm with a negative epsilon, which ours have no room for."""
    centered = x if keeps_mean else op.subtract(x, op.mean(x, axes, True))
    spread = op.mean(op.square(x), axes, True) if keeps_mean else op.variance(x, axes, True)
    return op.multiply(centered, op.rsqrt(op.add(spread, ctx.tensor(float(eps), x.dtype))))


def _scaled(ctx: Lowering, x: Value, weight: Value | None, bias: Value | None = None) -> Value:
    x = x if weight is None else op.multiply(x, weight)
    return x if bias is None else op.add(x, bias)


@register("aten::native_layer_norm")
def native_layer_norm(
    ctx: Lowering, x: Value, normalized_shape: Sequence[Any], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value | None, Value | None]:
    """The result with the mean and one over the root of the variance."""
    axes = _last_axes(ctx, x, normalized_shape)
    result = layer_norm(ctx, x, normalized_shape, weight, bias, eps)
    return result, *_statistics(ctx, x, axes, eps)


def _statistics(ctx: Lowering, x: Value, axes: Sequence[int], eps: float) -> tuple[Value | None, Value | None]:
    """The mean and one over the root of the variance, in the type that PyTorch has them in; what is used of them."""
    mean, scale = (from_torch(example.dtype) for example in ctx.results[1:3])
    rank = ctx.results[1].ndim
    keeps = rank == x.ndim
    wide = ctx.cast(x, wide_type(x.dtype))
    epsilon = ctx.tensor(float(eps), wide.dtype)
    return (
        ctx.cast(op.mean(wide, axes, keeps), mean) if ctx.uses_result(1) else None,
        ctx.cast(op.rsqrt(op.add(op.variance(wide, axes, keeps), epsilon)), scale) if ctx.uses_result(2) else None,
    )


@register("aten::rms_norm", "aten::_fused_rms_norm")
def rms_norm(
    ctx: Lowering, x: Value, normalized_shape: Sequence[Any], weight: Value | None = None, eps: float | None = None
) -> Any:
    axes = _last_axes(ctx, x, normalized_shape)
    epsilon = torch.finfo(to_torch(x.dtype)).eps if eps is None else eps
    if epsilon < 0:
        return _scaled(ctx, _by_hand(ctx, x, axes, epsilon, keeps_mean=True), weight)
    result = op.rms_norm(x, axes, weight, epsilon)
    if len(ctx.results) == 1:
        return result
    mean = op.add(op.mean(op.square(x), axes, True), ctx.tensor(float(epsilon), x.dtype))
    return result, op.rsqrt(mean)


@register("aten::group_norm")
def group_norm(
    ctx: Lowering,
    x: Value,
    num_groups: int,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    if eps < 0:
        groups = op.reshape(x, (x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:]))
        made = op.reshape(_by_hand(ctx, groups, list(range(2, groups.ndim)), eps), x.shape)
        shape = [-1, *[1] * (x.ndim - 2)]
        gamma, beta = (None if part is None else op.reshape(part, shape) for part in (weight, bias))
        return _scaled(ctx, made, gamma, beta)
    return op.group_norm(x, num_groups, 1, list(range(2, x.ndim)), weight, bias, eps)


@register("aten::native_group_norm")
def native_group_norm(
    ctx: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    batch: Any,
    channels: Any,
    pixels: Any,
    groups: int,
    eps: float,
) -> tuple[Value, Value | None, Value | None]:
    """The result with the mean and one over the root of the variance of each group."""
    result = group_norm(ctx, x, groups, weight, bias, eps)
    return result, *_statistics(ctx, op.reshape(x, (x.shape[0], groups, -1)), [2], eps)


@register("aten::instance_norm")
def instance_norm(
    ctx: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Value:
    if use_input_stats and running_mean is not None:
        raise ctx.unsupported("it updates its running statistics; export the model after model.eval()")
    if not use_input_stats:
        return _normalized(ctx, x, weight, bias, running_mean, running_var, eps)
    return op.instance_norm(x, 1, list(range(2, x.ndim)), weight, bias, eps)


@register("aten::batch_norm")
def batch_norm(
    ctx: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Value:
    """With statistics of the batch where it is in training, and has no running ones to update (decompositions.py)."""
    if not training:
        return _normalized(ctx, x, weight, bias, running_mean, running_var, eps)
    if running_mean is not None:
        raise ctx.unsupported("it updates its running statistics; export the model after model.eval()")
    mean, variance = _channel_statistics(ctx, x)
    return _normalized(ctx, x, weight, bias, mean, variance, eps)


def _channel_statistics(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    """Mean and variance of each channel; of narrow types in f32."""
    wide = ctx.cast(x, wide_type(x.dtype))
    axes = [axis for axis in range(x.ndim) if axis != 1]
    return op.mean(wide, axes), op.variance(wide, axes)


@register("aten::_native_batch_norm_legit_no_training", "aten::_batch_norm_no_update")
def native_batch_norm(
    ctx: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value, ...]:
    """The result; the saved statistics are empty, as PyTorch's are outside of training."""
    result = _normalized(ctx, x, weight, bias, running_mean, running_var, eps)
    return (result, *(op.zeros(ctx.shape_of(example), x.dtype) for example in ctx.results[1:]))


@register("aten::_native_batch_norm_legit.no_stats", "aten::_native_batch_norm_legit_functional")
def batch_norm_in_training(
    ctx: Lowering, x: Value, weight: Value | None, bias: Value | None, *args: Any
) -> tuple[Value, ...]:
    """The result, the mean and one over the deviation of the batch, then, if there are any, new running values."""
    *running, training, momentum, eps = args
    if not training:
        result = _normalized(ctx, x, weight, bias, running[0], running[1], eps)
        saved = [op.zeros(ctx.shape_of(example), from_torch(example.dtype)) for example in ctx.results[1:3]]
        return _as_found(ctx, result, *saved, *running)
    mean, variance = _channel_statistics(ctx, x)
    scale = op.rsqrt(op.add(variance, ctx.tensor(float(eps), variance.dtype)))
    result = _normalized(ctx, x, weight, bias, mean, variance, eps)
    if not running:
        return _as_found(ctx, result, mean, scale)
    count = 1
    for axis, size in enumerate(x.shape):
        count = count if axis == 1 else count * size
    factor = op.divide(ctx.tensor(count, "f64"), ctx.tensor(count - 1, "f64"))
    unbiased = op.multiply(variance, op.astype(factor, variance.dtype))
    new = [_updated(ctx, old, now, momentum) for old, now in zip(running, (mean, unbiased))]
    return _as_found(ctx, result, mean, scale, *new)


def _as_found(ctx: Lowering, *made: Value) -> tuple[Value, ...]:
    """Statistics with the element types that the trace has found, which depend on those of several operands."""
    examples = [example for example in ctx.results if example.dtype != torch.uint8]  # without a reserve
    return tuple(ctx.cast(value, from_torch(example.dtype)) for value, example in zip(made, examples))


def _updated(ctx: Lowering, old: Value, now: Value, momentum: float) -> Value:
    """A running value, which moves towards the present one."""
    kept, added = (ctx.tensor(share, now.dtype) for share in (1 - momentum, momentum))
    made = op.add(op.multiply(ctx.cast(old, now.dtype), kept), op.multiply(now, added))
    return ctx.cast(made, old.dtype)


@register("aten::_batch_norm_with_update_functional")
def batch_norm_with_update(
    ctx: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value, ...]:
    """As in training, with a reserve for the gradient, which is empty on the CPU."""
    result, mean, scale, *new = batch_norm_in_training(
        ctx, x, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return result, mean, scale, op.zeros((0,), "u8"), *new


def _normalized(
    ctx: Lowering, x: Value, weight: Value | None, bias: Value | None, mean: Any, variance: Any, eps: float
) -> Value:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` for each channel; statistics may be wider than `x`."""
    if x.dtype in NARROW:
        weight, bias = (None if value is None else ctx.cast(value, "f32") for value in (weight, bias))
        mean, variance = ctx.cast(mean, "f32"), ctx.cast(variance, "f32")
        return op.astype(_normalized(ctx, ctx.cast(x, "f32"), weight, bias, mean, variance, eps), x.dtype)
    channels = x.shape[1]
    ones, zeros = (function((channels,), x.dtype) for function in (op.ones, op.zeros))
    gamma = ones if weight is None else ctx.cast(weight, x.dtype)
    beta = zeros if bias is None else ctx.cast(bias, x.dtype)
    return op.batch_norm(x, gamma, beta, ctx.cast(mean, x.dtype), ctx.cast(variance, x.dtype), 1, eps)[0]


@register("aten::_weight_norm", "aten::_weight_norm_interface")
def weight_norm(ctx: Lowering, v: Value, g: Value, dim: int = 0) -> Any:
    """`v * (g / norm(v))` with the norm over all axes but `dim`."""
    axes = list(range(v.ndim)) if dim == -1 else [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    norm = op.sqrt(op.sum(op.square(v), axes, True))
    result = op.multiply(v, op.divide(g, norm))
    return result if len(ctx.results) == 1 else (result, norm)
