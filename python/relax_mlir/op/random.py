# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers, from the counter-based generator Philox4x32-10, of integer ops alone.

Philox (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011) makes a block of four 32-bit words from a
counter of four words and a key of two. Blocks do not depend on each other, so all elements are drawn at once.

The state of a program is a tensor `[seed, offset]` of i64, a buffer that each call changes. Block `b` of a seed is
`philox(counter = (b mod 2^32, b div 2^32, 0, 0), key = (seed mod 2^32, seed div 2^32))`. An op that draws `n` words
takes those of the next `ceil(n / 4)` blocks, in order, and moves the offset behind them.

Words are numbers of i64 below 2^32: their product of 64 bits wraps around, and both of its halves are right all the
same.

Floats are uniform over the multiples of 2^-24 in [0, 1) for f32, of 2^-53, 2^-11 and 2^-8 for f64, f16 and bf16. Normal
numbers are made in pairs by Box and Muller's method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..annotations import parse_dims
from ..dtypes import DTypeLike, is_int, normalize
from ..errors import fail
from ..symbolic import ExprLike, Sym
from ..values import Value
from ._generated import (
    add,
    arange,
    argsort,
    assert_,
    astype,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    concat,
    cos,
    floor,
    floor_mod,
    greater,
    left_shift,
    log,
    logical_and,
    multiply,
    right_shift,
    sin,
    sqrt,
    squeeze,
    stack,
    strided_slice,
    subtract,
)
from ._generated import all as all_
from .core import constant, reshape
from .sizes import as_value, size_tensor
from .support import Operand

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_MASK = 0xFFFFFFFF


UNIFORM_BITS = {"f16": 11, "bf16": 8, "f32": 24}
"""Bits of a uniform number; one of f64 has 53, of two words."""


def _number(value: int) -> Value:
    return constant(np.int64(value))


def low_word(x: Value) -> Value:
    """The lower 32 bits."""
    return bitwise_and(x, _number(_MASK))


def high_word(x: Value) -> Value:
    """The upper 32 bits."""
    return low_word(right_shift(x, _number(32)))


def philox4x32(counter: Sequence[Value], key: Sequence[Value]) -> list[Value]:
    """The four words of a block, for each element of the counters.

    Args:
      counter: four tensors of words (i64, below 2^32) whose shapes broadcast.
      key: two tensors of words.
    """
    words, keys = list(counter), list(key)
    for step in range(_ROUNDS):
        if step:
            keys = [low_word(add(part, _number(by))) for part, by in zip(keys, _KEY_STEPS)]
        first, second = (multiply(words[2 * i], _number(_MULTIPLIERS[i])) for i in range(2))
        words = [
            bitwise_xor(bitwise_xor(high_word(second), words[1]), keys[0]),
            low_word(second),
            bitwise_xor(bitwise_xor(high_word(first), words[3]), keys[1]),
            low_word(first),
        ]
    return words


