# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one operand, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ..lowering import Lowering, in_f32
from ..registry import register


def _unary(name: str, function: Callable[[Value], Value], *others: str) -> None:
    """A function whose result has the type that PyTorch found: integers are converted to floats first."""

    def convert(ctx: Lowering, x: Value) -> Value:
        return function(ctx.cast(x, ctx.dtype))

    convert.__name__ = name
    register(f"aten::{name}", *(f"aten::{other}" for other in others))(convert)


for _name in (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "exp2", "expm1", "log", "log1p"),
    *("log2", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh"),
):
    _unary(_name, getattr(op, _name))


def _of_floats(name: str, function: Callable[[Value], Value], *others: str) -> None:
    """A function that leaves integers as they are."""

    def convert(ctx: Lowering, x: Value) -> Value:
        return function(x) if is_float(x.dtype) else x

    convert.__name__ = name
    register(f"aten::{name}", *(f"aten::{other}" for other in others))(convert)


_of_floats("ceil", op.ceil)
_of_floats("floor", op.floor)
_of_floats("trunc", op.trunc, "fix")
_of_floats("round.default", op.round)


@register("aten::round.decimals")
@in_f32
def round_to_decimals(ctx: Lowering, x: Value, *, decimals: int) -> Value:
    factor = ctx.tensor(10.0 ** abs(decimals), ctx.dtype)
    if decimals < 0:
        return op.multiply(op.round(op.divide(x, factor)), factor)
    return op.divide(op.round(op.multiply(x, factor)), factor)


@register("aten::log10")
@in_f32
def log10(ctx: Lowering, x: Value) -> Value:
    return op.multiply(op.log(ctx.cast(x, ctx.dtype)), ctx.tensor(1 / math.log(10), ctx.dtype))


@register("aten::reciprocal")
def reciprocal(ctx: Lowering, x: Value) -> Value:
    return op.divide(ctx.tensor(1.0, ctx.dtype), ctx.cast(x, ctx.dtype))


@register("aten::neg")
def negative(ctx: Lowering, x: Value) -> Value:
    return op.negative(x)


@register("aten::abs")
def absolute(ctx: Lowering, x: Value) -> Value:
    return x if x.dtype == "bool" else op.abs(x)


@register("aten::sign", "aten::sgn")
def sign(ctx: Lowering, x: Value) -> Value:
    """PyTorch has the sign 0 for NaN."""
    if x.dtype == "bool":
        return x
    return op.where(op.isnan(x), ctx.tensor(0.0, x.dtype), op.sign(x)) if is_float(x.dtype) else op.sign(x)


@register("aten::frac")
def fraction(ctx: Lowering, x: Value) -> Value:
    return op.subtract(x, op.trunc(x))


def _test_of_float(name: str, function: Callable[[Value], Value], of_integers: bool) -> None:
    def convert(ctx: Lowering, x: Value) -> Value:
        if is_float(x.dtype):
            return function(x)
        return op.full_like(x, op.constant(np.bool_(of_integers)), "bool")

    convert.__name__ = name
    register(f"aten::{name}")(convert)


_test_of_float("isnan", op.isnan, False)
_test_of_float("isinf", op.isinf, False)
_test_of_float("isfinite", op.isfinite, True)


@register("aten::signbit")
def signbit(ctx: Lowering, x: Value) -> Value:
    """Whether the number is negative; minus zero is, by the sign of its reciprocal."""
    zero = ctx.tensor(0, x.dtype)
    if x.dtype == "bool" or not is_float(x.dtype):
        return op.less(ctx.cast(x, "i64"), op.constant(np.int64(0)))
    is_zero = op.equal(x, zero)
    return op.where(is_zero, op.less(op.divide(ctx.tensor(1.0, x.dtype), x), zero), op.less(x, zero))


@register("aten::nan_to_num")
def nan_to_num(ctx: Lowering, x: Value, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Value:
    if not is_float(x.dtype):
        return x
    import torch

    from ..dtypes import to_torch

    limits = torch.finfo(to_torch(x.dtype))
    bound = ctx.tensor(limits.max if posinf is None else float(posinf), x.dtype)
    least = ctx.tensor(limits.min if neginf is None else float(neginf), x.dtype)
    result = op.where(op.isnan(x), ctx.tensor(0.0 if nan is None else float(nan), x.dtype), x)
    result = op.where(op.equal(x, ctx.tensor(math.inf, x.dtype)), bound, result)
    return op.where(op.equal(x, ctx.tensor(-math.inf, x.dtype)), least, result)
