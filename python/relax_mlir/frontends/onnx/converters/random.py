# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers: a hash of the position of each element and of a seed, so that each call gives the same ones.

ONNX leaves the generator open. Without a seed, nodes have different ones, which follow from their names.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data

_MULTIPLIERS = (0x85EBCA6B, 0xC2B2AE35)
"""Of the last steps of MurmurHash3 for 32 bits, which spread each bit over all others."""


def _uniform(ctx: Lowering, shape: Sequence[ExprLike], stream: int = 0) -> Value:
    """Numbers in [0, 1), in f32, with 24 random bits each."""
    seed = ctx.float("seed", None)
    name = ctx.node.name or ctx.node.outputs[0]
    start = zlib.crc32(name.encode() if seed is None else np.float32(seed).tobytes())
    count = math.prod(shape)
    bits = op.arange(0, count, 1, "u32")
    bits = op.multiply(bits, ctx.scalar(0x9E3779B1, "u32"))
    bits = op.add(bits, ctx.scalar((start + stream * 0x632BE5AB) % (1 << 32), "u32"))
    for shift, multiplier in zip((16, 13), _MULTIPLIERS):
        bits = op.bitwise_xor(bits, op.right_shift(bits, ctx.scalar(shift, "u32")))
        bits = op.multiply(bits, ctx.scalar(multiplier, "u32"))
    bits = op.bitwise_xor(bits, op.right_shift(bits, ctx.scalar(16, "u32")))
    numbers = op.astype(op.right_shift(bits, ctx.scalar(8, "u32")), "f32")
    return op.reshape(op.multiply(numbers, ctx.scalar(2.0**-24, "f32")), list(shape))


def _normal(ctx: Lowering, shape: Sequence[ExprLike]) -> Value:
    """Normally distributed numbers of mean 0 and deviation 1, by Box and Muller."""
    radius = op.subtract(ctx.scalar(1, "f32"), _uniform(ctx, shape))  # not zero
    radius = op.sqrt(op.multiply(ctx.scalar(-2, "f32"), op.log(radius)))
    angle = op.multiply(_uniform(ctx, shape, 1), ctx.scalar(2 * math.pi, "f32"))
    return op.multiply(radius, op.cos(angle))


def _made(ctx: Lowering, shape: Sequence[ExprLike], dtype: str) -> Value:
    if "Normal" in ctx.node.op:
        scale, start = ctx.float("scale", 1.0), ctx.float("mean", 0.0)
        numbers = _normal(ctx, shape)
    else:
        start = ctx.float("low", 0.0)
        scale, numbers = ctx.float("high", 1.0) - start, _uniform(ctx, shape)
    made = op.add(op.multiply(numbers, ctx.scalar(scale, "f32")), ctx.scalar(start, "f32"))
    return ctx.cast(made, dtype)


@register_data("RandomNormalLike", "RandomUniformLike")
def random_like(ctx: Lowering, like: Data) -> Value:
    return _made(ctx, like.shape, ctx.dtype("dtype", like.dtype))


@register_data("RandomNormal", "RandomUniform")
def random(ctx: Lowering) -> Value:
    return _made(ctx, ctx.ints("shape"), ctx.dtype("dtype", "f32"))


@register("Bernoulli")
def bernoulli(ctx: Lowering, x: Value) -> Value:
    """One with the probability of each element, else zero."""
    drawn = op.less(_uniform(ctx, x.shape), ctx.cast(x, "f32"))
    return op.astype(drawn, ctx.dtype("dtype", x.dtype))
