# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized programs of PyTorch's export and of torchao: weights stay in their integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....dtypes import integer_range
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_PER_TENSOR = "quantized_decomposed::"


def _limited(ctx: Lowering, x: Value, low: Any, high: Any, dtype: str) -> Value:
    """Whole numbers of f32 in an integer type, after they are limited."""
    limited = op.minimum(op.maximum(x, ctx.tensor(float(low), x.dtype)), ctx.tensor(float(high), x.dtype))
    return op.astype(limited, dtype)


def _quantized(ctx: Lowering, x: Value, scale: Value, zero: Value, low: Any, high: Any, dtype: str) -> Value:
    scaled = op.round(op.divide(ctx.cast(x, "f32"), ctx.cast(scale, "f32")))
    return _limited(ctx, op.add(scaled, ctx.cast(zero, "f32")), low, high, dtype)


def _dequantized(ctx: Lowering, x: Value, scale: Value, zero: Value | None, dtype: str) -> Value:
    """Computed in f32, which holds the differences exactly."""
    numbers = op.astype(x, "f32")
    if zero is not None:
        numbers = op.subtract(numbers, ctx.cast(zero, "f32"))
    return ctx.cast(op.multiply(numbers, ctx.cast(scale, "f32")), dtype)


@register(f"{_PER_TENSOR}quantize_per_tensor")
def quantize_tensor(
    ctx: Lowering, x: Value, scale: Any, zero: Any, quant_min: Any, quant_max: Any, dtype: str, **kwargs: Any
) -> Value:
    return _quantized(ctx, x, ctx.tensor(scale, "f32"), ctx.tensor(zero, "f32"), quant_min, quant_max, dtype)


@register(f"{_PER_TENSOR}dequantize_per_tensor")
def dequantize_tensor(ctx: Lowering, x: Value, scale: Any, zero: Any, *args: Any, **kwargs: Any) -> Value:
    return _dequantized(ctx, x, ctx.tensor(scale, "f32"), ctx.tensor(zero, "f32"), ctx.dtype)


def _for_channel(x: Value, values: Value, axis: int) -> Value:
    """One value for each index of an axis, to be broadcast."""
    shape = [1] * x.ndim
    shape[axis % x.ndim] = -1
    return op.reshape(values, shape)


@register(f"{_PER_TENSOR}quantize_per_channel")
def quantize_channels(
    ctx: Lowering, x: Value, scales: Value, zeros: Value, axis: int, quant_min: Any, quant_max: Any, dtype: str
) -> Value:
    scale, zero = _for_channel(x, scales, axis), _for_channel(x, zeros, axis)
    return _quantized(ctx, x, scale, zero, quant_min, quant_max, dtype)


@register(f"{_PER_TENSOR}dequantize_per_channel")
def dequantize_channels(
    ctx: Lowering, x: Value, scales: Value, zeros: Value | None, axis: int, *args: Any, **kwargs: Any
) -> Value:
    scale, zero = _for_channel(x, scales, axis), None if zeros is None else _for_channel(x, zeros, axis)
    return _dequantized(ctx, x, scale, zero, ctx.dtype)


def _in_blocks(x: Value, block: Sequence[int]) -> tuple[Value, list[Any]]:
    """The tensor with each axis in two, blocks and places in them, and the shape of one value for each block."""
    split: list[Any] = []
    scales: list[Any] = []
    for size, length in zip(x.shape, block):
        length = size if length == -1 else length
        split += [size // length if length != size else 1, length]
        scales += [size // length if length != size else 1, 1]
    return op.reshape(x, split), scales


@register("torchao::quantize_affine")
def quantize_affine(
    ctx: Lowering, x: Value, block_size: Sequence[int], scale: Value, zero: Value | None, dtype: str, *args: Any
) -> Value:
    low, high = _limits(dtype, args)
    blocks, shape = _in_blocks(x, block_size)
    zero = op.constant(np.float32(0)) if zero is None else op.reshape(zero, shape)
    made = _quantized(ctx, blocks, op.reshape(scale, shape), zero, low, high, dtype)
    return op.reshape(made, x.shape)


@register("torchao::dequantize_affine")
def dequantize_affine(
    ctx: Lowering, x: Value, block_size: Sequence[int], scale: Value, zero: Value | None, *args: Any, **kwargs: Any
) -> Value:
    blocks, shape = _in_blocks(x, block_size)
    zero = None if zero is None else op.reshape(zero, shape)
    return op.reshape(_dequantized(ctx, blocks, op.reshape(scale, shape), zero, ctx.dtype), x.shape)


@register("torchao::choose_qparams_affine")
def choose_parameters(
    ctx: Lowering, x: Value, mapping: str, block_size: Sequence[int], dtype: str, *args: Any
) -> tuple[Value, Value]:
    """Scales (and zero points, all zero) with which the greatest element of each block fits: the symmetric mapping."""
    if mapping != "SYMMETRIC":
        raise ctx.unsupported(f"the mapping {mapping}; there is SYMMETRIC")
    low, high, eps, scale_dtype, zero_dtype = (*args, *(None,) * 5)[:5]
    low, high = _limits(dtype, (low, high))
    blocks, _ = _in_blocks(x, block_size)
    axes = list(range(1, blocks.ndim, 2))
    blocks = ctx.cast(blocks, "f32")
    zero = op.constant(np.float32(0))
    greatest = op.maximum(op.max(blocks, axes), zero)
    least = op.minimum(op.min(blocks, axes), zero)
    span = op.maximum(op.negative(least), greatest)
    scale = op.divide(span, op.constant(np.float32((high - low) / 2)))
    scale = op.maximum(scale, op.constant(np.float32(np.finfo(np.float32).eps if eps is None else eps)))
    shapes = [ctx.shape_of(example) for example in ctx.results]
    zeros = op.zeros(shapes[1], zero_dtype or "i32")
    return op.reshape(ctx.cast(scale, scale_dtype or x.dtype), shapes[0]), zeros


def _limits(dtype: str, given: Sequence[Any]) -> tuple[int, int]:
    low, high = (*given, None, None)[:2]
    least, greatest = integer_range(dtype)
    return (least if low is None else low, greatest if high is None else high)
