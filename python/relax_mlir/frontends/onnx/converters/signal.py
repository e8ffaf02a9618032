# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms, as products with matrices of waves that are computed in f64."""

from __future__ import annotations

import math

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register_data


@register_data("DFT")
def dft(ctx: Lowering, x: Data, length: Data | None = None, axis: Data | None = None) -> Data:
    """Along an axis that is an operand since version 20; the last axis has real and imaginary parts."""
    value = ctx.value(x)
    place = ctx.int("axis", 1) if ctx.version < 20 else -2 if axis is None else int(ctx.number(axis, "the axis"))
    place = ctx.axis(place, x.ndim)
    inverse, onesided = bool(ctx.int("inverse", 0)), bool(ctx.int("onesided", 0))
    half = inverse and onesided
    size: ExprLike = x.shape[place] if not half else 2 * (x.shape[place] - 1)
    if length is not None:
        size = ctx.size(length, "the length")
    have = size // 2 + 1 if half else size
    order = [axis for axis in range(x.ndim - 1) if axis != place] + [place]
    real, imaginary = (_fitted(op.permute_dims(part, order), have) for part in _parts(ctx, value))
    if half:
        made = [_inverse_of_half(ctx, real, imaginary, size)]
    else:
        made = list(transform(ctx, real, imaginary, size, inverse, onesided))
    back = [order.index(axis) for axis in range(x.ndim - 1)]
    joined = op.stack([op.permute_dims(part, back) for part in made], x.ndim - 1)
    return Data(x.dtype, value=ctx.cast(joined, value.dtype))


