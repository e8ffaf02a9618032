# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that draw random numbers, from `op.Generator`.

The numbers are not those of PyTorch, of which each device has others; their distributions are. Numbers that are neither
uniform nor normal are made by inverting their distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....op.random import UNIFORM_BITS, below
from ....symbolic import ExprLike
from ....values import Value
from ..complex_lifting import register_complex
from ..complex_values import Complex
from ..dtypes import PART_OF
from ..lowering import Lowering
from ..registry import register_random


def _double(value: float) -> Value:
    return op.constant(np.float64(value))


def _integer(value: int) -> Value:
    return op.constant(np.int64(value))


def _uniform(ctx: Lowering, shape: tuple[ExprLike, ...], dtype: str) -> Value:
    """Uniform numbers in [0, 1)."""
    return ctx.random.uniform(shape, dtype)


def _open_uniform(ctx: Lowering, shape: tuple[ExprLike, ...]) -> Value:
    """Uniform numbers in (0, 1) of f64."""
    return ctx.random.open_uniform(shape)


def _normal(ctx: Lowering, shape: tuple[ExprLike, ...], dtype: str) -> Value:
    return ctx.random.normal(shape, dtype)


# --- uniform and normal numbers


@register_random("aten::rand", "aten::rand_like")
def rand(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    return _uniform(ctx, ctx.shape, ctx.dtype)


@register_random("aten::uniform")
def uniform(ctx: Lowering, x: Value, low: float = 0.0, high: float = 1.0, **kwargs: Any) -> Value:
    """Between two numbers, the second excluded."""
    span = op.multiply(_uniform(ctx, ctx.shape, ctx.dtype), ctx.tensor(float(high) - float(low), ctx.dtype))
    return op.add(span, ctx.tensor(float(low), ctx.dtype))


@register_random("aten::randn", "aten::randn_like")
def randn(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    return _normal(ctx, ctx.shape, ctx.dtype)


@register_complex("aten::rand", "aten::rand_like")
def complex_rand(ctx: Lowering, *args: Any, **kwargs: Any) -> Complex:
    part = PART_OF[ctx.dtype]
    return Complex(_uniform(ctx, ctx.shape, part), _uniform(ctx, ctx.shape, part))


def _complex_normal(ctx: Lowering) -> Complex:
    """Of variance 1, a half of which each part has."""
    part = PART_OF[ctx.dtype]
    scale = ctx.tensor(math.sqrt(0.5), part)
    return Complex(*(op.multiply(_normal(ctx, ctx.shape, part), scale) for _ in range(2)))


@register_complex("aten::randn", "aten::randn_like")
def complex_randn(ctx: Lowering, *args: Any, **kwargs: Any) -> Complex:
    return _complex_normal(ctx)


@register_complex("aten::normal_functional")
def complex_normal(ctx: Lowering, x: Complex, mean: float = 0.0, std: float = 1.0, **kwargs: Any) -> Complex:
    made = _complex_normal(ctx)
    real, imag = (op.multiply(part, ctx.tensor(float(std), made.part)) for part in (made.real, made.imag))
    return Complex(op.add(real, ctx.tensor(float(mean), made.part)), imag)


@register_complex("aten::uniform")
def complex_uniform(ctx: Lowering, x: Complex, low: float = 0.0, high: float = 1.0, **kwargs: Any) -> Complex:
    with ctx.parts():
        return Complex(uniform(ctx, x.real, low, high), uniform(ctx, x.imag, low, high))


@register_random("aten::normal", "aten::normal_functional")
def normal(ctx: Lowering, mean: Any, std: Any = 1.0, *args: Any, **kwargs: Any) -> Value:
    """Of a mean and a standard deviation, tensors or numbers; `normal_functional` takes a tensor of the shape first."""
    if "normal_functional" in ctx.name:
        mean, std = std if isinstance(std, (int, float)) else 0.0, (*args, 1.0)[0]
        mean, std = kwargs.get("mean", mean), kwargs.get("std", std)
    if isinstance(std, Value):
        ctx.check(op.greater_equal(std, ctx.tensor(0.0, std.dtype)), "a standard deviation is negative")
    made = _normal(ctx, ctx.shape, ctx.dtype)
    return op.add(op.multiply(made, ctx.tensor(std, ctx.dtype)), ctx.tensor(mean, ctx.dtype))


def _inverted(name: str, function: Callable[..., Value]) -> None:
    """An op that fills a tensor: the inverse of a distribution, of uniform numbers, in f64."""

    def convert(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
        kwargs.pop("generator", None)
        return ctx.cast(function(_open_uniform(ctx, ctx.shape), *args, **kwargs), ctx.dtype)

    convert.__name__ = name
    register_random(f"aten::{name}")(convert)


def _exponential(u: Value, lambd: float = 1.0) -> Value:
    return op.divide(op.negative(op.log(u)), _double(lambd))


def _cauchy(u: Value, median: float = 0.0, sigma: float = 1.0) -> Value:
    angle = op.multiply(op.subtract(u, _double(0.5)), _double(math.pi))
    return op.add(_double(median), op.multiply(_double(sigma), op.tan(angle)))


def _geometric(u: Value, p: float) -> Value:
    """The number of trials up to the first success."""
    if p == 1:
        return op.ones_like(u)
    return op.maximum(op.ceil(op.divide(op.log(u), _double(math.log1p(-p)))), _double(1))


_inverted("exponential", _exponential)
_inverted("cauchy", _cauchy)
_inverted("geometric", _geometric)


@register_random("aten::log_normal")
def log_normal(ctx: Lowering, x: Value, mean: float = 1.0, std: float = 2.0, **kwargs: Any) -> Value:
    made = _normal(ctx, ctx.shape, "f64")
    return ctx.cast(op.exp(op.add(_double(mean), op.multiply(_double(std), made))), ctx.dtype)


# --- integers and permutations


def _below(ctx: Lowering, shape: tuple[ExprLike, ...], low: Any, high: Any) -> Value:
    """Integers in [low, high)."""
    return below(ctx.random.bits(shape), ctx.tensor(low, "i64"), ctx.tensor(high, "i64"))


@register_random("aten::randint", "aten::randint_like")
def randint(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    """From 0 to a number, or between two. `randint_like` takes a tensor first, the other takes a shape last."""
    bounds = args[1:] if "like" in ctx.name else [argument for argument in args if not isinstance(argument, list)]
    low, high = (0, bounds[0]) if "low" not in ctx.name else bounds[:2]
    return ctx.cast(_below(ctx, ctx.shape, low, high), ctx.dtype)


@register_random("aten::random")
def random(ctx: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    """Between two numbers; without them all whole numbers that the type holds exactly and are not negative."""
    bounds = [argument for argument in args if argument is not None]
    if not bounds:
        dtype = ctx.dtype
        bits = {"f64": 53, **UNIFORM_BITS}.get(dtype) or (1 if dtype == "bool" else np.iinfo(_numpy(dtype)).bits)
        bits -= 1 if dtype.startswith("i") else 0
        key = ctx.random.bits(ctx.shape)
        shift = max(63 - bits - (1 if is_float(dtype) else 0), 0)
        return ctx.cast(op.right_shift(key, _integer(shift)), dtype)
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    return ctx.cast(_below(ctx, ctx.shape, low, high), ctx.dtype)


def _numpy(dtype: str) -> np.dtype:
    from ....dtypes import to_numpy

    return to_numpy(dtype)


@register_random("aten::randperm")
def randperm(ctx: Lowering, n: Any, *args: Any, **kwargs: Any) -> Value:
    """The order of random keys."""
    return ctx.cast(op.argsort(ctx.random.bits(ctx.shape), 0), ctx.dtype)


# --- choices


def _occurs(ctx: Lowering, shape: tuple[ExprLike, ...], probability: Any) -> Value:
    """True with a probability, a number or a tensor."""
    dtype = "f64" if isinstance(probability, Value) and probability.dtype == "f64" else "f32"
    return op.less(_uniform(ctx, shape, dtype), ctx.tensor(probability, dtype))


@register_random("aten::bernoulli")
def bernoulli(ctx: Lowering, x: Value, p: Any = None, **kwargs: Any) -> Value:
    """1 with the probability that the tensor, or the argument, says."""
    probability = x if p is None else p
    if isinstance(probability, Value):
        zero, one = (ctx.tensor(value, probability.dtype) for value in (0.0, 1.0))
        is_valid = op.logical_and(op.greater_equal(probability, zero), op.less_equal(probability, one))
        ctx.check(is_valid, "a probability is not in [0, 1]")
    return ctx.cast(_occurs(ctx, ctx.shape, probability), ctx.dtype)


@register_random("aten::multinomial")
def multinomial(
    ctx: Lowering,
    x: Value,
    num_samples: Any,
    replacement: bool = False,
    *,
    drawn: Value | None = None,
    **kwargs: Any,
) -> Value:
    """Places along the last axis with the probabilities there, which need not add up to 1.

    With replacement a place is where the running sum passes a uniform number. Without, the places are those of the
    greatest quotients of a probability and an exponential number, which is one draw after the other.

    Args:
      drawn: what PyTorch has drawn (`random_ops.py`): exponential numbers of the shape of `x` without replacement or
        for one sample, else a uniform number of f64 for each sample.
    """
    weights = ctx.cast(x, "f64")
    zero = _double(0)
    ctx.check(op.logical_and(op.isfinite(weights), op.greater_equal(weights, zero)), "a probability is not valid")
    sums = op.sum(weights, [x.ndim - 1])
    ctx.check(op.greater(sums, zero), "all probabilities of a row are zero")
    axis = x.ndim - 1
    if not replacement or (drawn is not None and num_samples == 1):
        if drawn is None:
            keys = op.divide(weights, op.negative(op.log(_open_uniform(ctx, tuple(x.shape)))))
        else:
            keys = op.divide(x, drawn)
        order = op.argsort(keys, axis, True)
        return ctx.cast(op.strided_slice(order, [axis], [0], [num_samples]), ctx.dtype)
    running = op.cumsum(weights, axis)
    total = op.strided_slice(running, [axis], [-1], [2**63 - 1])
    draw = op.multiply(_uniform(ctx, ctx.shape, "f64") if drawn is None else drawn, total)
    passed = op.less_equal(op.expand_dims(running, [axis]), op.expand_dims(draw, [axis + 1]))
    return op.sum(op.astype(passed, "i64"), [axis + 1])


# --- dropout


@register_random("aten::native_dropout", when=2)
def native_dropout(ctx: Lowering, x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """What is kept, scaled so that the mean stays, and where it is kept."""
    if not train or p == 0:
        return x, op.ones(x.shape, "bool")
    if p == 1:
        return op.zeros_like(x), op.zeros(x.shape, "bool")
    mask = _occurs(ctx, ctx.shape, 1.0 - p)
    kept = op.multiply(x, ctx.cast(mask, x.dtype))
    return op.multiply(kept, ctx.tensor(1.0 / (1.0 - p), x.dtype)), mask


@register_random("aten::dropout", when=2)
def dropout(ctx: Lowering, x: Value, p: float, train: bool) -> Value:
    return native_dropout(ctx, x, p, train)[0]


@register_random("aten::rrelu_with_noise_functional", "aten::rrelu_with_noise", when=4)
def random_leaky_relu(
    ctx: Lowering,
    x: Value,
    noise: Value,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    **kwargs: Any,
) -> Any:
    """A slope at random for each negative element; the mean of both bounds where the model is evaluated."""
    one = ctx.tensor(1.0, x.dtype)
    is_negative = op.less_equal(x, ctx.tensor(0.0, x.dtype))
    if training:
        span = op.multiply(_uniform(ctx, tuple(x.shape), x.dtype), ctx.tensor(upper - lower, x.dtype))
        slope = op.where(is_negative, op.add(span, ctx.tensor(lower, x.dtype)), one)
    else:
        slope = op.where(is_negative, ctx.tensor((lower + upper) / 2, x.dtype), one)
    made = op.multiply(x, slope)
    return (made, slope) if isinstance(ctx.result, (tuple, list)) else made
