# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise ops: arithmetic, comparison, logic, bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_UNARY = {
    "Abs": op.abs,
    "Acos": op.acos,
    "Acosh": op.acosh,
    "Asin": op.asin,
    "Asinh": op.asinh,
    "Atan": op.atan,
    "Atanh": op.atanh,
    "BitwiseNot": op.bitwise_not,
    "Ceil": op.ceil,
    "Cos": op.cos,
    "Cosh": op.cosh,
    "Erf": op.erf,
    "Exp": op.exp,
    "Floor": op.floor,
    "IsNaN": op.isnan,
    "Log": op.log,
    "Neg": op.negative,
    "Not": op.logical_not,
    "Round": op.round,
    "Sign": op.sign,
    "Sin": op.sin,
    "Sinh": op.sinh,
    "Sqrt": op.sqrt,
    "Tan": op.tan,
}


def _register_unary(name: str, function: Callable[[Value], Value]) -> None:
    @register(name)
    def convert(ctx: Lowering, x: Value) -> Value:
        return function(x)


_BINARY = {
    "Add": op.add,
    "And": op.logical_and,
    "BitwiseAnd": op.bitwise_and,
    "BitwiseOr": op.bitwise_or,
    "BitwiseXor": op.bitwise_xor,
    "Equal": op.equal,
    "Greater": op.greater,
    "GreaterOrEqual": op.greater_equal,
    "Less": op.less,
    "LessOrEqual": op.less_equal,
    "Mul": op.multiply,
    "Or": op.logical_or,
    "Sub": op.subtract,
    "Xor": op.logical_xor,
}


def _register_binary(name: str, function: Callable[[Value, Value], Value]) -> None:
    @register(name)
    def convert(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
        return function(lhs, _aligned(ctx, lhs, rhs))


def _aligned(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    """The second operand as it is broadcast to the first; before version 7 an attribute says to which axes."""
    if ctx.version >= 7 or not ctx.int("broadcast", 0) or "axis" not in ctx.node.attributes:
        return rhs
    axis = ctx.axis(ctx.int("axis"), lhs.ndim)
    return op.reshape(rhs, [*rhs.shape, *[1] * (lhs.ndim - axis - rhs.ndim)])


for _name, _unary in _UNARY.items():
    _register_unary(_name, _unary)
for _name, _binary in _BINARY.items():
    _register_binary(_name, _binary)


def _register_variadic(name: str, function: Callable[[Value, Value], Value]) -> None:
    @register(name)
    def convert(ctx: Lowering, first: Value, *others: Value) -> Value:
        made = first
        for other in others:
            made = function(made, other)
        return made


for _name, _binary in {"Max": op.maximum, "Min": op.minimum, "Sum": op.add}.items():
    _register_variadic(_name, _binary)


@register("Mean")
def mean(ctx: Lowering, first: Value, *others: Value) -> Value:
    made = first
    for other in others:
        made = op.add(made, other)
    return op.divide(made, ctx.scalar(1 + len(others), made.dtype))


@register("Div")
def divide(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    """The quotient; of integers rounded towards zero."""
    rhs = _aligned(ctx, lhs, rhs)
    return op.divide(lhs, rhs) if is_float(lhs.dtype) else truncated_quotient(lhs, rhs)


def truncated_quotient(lhs: Value, rhs: Value) -> Value:
    """The quotient of integers, rounded towards zero."""
    if lhs.dtype.startswith("u"):
        return op.floor_divide(lhs, rhs)
    return op.floor_divide(op.subtract(lhs, op.mod(lhs, rhs)), rhs)


@register("Mod")
def mod(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    return op.mod(lhs, rhs) if ctx.int("fmod", 0) else op.floor_mod(lhs, rhs)


@register("Pow")
def power(ctx: Lowering, base: Value, exponent: Value) -> Value:
    """The power, of the type of the base; the exponent may be of another."""
    if base.dtype == exponent.dtype:
        return op.power(base, exponent)
    if is_float(base.dtype):
        return op.power(base, ctx.cast(exponent, base.dtype))
    if is_float(exponent.dtype):
        # Integers to a power that is not whole are rounded towards zero.
        wide = "f64" if exponent.dtype == "f64" or base.dtype in ("i32", "i64", "u32", "u64") else "f32"
        return op.astype(op.power(op.astype(base, wide), op.astype(exponent, wide)), base.dtype)
    wide = "u64" if exponent.dtype == "u64" else "i64"
    return op.astype(op.power(op.astype(base, wide), op.astype(exponent, wide)), base.dtype)


@register("Reciprocal")
def reciprocal(ctx: Lowering, x: Value) -> Value:
    return op.divide(ctx.scalar(1, x.dtype), x)


@register("IsInf")
def is_infinite(ctx: Lowering, x: Value) -> Value:
    negative, positive = ctx.int("detect_negative", 1), ctx.int("detect_positive", 1)
    if negative and positive:
        return op.isinf(x)
    if not negative and not positive:
        return op.zeros(x.shape, "bool")
    return op.equal(x, ctx.scalar(np.inf if positive else -np.inf, x.dtype))


@register("Clip")
def clip(ctx: Lowering, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    """The bounds are operands since version 11; a lower one above the upper one gives the upper one."""
    if "min" in ctx.node.attributes and low is None:
        low = ctx.scalar(ctx.float("min"), x.dtype)
    if "max" in ctx.node.attributes and high is None:
        high = ctx.scalar(ctx.float("max"), x.dtype)
    if low is not None:
        x = op.maximum(x, op.reshape(low, ()))
    return x if high is None else op.minimum(x, op.reshape(high, ()))


@register("Where")
def where(ctx: Lowering, condition: Value, lhs: Value, rhs: Value) -> Value:
    return op.where(condition, lhs, rhs)


@register("BitShift")
def bit_shift(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    """Bits that leave the number are lost, also all of them: a shift by the width or more.

    A negative amount counts as one beyond the width. To the right, the sign of a signed type fills what is left.
    """
    direction = ctx.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise ctx.unsupported(f"the direction is '{direction}'; expected LEFT or RIGHT", "direction")
    last, zero = ctx.scalar(int(lhs.dtype[1:]) - 1, rhs.dtype), ctx.scalar(0, rhs.dtype)
    within = op.logical_and(op.greater_equal(rhs, zero), op.less_equal(rhs, last))
    amount = op.where(within, rhs, last)
    if direction == "RIGHT" and not lhs.dtype.startswith("u"):
        return op.right_shift(lhs, amount)
    shifted = (op.left_shift if direction == "LEFT" else op.right_shift)(lhs, amount)
    return op.where(within, shifted, ctx.scalar(0, lhs.dtype))