class Generator:
    """A generator of random numbers, whose state the program takes and returns.

    >>> state = Tensor((2,), "i64", name="state")
    >>> with bb.function("main", [state, x]):
    ...     random = op.Generator(state)
    ...     noisy = x + random.normal(x.shape, std=0.1)
    ...     bb.return_(noisy, random.state)

    The first state is `[seed, 0]`, for any seed. Each call of a method draws the numbers that follow; `state` is what
    the next call of the program continues from. Equal states give equal numbers on all targets. The numbers are
    neither NumPy's nor PyTorch's, their distributions are. They are not for cryptography.

    Args:
      state: a tensor [2] of i64.

    Raises:
      RelaxError: the state has another shape or type.
    """

    def __init__(self, state: Operand) -> None:
        state = as_value(state, "Generator: state")
        if state.dtype != "i64" or state.shape not in ((2,), (None,)):
            fail(f'Generator: state is {state.annotation!r}; expected Tensor((2,), "i64"): a seed and an offset')
        self._seed, self._offset = (squeeze(strided_slice(state, [0], [i], [i + 1]), [0]) for i in range(2))

    @property
    def state(self) -> Value:
        """The state after what has been drawn: a tensor [2] of i64."""
        return stack([self._seed, self._offset], 0)

    def words(self, count: ExprLike) -> Value:
        """The next words: `[count]` of i64, uniform from 0 to 2^32 - 1."""
        blocks = (count + 3) // 4
        places = add(arange(0, blocks, 1, "i64"), self._offset)
        zero = _number(0)
        counter = [low_word(places), high_word(places), zero, zero]
        made = philox4x32(counter, [low_word(self._seed), high_word(self._seed)])
        self._offset = add(self._offset, size_tensor(blocks))
        flat = reshape(stack(made, 1), (4 * blocks,))
        return strided_slice(flat, [0], [0], [count])

    def _words_for(self, count: ExprLike, each: int) -> list[Value]:
        """`each` words for each of `count` elements, as tensors `[count]`."""
        words = self.words(count * each)
        if each == 1:
            return [words]
        return [strided_slice(words, [0], [i * count], [(i + 1) * count]) for i in range(each)]

    def uniform(self, shape: Any, dtype: DTypeLike = "f32", low: float = 0.0, high: float = 1.0) -> Value:
        """Uniform numbers from `low`, included, to `high`, excluded up to rounding.

        Args:
          shape: sizes, numbers or expressions.
          dtype: f16, bf16, f32 or f64.

        Raises:
          RelaxError: the type is another, or a size is unknown.
        """
        shape, dtype = _shape(shape, "uniform"), _float(dtype, "uniform")
        count = _product(shape)
        if dtype == "f64":
            first, second = self._words_for(count, 2)
            bits = add(multiply(right_shift(first, _number(5)), _number(2**26)), right_shift(second, _number(6)))
            made = multiply(astype(bits, "f64"), 2.0**-53)
        else:
            (word,) = self._words_for(count, 1)
            width = UNIFORM_BITS[dtype]
            number = astype(right_shift(word, _number(32 - width)), "f32")
            made = _cast(multiply(number, 2.0**-width), dtype)
        made = reshape(made, shape)
        if (low, high) != (0.0, 1.0):
            made = add(multiply(made, float(high) - float(low)), float(low))
        return made

    def open_uniform(self, shape: Any) -> Value:
        """Uniform numbers in (0, 1) of f64, none of which is an end: multiples of 2^-52, moved by half of it."""
        whole = floor(multiply(self.uniform(shape, "f64"), 2.0**52))
        return multiply(add(whole, 0.5), 2.0**-52)

    def normal(self, shape: Any, dtype: DTypeLike = "f32", mean: float = 0.0, std: float = 1.0) -> Value:
        """Normal numbers; those of f16 and bf16 are rounded from f32.

        Args:
          shape: sizes, numbers or expressions.
          dtype: f16, bf16, f32 or f64.

        Raises:
          RelaxError: the type is another, a size is unknown, or `std` is negative.
        """
        shape, dtype = _shape(shape, "normal"), _float(dtype, "normal")
        if std < 0:
            fail(f"normal: std is {std}; expected at least 0")
        count = _product(shape)
        half = (count + 1) // 2  # a radius and an angle give two numbers
        if dtype == "f64":
            radius, angle = self.open_uniform((half,)), self.uniform((half,), "f64")
        else:
            first, second = self._words_for(half, 2)
            # Words have more bits than f32: the least of them decide how far the tails reach.
            radius = multiply(add(astype(first, "f32"), 0.5), 2.0**-32)
            angle = multiply(astype(second, "f32"), 2.0**-32)
        radius = sqrt(multiply(log(radius), -2.0))
        angle = multiply(angle, 2 * math.pi)
        both = concat([multiply(radius, cos(angle)), multiply(radius, sin(angle))], 0)
        made = _cast(reshape(strided_slice(both, [0], [0], [count]), shape), dtype)
        if (mean, std) != (0.0, 1.0):
            made = add(multiply(made, float(std)), float(mean))
        return made

    def bits(self, shape: Any) -> Value:
        """Uniform 63-bit integers, from 0 to 2^63 - 1, as i64."""
        shape = _shape(shape, "bits")
        first, second = self._words_for(_product(shape), 2)
        return reshape(bitwise_or(left_shift(right_shift(first, _number(1)), _number(32)), second), shape)

    def integers(self, low: Any, high: Any, shape: Any, dtype: DTypeLike = "i64") -> Value:
        """Uniform integers from `low`, included, to `high`, excluded.

        Args:
          low, high: numbers, expressions, or tensors of i64 that broadcast to the shape.
          shape: sizes, numbers or expressions.
          dtype: a type of integers that holds them; others wrap around.

        Raises:
          RelaxError: there is no such integer (for tensors, when the program runs), or the type is another.
        """
        shape, dtype = _shape(shape, "integers"), normalize(dtype)
        if not is_int(dtype):
            fail(f"integers: the type is {dtype}; expected integers")
        if isinstance(low, int) and isinstance(high, int):
            if high <= low:
                fail(f"integers: high is {high}, and low is {low}; expected low < high")
            if low < -(2**63) or high >= 2**63 or high - low >= 2**63:
                fail(f"integers: there are {high - low} numbers from {low} to {high}; expected fewer than 2^63, of i64")
        first, last = (size_tensor(x) if _is_number(x) else as_value(x, "integers: a bound") for x in (low, high))
        if not (isinstance(low, int) and isinstance(high, int)):
            # The difference wraps around if it is too large.
            fits = logical_and(greater(last, first), greater(subtract(last, first), _number(0)))
            assert_(all_(fits), "integers: high is not greater than low, or greater by 2^63 or more")
        return _cast(below(self.bits(shape), first, last), dtype)

    def permutation(self, count: ExprLike) -> Value:
        """The numbers from 0 to `count - 1` in a random order: `[count]` of i64."""
        return argsort(self.bits((count,)), 0, False, "i64")


def _cast(x: Value, dtype: str) -> Value:
    return x if x.dtype == dtype else astype(x, dtype)


def below(bits: Value, low: Value, high: Value) -> Value:
    """Integers in [low, high): 63 bits modulo the number of them."""
    return add(floor_mod(bits, subtract(high, low)), low)


def _is_number(x: Any) -> bool:
    return isinstance(x, Sym) or (hasattr(x, "__index__") and not getattr(x, "shape", ()))


def _product(shape: Sequence[ExprLike]) -> ExprLike:
    total: ExprLike = 1
    for size in shape:
        total = total * size
    return total


def _shape(shape: Any, name: str) -> tuple[ExprLike, ...]:
    dims = parse_dims(shape)
    if None in dims:
        fail(f"{name}: a size of the shape is unknown; name it with op.match_cast")
    return dims  # type: ignore[return-value]


def _float(dtype: DTypeLike, name: str) -> str:
    known = ("f16", "bf16", "f32", "f64")
    try:
        dtype = normalize(dtype)
    except ValueError as error:
        fail(f"{name}: {error}")
    if dtype not in known:
        fail(f"{name}: the type is {dtype}; expected {', '.join(known[:-1])} or {known[-1]}")
    return dtype