def _parts(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    """The real and the imaginary part, in f64; the latter is zero where the last axis has one element."""
    wide = op.astype(x, "f64")
    count = x.shape[-1]
    last = x.ndim - 1
    if not isinstance(count, int):
        count = ctx.fixed(count, "the last axis, which has one element or two,")
    real = op.squeeze(op.strided_slice(wide, [last], [0], [1]), [last])
    if count == 1:
        return real, op.zeros(tuple(real.shape), "f64")
    return real, op.squeeze(op.strided_slice(wide, [last], [1], [2]), [last])


def _fitted(x: Value, size: ExprLike) -> Value:
    """The last axis cut, or filled with zeros."""
    have = x.shape[-1]
    return x if have == size else op.pad(x, [0] * (2 * x.ndim - 1) + [size - have])


def _waves(ctx: Lowering, rows: ExprLike, columns: ExprLike, size: ExprLike) -> tuple[Value, Value]:
    """Cosines and sines of `2 pi row column / size`; products are reduced before, so that zeros are exact enough."""
    row = op.expand_dims(op.arange(0, rows, 1, "i64"), [1])
    column = op.expand_dims(op.arange(0, columns, 1, "i64"), [0])
    turns = op.floor_mod(op.multiply(row, column), ctx.scalar(size, "i64"))
    angle = op.divide(op.multiply(op.astype(turns, "f64"), ctx.scalar(2 * math.pi, "f64")), ctx.scalar(size, "f64"))
    return op.cos(angle), op.sin(angle)


def transform(
    ctx: Lowering, real: Value, imaginary: Value, size: ExprLike, inverse: bool, onesided: bool
) -> tuple[Value, Value]:
    """The transform of the last axis; with `onesided` without what follows by symmetry."""
    count = size // 2 + 1 if onesided else size
    cosine, sine = _waves(ctx, size, count, size)
    sine = sine if inverse else op.negative(sine)
    made_real = op.subtract(_product(real, cosine), _product(imaginary, sine))
    made_imaginary = op.add(_product(real, sine), _product(imaginary, cosine))
    if not inverse:
        return made_real, made_imaginary
    scale = ctx.scalar(size, "f64")
    return op.divide(made_real, scale), op.divide(made_imaginary, scale)


def _product(x: Value, waves: Value) -> Value:
    if x.ndim == 1:
        return op.reshape(op.matmul(op.expand_dims(x, [0]), waves), (waves.shape[1],))
    return op.matmul(x, waves)


def _inverse_of_half(ctx: Lowering, real: Value, imaginary: Value, size: ExprLike) -> Value:
    """The real signal of which one half of the transform is given."""
    count = real.shape[-1]
    cosine, sine = _waves(ctx, count, size, size)
    places = op.arange(0, count, 1, "i64")
    single = op.logical_or(
        op.equal(places, ctx.scalar(0, "i64")),
        op.equal(op.multiply(places, ctx.scalar(2, "i64")), ctx.scalar(size, "i64")),
    )
    weight = op.where(single, ctx.scalar(1, "f64"), ctx.scalar(2, "f64"))
    made = op.subtract(_product(op.multiply(real, weight), cosine), _product(op.multiply(imaginary, weight), sine))
    return op.divide(made, ctx.scalar(size, "f64"))


@register_data("STFT")
def stft(ctx: Lowering, signal: Data, step: Data, window: Data | None = None, length: Data | None = None) -> Data:
    """Transforms of pieces of a signal, `step` apart, each times a window."""
    value = ctx.value(signal)
    if length is not None:
        size = ctx.size(length, "the frame length")
    elif window is not None:
        size = window.shape[0]
    else:
        ctx.fail("neither a window nor a frame length is given")
    stride = ctx.size(step, "the frame step")
    frames = (signal.shape[1] - size) // stride + 1
    starts = op.multiply(op.arange(0, frames, 1, "i64"), ctx.scalar(stride, "i64"))
    places = op.add(op.expand_dims(starts, [1]), op.expand_dims(op.arange(0, size, 1, "i64"), [0]))
    if value.ndim == 2:
        value = op.expand_dims(value, [2])
    real, imaginary = (op.take(part, places, 1) for part in _parts(ctx, value))  # [batch, frames, size]
    if window is not None:
        shape = op.astype(ctx.value(window), "f64")
        real, imaginary = op.multiply(real, shape), op.multiply(imaginary, shape)
    made = transform(ctx, real, imaginary, size, False, bool(ctx.int("onesided", 1)))
    return Data(signal.dtype, value=ctx.cast(op.stack(list(made), 3), value.dtype))


_MOST = 1 << 23
"""The most elements of a table that is computed while importing."""


def mel_weights(bins: int, size: int, rate: int, lowest: float, highest: float) -> np.ndarray:
    """Triangles over the frequencies of a transform, evenly spaced on the mel scale: [frequencies, bins]."""
    spectrum = size // 2 + 1
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (lowest, highest))
    step = (high - low) / (bins + 2)
    mels = np.arange(bins + 2) * step + low
    edges = 700 * (np.power(10, mels / 2595) - 1)
    edges = ((size + 1) * edges // rate).astype(int)
    made = np.zeros((spectrum, bins))
    for index in range(bins):
        lower, center, upper = edges[index : index + 3]
        if center == lower:
            made[center, index] = 1
        else:
            rising = np.arange(lower, center + 1)
            made[rising, index] = (rising - lower) / (center - lower)
        if upper > center:
            falling = np.arange(center, upper)
            made[falling, index] = (upper - falling) / (upper - center)
    return made


@register_data("MelWeightMatrix")
def mel_weight_matrix(ctx: Lowering, *operands: Data) -> Data:
    names = ("the number of bins", "the length", "the rate", "the lowest frequency", "the highest frequency")
    bins, size, rate, low, high = (ctx.number(data, what) for data, what in zip(operands, names))
    if not (bins > 0 and size > 0 and 0 <= low < high <= rate / 2):
        ctx.fail(f"{bins} bins of a transform of {size} from {low} to {high} at a rate of {rate} are not valid")
    if bins * size > _MOST:
        raise ctx.unsupported(f"a table of {bins} bins for a transform of {size}; expected at most {_MOST} elements")
    dtype = ctx.dtype("output_datatype", "f32")
    return Data(dtype, mel_weights(int(bins), int(size), int(rate), low, high).astype(dtypes.to_numpy(dtype)))
