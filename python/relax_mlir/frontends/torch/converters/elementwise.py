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
from ....scope import current_function
from ....values import Value
from ..lowering import Lowering, torch_float
from ..registry import register

_NARROW = ("f16", "bf16")


def _binary(ctx: Lowering, function: Callable[[Value, Value], Value], lhs: Any, rhs: Any) -> Value:
    """An operation in the type of the result, or in f32 where a number would be rounded to a narrow type."""
    dtype = ctx.dtype
    numbers = [value for value in (lhs, rhs) if isinstance(value, float)]
    if dtype in _NARROW and any(float(torch_float(number, dtype)) != number for number in numbers):
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
    quotient = _binary(ctx, op.divide, lhs, rhs)
    return op.trunc(quotient) if rounding_mode == "trunc" and is_float(ctx.dtype) else quotient


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
def hypot(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    """The greater side times a root near 1, so that no square overflows."""
    lhs, rhs = (op.abs(side) for side in ctx.same(lhs, rhs))
    greater, less = op.maximum(lhs, rhs), op.minimum(lhs, rhs)
    zero, one, infinity = (ctx.tensor(value, ctx.dtype) for value in (0.0, 1.0, math.inf))
    ratio = op.divide(less, op.where(op.equal(greater, zero), one, greater))
    length = op.multiply(greater, op.sqrt(op.add(one, op.square(ratio))))
    return op.where(op.equal(greater, infinity), infinity, length)


@register("aten::logaddexp")
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
def addcmul(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, value: Any = 1) -> Value:
    product = _binary(ctx, op.multiply, lhs, rhs)
    return _binary(ctx, op.add, x, _scaled(ctx, product, value))


@register("aten::addcdiv")
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
        result = _binary(ctx, op.maximum, result, low)
    return result if high is None else _binary(ctx, op.minimum, result, high)


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


# --- functions of one operand


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
def round_to_decimals(ctx: Lowering, x: Value, *, decimals: int) -> Value:
    factor = ctx.tensor(10.0 ** abs(decimals), ctx.dtype)
    if decimals < 0:
        return op.multiply(op.round(op.divide(x, factor)), factor)
    return op.divide(op.round(op.multiply(x, factor)), factor)


@register("aten::log10")
def log10(ctx: Lowering, x: Value) -> Value:
    return op.multiply(op.log(ctx.cast(x, ctx.dtype)), ctx.tensor(1 / math.log(10), ctx.dtype))


@register("aten::erfc")
def erfc(ctx: Lowering, x: Value) -> Value:
    return op.subtract(ctx.tensor(1.0, ctx.dtype), op.erf(ctx.cast(x, ctx.dtype)))


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


# --- conversion and copies


@register("aten::_to_copy", "aten::to", "aten::type_as", "prims::convert_element_type")
def convert_type(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    """PyTorch makes 0 of NaN where it has vectors, and leaves it open elsewhere; so do we."""
    return ctx.cast(x, ctx.dtype)


@register(
    *("aten::clone", "aten::alias", "aten::detach", "aten::contiguous", "aten::lift_fresh_copy", "aten::lift_fresh"),
    *("aten::dropout", "aten::positive", "aten::resolve_conj", "aten::resolve_neg", "aten::real", "aten::conj"),
    *("aten::detach_copy", "aten::alias_copy"),
)
def identity(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    """What a program of values does not need: copies, and views that show the same."""
    if "dropout" in ctx.name and len(args) > 1 and args[1]:
        raise ctx.unsupported("it drops at random; export the model after model.eval()")
    return x


@register("aten::copy")
def copy(ctx: Lowering, target: Value, source: Any, non_blocking: bool = False) -> Value:
    return op.broadcast_to(ctx.tensor(source, ctx.dtype), ctx.shape)


# --- bits and whole numbers


@register("aten::copysign")
def copysign(ctx: Lowering, x: Any, sign: Any) -> Value:
    x, sign = ctx.same(x, sign)
    size = op.abs(x)
    return op.where(signbit(ctx, sign), op.negative(size), size)


@register("aten::ldexp.Tensor")
def ldexp(ctx: Lowering, x: Any, exponent: Any) -> Value:
    x, exponent = ctx.same(x, exponent)
    return op.multiply(x, op.exp2(exponent))


@register("aten::gcd")
def gcd(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    """Euclid's algorithm for all elements at once, until no remainder is left."""
    lhs, rhs = (op.broadcast_to(op.abs(side), ctx.shape) for side in ctx.same(lhs, rhs))
    builder = current_function().builder
    zero, one = ctx.tensor(0, ctx.dtype), ctx.tensor(1, ctx.dtype)
    with builder.while_([lhs, rhs]) as loop:
        with loop.condition as (_, rest):
            builder.yield_(op.any(op.not_equal(rest, zero)))
        with loop.body as (value, rest):
            is_done = op.equal(rest, zero)
            remainder = op.floor_mod(value, op.where(is_done, one, rest))
            builder.yield_(op.where(is_done, value, rest), op.where(is_done, zero, remainder))
    return loop.results[0]


@register("aten::lcm")
def lcm(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    divisor = gcd(ctx, lhs, rhs)
    quotient = op.floor_divide(lhs, op.maximum(divisor, ctx.tensor(1, ctx.dtype)))
    return op.abs(op.multiply(quotient, rhs))


@register("aten::angle")
def angle(ctx: Lowering, x: Value) -> Value:
    """Of real numbers: pi for negative ones, 0 for others, NaN for NaN."""
    x = ctx.cast(x, ctx.dtype)
    made = op.where(op.less(x, ctx.tensor(0.0, x.dtype)), ctx.tensor(math.pi, x.dtype), ctx.tensor(0.0, x.dtype))
    return op.where(op.isnan(x), x, made)


@register("aten::frexp.Tensor")
def frexp(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    """A mantissa in [0.5, 1) and an exponent; both are exact, since powers of two are."""
    wide = op.abs(ctx.cast(x, "f64"))
    zero, one, half = (op.constant(np.float64(value)) for value in (0.0, 1.0, 0.5))
    is_number = op.logical_and(op.isfinite(wide), op.greater(wide, zero))
    exponent = op.add(op.floor(op.log2(op.where(is_number, wide, one))), one)
    mantissa = op.divide(op.where(is_number, wide, one), op.exp2(exponent))
    # The logarithm may be off by one next to a power of two.
    high, low = op.greater_equal(mantissa, one), op.less(mantissa, half)
    exponent = op.add(exponent, op.subtract(op.astype(high, "f64"), op.astype(low, "f64")))
    mantissa = op.divide(ctx.cast(x, "f64"), op.exp2(exponent))
    exponent = op.where(is_number, exponent, zero)
    return op.astype(op.where(is_number, mantissa, ctx.cast(x, "f64")), x.dtype), op.astype(exponent, "i32")
