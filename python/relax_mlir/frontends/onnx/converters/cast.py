# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between element types, also to those that no kernel has.

A small float is carried by f32, so that a conversion to it is rounding to its numbers. These lie on a grid: in the
binade of an exponent they are `2 ** (exponent - mantissa bits)` apart, and below the least normal one as far as there.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .... import op
from ....annotations import Tensor
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register_data


@dataclasses.dataclass(frozen=True)
class _SmallFloat:
    """A small float: bits of the mantissa, exponent of the least normal number, greatest number, and what lies beyond.

    `infinity` says what becomes of what is beyond the greatest number where it does not saturate; None if the type
    neither has an infinity nor NaN.
    """

    mantissa: int
    least: int
    greatest: float
    infinity: float | None


_SMALL = {
    "f8e4m3fn": _SmallFloat(3, -6, 448.0, float("nan")),
    "f8e5m2": _SmallFloat(2, -14, 57344.0, float("inf")),
    "f8e4m3fnuz": _SmallFloat(3, -7, 240.0, float("nan")),
    "f8e5m2fnuz": _SmallFloat(2, -15, 57344.0, float("nan")),
    "f4e2m1": _SmallFloat(1, 0, 6.0, None),
}


@register_data("Cast")
def cast(ctx: Lowering, x: Data) -> Data:
    return converted(ctx, x, ctx.dtype("to"))


@register_data("CastLike")
def cast_like(ctx: Lowering, x: Data, like: Data) -> Data:
    return converted(ctx, x, like.dtype)


def converted(ctx: Lowering, x: Data, dtype: str) -> Data:
    """A tensor with elements of another type, as ONNX's `Cast` converts them."""
    if dtype == x.dtype:
        return x
    if dtypes.STRING in (dtype, x.dtype):
        return _text(ctx, x, dtype)
    value = ctx.value(x)
    if dtype in _SMALL:
        made = round_to(ctx, _as_f32(ctx, value), dtype, bool(ctx.int("saturate", 1)))
    elif dtype == "f8e8m0":
        made = _power_of_two(ctx, _as_f32(ctx, value))
    elif dtype in ("i2", "i4", "u2", "u4"):
        made = narrow_integer(ctx, value, dtype)
    elif dtype == "bool":
        made = op.not_equal(value, ctx.scalar(0, value.dtype))
    else:
        made = ctx.cast(value, dtype)
    return Data(dtype, value=made)


def _as_f32(ctx: Lowering, value: Value) -> Value:
    return value if value.dtype == "f32" else op.astype(value, "f32")


def round_to(ctx: Lowering, x: Value, dtype: str, saturate: bool) -> Value:
    """Numbers of f32 rounded to those of a small float, ties to the even one; in the type that carries them."""
    kind = _SMALL[dtype]
    magnitude = op.abs(x)
    bounded = op.minimum(magnitude, ctx.scalar(2.0 * kind.greatest, "f32"))
    floor = ctx.scalar(float(2.0**kind.least), "f32")
    # The exponent of a normal number of f32, from its bits: dividing by the mantissa leaves a power of two.
    scale = op.multiply(_binade(ctx, op.maximum(bounded, floor)), ctx.scalar(2.0**-kind.mantissa, "f32"))
    rounded = op.multiply(op.round(op.divide(bounded, scale)), scale)
    greatest = ctx.scalar(kind.greatest, "f32")
    beyond = greatest if saturate or kind.infinity is None else ctx.scalar(kind.infinity, "f32")
    rounded = op.where(op.greater(rounded, greatest), beyond, rounded)
    if kind.infinity is not None and not saturate:
        rounded = op.where(op.isinf(x), beyond, rounded)
    signed = op.multiply(rounded, op.where(_is_negative(ctx, x), ctx.scalar(-1, "f32"), ctx.scalar(1, "f32")))
    if dtype.endswith("uz"):
        signed = op.where(op.equal(rounded, ctx.scalar(0, "f32")), ctx.scalar(0, "f32"), signed)
    # f4e2m1 has no NaN; the reference makes it zero.
    signed = op.where(op.isnan(x), ctx.scalar(0.0 if kind.infinity is None else np.nan, "f32"), signed)
    return ctx.cast(signed, dtypes.carrier(dtype))


def _is_negative(ctx: Lowering, x: Value) -> Value:
    """The sign, also of zero: its reciprocal is an infinity."""
    zero = ctx.scalar(0, "f32")
    is_zero = op.equal(x, zero)
    return op.where(is_zero, op.less(op.divide(ctx.scalar(1, "f32"), x), zero), op.less(x, zero))


def _binade(ctx: Lowering, x: Value) -> Value:
    """The greatest power of two that is at most a positive normal number."""
    guess = op.exp2(op.floor(op.log2(x)))  # may be one off next to a power of two
    guess = op.where(op.greater(guess, x), op.multiply(guess, ctx.scalar(0.5, "f32")), guess)
    double = op.multiply(guess, ctx.scalar(2.0, "f32"))
    return op.where(op.less_equal(double, x), double, guess)


