# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, comparison, logic and functions, element by element.

The type of a result is what PyTorch found. Operands of arithmetic are converted to it first; operands of a comparison
to the type that PyTorch compares them in. A Python number next to elements of f16 or bf16 is used in f32, as PyTorch
uses it, where the narrow type would round it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ..lowering import NARROW, Lowering, in_f32, torch_float
from ..registry import register


def _binary(ctx: Lowering, function: Callable[[Value, Value], Value], lhs: Any, rhs: Any) -> Value:
    """An operation in the type of the result, or in f32 where a number would be rounded to a narrow type."""
    dtype = ctx.dtype
    numbers = [value for value in (lhs, rhs) if isinstance(value, float)]
    if dtype in NARROW and any(float(torch_float(number, dtype)) != number for number in numbers):
        return op.astype(function(*ctx.same(lhs, rhs, dtype="f32")), dtype)
    return function(*ctx.same(lhs, rhs))


def _logic(ctx: Lowering, function: Callable[[Value, Value], Value], lhs: Any, rhs: Any) -> Value:
    return function(*ctx.same(lhs, rhs, dtype="bool"))


@register("aten::add")
def add(ctx: Lowering, lhs: Any, rhs: Any, *, alpha: Any = 1) -> Value:
    if ctx.dtype == "bool":
        return _logic(ctx, op.logical_or, lhs, _scaled_bool(ctx, rhs, alpha))
    return _binary(ctx, op.add, lhs, _scaled(ctx, rhs, alpha))


@register("aten::sub")
def subtract(ctx: Lowering, lhs: Any, rhs: Any, *, alpha: Any = 1) -> Value:
    return _binary(ctx, op.subtract, lhs, _scaled(ctx, rhs, alpha))


@register("aten::rsub")
def reversed_subtract(ctx: Lowering, lhs: Any, rhs: Any, alpha: Any = 1) -> Value:
    return _binary(ctx, op.subtract, rhs, _scaled(ctx, lhs, alpha))


def _scaled(ctx: Lowering, value: Any, alpha: Any) -> Any:
    if isinstance(alpha, (int, float)) and alpha == 1:
        return value
    if isinstance(value, (int, float)) and isinstance(alpha, (int, float)):
        return value * alpha
    return _binary(ctx, op.multiply, value, alpha)


def _scaled_bool(ctx: Lowering, value: Any, alpha: Any) -> Any:
    return value if alpha else op.logical_and(*ctx.same(value, False, dtype="bool"))


