# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms, which are of complex numbers (`c2c`), to them (`r2c`), or back to real ones (`c2r`).

All functions of `torch.fft` lead to these three after padding and trimming; `stft` and `istft` are frames of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from ..complex_lifting import register_complex
from ..complex_values import Complex, as_complex
from ..lowering import Lowering
from ..registry import register
from .fourier import transform

_NONE, _BY_ROOT, _BY_LENGTH = 0, 1, 2


@register_complex("aten::_fft_c2c")
def complex_to_complex(ctx: Lowering, x: Complex, dim: Sequence[int], normalization: int, forward: bool) -> Complex:
    axes = [ctx.axis(axis, x.ndim) for axis in dim]
    sizes = [x.shape[axis] for axis in axes]
    for axis in axes:
        x = transform(ctx, x, axis, inverse=not forward)
    return _normalized(ctx, x, sizes, normalization)


@register_complex("aten::_fft_r2c")
def real_to_complex(ctx: Lowering, x: Value, dim: Sequence[int], normalization: int, onesided: bool) -> Complex:
    """The last axis first, of which one half follows from the other; `onesided` leaves it out."""
    axes = [ctx.axis(axis, x.ndim) for axis in dim]
    sizes = [x.shape[axis] for axis in axes]
    made = transform(ctx, as_complex(ctx, x, x.dtype), axes[-1], inverse=False)
    if onesided:
        made = _part(made, axes[-1], 0, sizes[-1] // 2 + 1)
    for axis in axes[:-1]:
        made = transform(ctx, made, axis, inverse=False)
    return _normalized(ctx, made, sizes, normalization)


@register_complex("aten::_fft_c2r")
def complex_to_real(ctx: Lowering, x: Complex, dim: Sequence[int], normalization: int, last_dim_size: Any) -> Value:
    axes = [ctx.axis(axis, x.ndim) for axis in dim]
    sizes = [*(x.shape[axis] for axis in axes[:-1]), last_dim_size]
    for axis in axes[:-1]:
        x = transform(ctx, x, axis, inverse=True)
    whole = _mirrored(ctx, x, axes[-1], last_dim_size)
    made = transform(ctx, whole, axes[-1], inverse=True)
    return _normalized(ctx, made, sizes, normalization).real


def _part(x: Complex, axis: int, start: ExprLike, end: ExprLike) -> Complex:
    return Complex(*(op.strided_slice(part, [axis], [start], [end]) for part in (x.real, x.imag)))


def _mirrored(ctx: Lowering, x: Complex, axis: int, n: ExprLike) -> Complex:
    """All `n` elements of a spectrum of real numbers from its first half: element `n - k` is the conjugate of `k`."""
    places = op.arange(0, n, 1, "i64")
    count = ctx.tensor(n, "i64")
    other = op.subtract(count, places)
    is_first = op.less_equal(places, other)
    index = op.where(is_first, places, other)
    real, imag = (op.take(part, index, axis) for part in (x.real, x.imag))
    shape: list[ExprLike] = [1] * x.ndim
    shape[axis] = n
    return Complex(real, op.where(op.reshape(is_first, shape), imag, op.negative(imag)))


def _normalized(ctx: Lowering, x: Complex, sizes: Sequence[ExprLike], normalization: int) -> Complex:
    """Divided by the number of elements that each is a sum of, or by its root."""
    if normalization == _NONE:
        return x
    count: ExprLike = 1
    for size in sizes:
        count = count * size
    divisor = ctx.tensor(count, "f64")
    divisor = op.sqrt(divisor) if normalization == _BY_ROOT else divisor
    factor = op.astype(op.divide(op.constant(np.float64(1)), divisor), x.part)
    return Complex(op.multiply(x.real, factor), op.multiply(x.imag, factor))


@register("aten::fft_fftfreq", "aten::fft_rfftfreq")
def frequencies(ctx: Lowering, n: Any, d: float = 1.0, **kwargs: Any) -> Value:
    """The frequencies of the elements of a transform, as multiples of `1 / (n d)`; those of the second half are
    negative."""
    places = op.arange(0, ctx.shape[0], 1, "i64")
    count = ctx.tensor(n, "i64")
    if "rfftfreq" not in ctx.name:
        is_first = op.less(op.multiply(places, ctx.tensor(2, "i64")), count)
        places = op.where(is_first, places, op.subtract(places, count))
    total = op.multiply(op.astype(count, "f64"), op.constant(np.float64(d)))
    return ctx.cast(op.divide(op.astype(places, "f64"), total), ctx.dtype)