def _power_of_two(ctx: Lowering, x: Value) -> Value:
    """The power of two that f8e8m0 has for the magnitude of a number."""
    mode, saturate = ctx.text("round_mode", "up"), bool(ctx.int("saturate", 1))
    magnitude = op.abs(x)
    least, greatest = 2.0**-127, 2.0**127
    below = _binade(ctx, op.minimum(op.maximum(magnitude, ctx.scalar(2.0**-126, "f32")), ctx.scalar(greatest, "f32")))
    below = op.where(op.less(magnitude, ctx.scalar(2.0**-126, "f32")), ctx.scalar(least, "f32"), below)
    above = op.multiply(below, ctx.scalar(2.0, "f32"))
    if mode == "up":
        made = op.where(op.greater(magnitude, below), above, below)
    elif mode == "down":
        made = below
    elif mode == "nearest":
        middle = op.multiply(below, ctx.scalar(1.5, "f32"))
        made = op.where(op.greater_equal(magnitude, middle), above, below)
    else:
        raise ctx.unsupported(f"the rounding '{mode}'; expected up, down or nearest", "round_mode")
    beyond = ctx.scalar(greatest if saturate else np.nan, "f32")
    made = op.where(op.greater(made, ctx.scalar(greatest, "f32")), beyond, made)
    if not saturate:
        made = op.where(op.isinf(magnitude), ctx.scalar(np.nan, "f32"), made)
    return op.where(op.isnan(x), ctx.scalar(np.nan, "f32"), made)


def narrow_integer(ctx: Lowering, x: Value, dtype: str) -> Value:
    """Integers of 2 or 4 bits, in the type that carries them: the lowest bits of an integer."""
    carrier, bits = dtypes.carrier(dtype), int(dtype[1:])
    whole = x if x.dtype in ("bool", *(f"{sign}{size}" for sign in "iu" for size in (8, 16, 32, 64))) else None
    if whole is None:
        whole = op.astype(x, "i32")
    whole = op.astype(whole, "i32")
    masked = op.bitwise_and(whole, ctx.scalar((1 << bits) - 1, "i32"))
    if dtype[0] == "i":
        half = ctx.scalar(1 << (bits - 1), "i32")
        masked = op.subtract(op.bitwise_xor(masked, half), half)
    return op.astype(masked, carrier)


def _text(ctx: Lowering, x: Data, dtype: str) -> Data:
    """Between numbers and text, of elements that are known."""
    elements = ctx.elements(x, "a tensor that becomes text, or was text,")
    if dtype == dtypes.STRING:
        made = np.empty(elements.size, object)
        made[:] = [_show(entry) for entry in elements.reshape(-1)]
        return Data(dtype, made.reshape(elements.shape))
    try:
        numbers = [float(text) if dtypes.is_float(dtype) else int(text) for text in elements.reshape(-1)]
    except ValueError as error:
        ctx.fail(str(error))
    made = np.asarray(numbers, np.float64 if dtypes.is_float(dtype) else np.int64)
    return Data(dtype, made.astype(dtypes.to_numpy(dtypes.carrier(dtype))).reshape(elements.shape))


def _show(entry: Any) -> str:
    """A number as ONNX writes it: a float with as many digits as tell it apart."""
    if isinstance(entry, np.bool_):
        return "1" if entry else "0"
    value = entry.item()
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "INF" if value > 0 else "-INF"
    return np.format_float_positional(entry, trim="-") if 1e-4 <= abs(value) < 1e7 or not value else f"{value:.8g}"


@register_data("BitCast")
def bit_cast(ctx: Lowering, x: Data) -> Data:
    """The same bits as another type of the same width; a kernel of the module reads floats as integers, or back."""
    dtype, value = ctx.dtype("to"), ctx.value(x)
    if {dtype, x.dtype} & dtypes.CARRIERS.keys() or dtypes.STRING in (dtype, x.dtype):
        raise ctx.unsupported(f"from {x.dtype} to {dtype}", "to")
    if not dtypes.is_float(x.dtype):
        bits = _WIDTHS.get(dtype, 8)
        if not dtypes.is_float(dtype):
            return Data(dtype, value=ctx.cast(value, dtype))
        return Data(dtype, value=_reinterpreted(ctx.cast(value, f"i{bits}"), dtype))
    if x.dtype not in _WIDTHS or (dtypes.is_float(dtype) and dtype not in _WIDTHS):
        raise ctx.unsupported(f"from {x.dtype} to {dtype}", "to")
    if dtype == x.dtype:
        return x
    integers = _reinterpreted(value, f"i{_WIDTHS[x.dtype]}")
    made = _reinterpreted(integers, dtype) if dtypes.is_float(dtype) else ctx.cast(integers, dtype)
    return Data(dtype, value=made)


_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
"""Floats whose bits are read, with their width."""


def _reinterpreted(x: Value, dtype: str) -> Value:
    made = op.call_tir(f"bits_{x.dtype}_{dtype}", [op.flatten(x)], Tensor((math.prod(x.shape),), dtype))
    return op.reshape(made, list(x.shape))


def bit_kernels() -> str:
    """The kernels that `BitCast` calls, of a module in MLIR text."""
    pairs = [pair for name, width in _WIDTHS.items() for pair in ((name, f"i{width}"), (f"i{width}", name))]
    return "".join(_KERNEL.format(source=source, target=target) for source, target in pairs)


_KERNEL = """
func.func private @bits_{source}_{target}(%x: tensor<?x{source}> {{relax.shape = #relax.shape<[n]>}},
    %out: tensor<?x{target}> {{relax.shape = #relax.shape<[n]>}}) -> tensor<?x{target}> {{
  %0 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x : tensor<?x{source}>) outs(%out : tensor<?x{target}>) {{
  ^bb0(%from: {source}, %to: {target}):
    %1 = arith.bitcast %from : {source} to {target}
    linalg.yield %1 : {target}
  }} -> tensor<?x{target}>
  return %0 : tensor<?x{target}>
}}
"""