@register("aten::mul")
def multiply(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    if ctx.dtype == "bool":
        return _logic(ctx, op.logical_and, lhs, rhs)
    for value, number in ((lhs, rhs), (rhs, lhs)):
        if isinstance(number, (int, float)) and number == 1 and isinstance(value, Value):
            return ctx.cast(value, ctx.dtype)
    return _binary(ctx, op.multiply, lhs, rhs)


@register("aten::div.Tensor", "aten::div.Scalar", "aten::true_divide")
def divide(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.divide, lhs, rhs)


@register("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def divide_rounded(ctx: Lowering, lhs: Any, rhs: Any, *, rounding_mode: str | None = None) -> Value:
    if rounding_mode == "floor":
        return floor_divide(ctx, lhs, rhs)
    if rounding_mode is None or not is_float(ctx.dtype):
        return _binary(ctx, op.divide, lhs, rhs)
    return _truncated_quotient(ctx, lhs, rhs)


@in_f32
def _truncated_quotient(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    """A quotient that is rounded before might be the next whole number."""
    return op.trunc(op.divide(*ctx.same(lhs, rhs)))


@register("aten::floor_divide")
def floor_divide(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.floor_divide, lhs, rhs)


@register("aten::remainder")
def remainder(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.floor_mod, lhs, rhs)


@register("aten::fmod")
def fmod(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.mod, lhs, rhs)


@register("aten::maximum", "aten::max.other")
def maximum(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _logic(ctx, op.logical_or, lhs, rhs) if ctx.dtype == "bool" else _binary(ctx, op.maximum, lhs, rhs)


@register("aten::minimum", "aten::min.other")
def minimum(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _logic(ctx, op.logical_and, lhs, rhs) if ctx.dtype == "bool" else _binary(ctx, op.minimum, lhs, rhs)


@register("aten::fmax", "aten::fmin")
def maximum_of_numbers(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    """The other operand where one is NaN."""
    lhs, rhs = ctx.same(lhs, rhs)
    function = op.maximum if "fmax" in ctx.name else op.minimum
    if not is_float(ctx.dtype):
        return function(lhs, rhs)
    return op.where(op.isnan(lhs), rhs, op.where(op.isnan(rhs), lhs, function(lhs, rhs)))


@register("aten::atan2")
def atan2(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.atan2, lhs, rhs)


@register("aten::hypot")
@in_f32
def hypot(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return length(*ctx.same(lhs, rhs))


def length(x: Value, y: Value) -> Value:
    """The root of `x^2 + y^2`: the greater side times a root near 1, so that no square overflows.

    It is infinite where a side is, also next to NaN.
    """
    x, y = op.abs(x), op.abs(y)
    greater, less = op.maximum(x, y), op.minimum(x, y)
    zero, one = op.zeros_like(greater), op.ones_like(greater)
    ratio = op.divide(less, op.where(op.equal(greater, zero), one, greater))
    made = op.multiply(greater, op.sqrt(op.add(one, op.square(ratio))))
    is_infinite = op.logical_or(op.isinf(x), op.isinf(y))
    return op.where(is_infinite, op.full_like(made, op.constant(np.float64(math.inf), made.dtype)), made)


@register("aten::logaddexp")
@in_f32
def logaddexp(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return _binary(ctx, op.log_add_exp, lhs, rhs)


@register("aten::pow")
def power(ctx: Lowering, base: Any, exponent: Any) -> Value:
    """Small whole exponents are products, which are exact and fast."""
    if isinstance(base, Value) and isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        value = ctx.cast(base, ctx.dtype)
        if exponent == 2:
            return op.square(value)
        if exponent == 1:
            return value
        if exponent == 3:
            return op.multiply(op.square(value), value)
        if is_float(ctx.dtype) and exponent == 0.5:
            # The root of minus infinity is NaN, its power is infinity.
            root = op.sqrt(value)
            return op.where(op.equal(value, ctx.tensor(-math.inf, ctx.dtype)), ctx.tensor(math.inf, ctx.dtype), root)
    return _binary(ctx, op.power, base, exponent)


@register("aten::square")
def square(ctx: Lowering, x: Value) -> Value:
    return op.square(ctx.cast(x, ctx.dtype)) if ctx.dtype != "bool" else x


@register("aten::addcmul")
@in_f32
def addcmul(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, value: Any = 1) -> Value:
    product = _binary(ctx, op.multiply, lhs, rhs)
    return _binary(ctx, op.add, x, _scaled(ctx, product, value))


@register("prims::fma")
def fused_multiply_add(ctx: Lowering, lhs: Any, rhs: Any, x: Any) -> Value:
    return op.ewise_fma(*ctx.same(lhs, rhs, x))


@register("aten::addcdiv")
@in_f32
def addcdiv(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, value: Any = 1) -> Value:
    return _binary(ctx, op.add, x, _binary(ctx, op.divide, _scaled(ctx, lhs, value), rhs))


# --- comparison and choice


def _comparison(*names: str, function: Callable[[Value, Value], Value]) -> None:
    def convert(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
        lhs, rhs = ctx.promoted(lhs, rhs)
        if lhs.dtype == "bool" and function not in (op.equal, op.not_equal):
            lhs, rhs = op.astype(lhs, "i8"), op.astype(rhs, "i8")
        return function(lhs, rhs)

    convert.__name__ = names[0].rpartition("::")[2]
    register(*names)(convert)


_comparison("aten::eq", function=op.equal)
_comparison("aten::ne", function=op.not_equal)
_comparison("aten::lt", function=op.less)
_comparison("aten::le", function=op.less_equal)
_comparison("aten::gt", function=op.greater)
_comparison("aten::ge", function=op.greater_equal)


@register("aten::where.self", "aten::where.ScalarOther", "aten::where.ScalarSelf", "aten::where.Scalar")
def where(ctx: Lowering, condition: Value, lhs: Any, rhs: Any) -> Value:
    return op.where(ctx.cast(condition, "bool"), *ctx.same(lhs, rhs))


@register("aten::masked_fill")
def masked_fill(ctx: Lowering, x: Value, mask: Value, value: Any) -> Value:
    return op.where(mask, ctx.tensor(value, ctx.dtype), ctx.cast(x, ctx.dtype))


@register("aten::clamp", "aten::clip")
def clamp(ctx: Lowering, x: Value, low: Any = None, high: Any = None) -> Value:
    """The upper bound wins where the bounds cross; NaN stays."""
    result = ctx.cast(x, ctx.dtype)
    if low is not None:
        result = maximum(ctx, result, low)
    return result if high is None else minimum(ctx, result, high)


@register("aten::clamp_min")
def clamp_min(ctx: Lowering, x: Value, low: Any) -> Value:
    return clamp(ctx, x, low)


@register("aten::clamp_max")
def clamp_max(ctx: Lowering, x: Value, high: Any) -> Value:
    return clamp(ctx, x, None, high)


# --- logic and bits


def _bitwise(name: str, function: Callable[[Value, Value], Value]) -> None:
    def convert(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
        return function(*ctx.same(lhs, rhs))

    convert.__name__ = f"bitwise_{name}"
    register(f"aten::bitwise_{name}", f"aten::__{name}__")(convert)


_bitwise("and", op.bitwise_and)
_bitwise("or", op.bitwise_or)
_bitwise("xor", op.bitwise_xor)


@register("aten::bitwise_not")
def bitwise_not(ctx: Lowering, x: Value) -> Value:
    return op.bitwise_not(x)


@register("aten::bitwise_left_shift", "aten::__lshift__")
def left_shift(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return op.left_shift(*ctx.same(lhs, rhs))


@register("aten::bitwise_right_shift", "aten::__rshift__")
def right_shift(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return op.right_shift(*ctx.same(lhs, rhs))


def _logical(name: str, function: Callable[[Value, Value], Value]) -> None:
    def convert(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
        return _logic(ctx, function, lhs, rhs)

    convert.__name__ = f"logical_{name}"
    register(f"aten::logical_{name}")(convert)


_logical("and", op.logical_and)
_logical("or", op.logical_or)
_logical("xor", op.logical_xor)


@register("aten::logical_not")
def logical_not(ctx: Lowering, x: Value) -> Value:
    return op.logical_not(ctx.cast(x, "bool"))


# --- conversion and copies


@register("aten::_to_copy", "aten::to", "aten::type_as", "prims::convert_element_type")
def convert_type(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    """PyTorch makes 0 of NaN where it has vectors, and leaves it open elsewhere; so do we."""
    return ctx.cast(x, ctx.dtype)


@register(
    *("aten::clone", "aten::alias", "aten::detach", "aten::contiguous", "aten::lift_fresh_copy", "aten::lift_fresh"),
    *("aten::positive", "aten::resolve_conj", "aten::resolve_neg", "aten::real", "aten::conj"),
    *("aten::detach_copy", "aten::alias_copy"),
)
def identity(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    """What a program of values does not need: copies, and views that show the same."""
    return x


@register("aten::copy")
def copy(ctx: Lowering, target: Value, source: Any, non_blocking: bool = False) -> Value:
    return op.broadcast_to(ctx.tensor(source, ctx.dtype), ctx.shape)
