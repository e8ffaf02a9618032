# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bits: the counter-based generator Philox4x32-10, of integer ops alone.

Philox (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011) makes a block of four 32-bit words from a
counter of four words and a key of two. Blocks do not depend on each other, so all elements are drawn at once.

The state of a program is a tensor `[seed, offset]` of i64, a buffer that each call changes. Block `b` of a seed is
`philox(counter = (b mod 2^32, b div 2^32, 0, 0), key = (seed mod 2^32, seed div 2^32))`. An op that draws `n` words
takes those of the next `ceil(n / 4)` blocks, in order, and moves the offset behind them.

Words are numbers of i64 below 2^32: their product of 64 bits wraps around, and both of its halves are right all the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import op
from ...symbolic import ExprLike
from ...values import Value

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_MASK = 0xFFFFFFFF


def _number(value: int) -> Value:
    return op.constant(np.int64(value))


def low_word(x: Value) -> Value:
    """The lower 32 bits."""
    return op.bitwise_and(x, _number(_MASK))


def high_word(x: Value) -> Value:
    """The upper 32 bits."""
    return low_word(op.right_shift(x, _number(32)))


def philox4x32(counter: Sequence[Value], key: Sequence[Value]) -> list[Value]:
    """The four words of a block, for each element of the counters.

    Args:
      counter: four tensors of words (i64, below 2^32) whose shapes broadcast.
      key: two tensors of words.
    """
    words, keys = list(counter), list(key)
    for step in range(_ROUNDS):
        if step:
            keys = [low_word(op.add(part, _number(add))) for part, add in zip(keys, _KEY_STEPS)]
        first, second = (op.multiply(words[2 * i], _number(_MULTIPLIERS[i])) for i in range(2))
        words = [
            op.bitwise_xor(op.bitwise_xor(high_word(second), words[1]), keys[0]),
            low_word(second),
            op.bitwise_xor(op.bitwise_xor(high_word(first), words[3]), keys[1]),
            low_word(first),
        ]
    return words


class RandomState:
    """The state of the generator at a place of the program that is being built."""

    def __init__(self, state: Value) -> None:
        self._seed, self._offset = (op.squeeze(op.strided_slice(state, [0], [i], [i + 1]), [0]) for i in range(2))

    def words(self, count: ExprLike) -> Value:
        """The next words, `[count]` of i64 below 2^32."""
        blocks = (count + 3) // 4
        places = op.add(op.arange(0, blocks, 1, "i64"), self._offset)
        zero = _number(0)
        counter = [low_word(places), high_word(places), zero, zero]
        made = philox4x32(counter, [low_word(self._seed), high_word(self._seed)])
        self._offset = op.add(self._offset, _as_tensor(blocks))
        flat = op.reshape(op.stack(made, 1), (4 * blocks,))
        return op.strided_slice(flat, [0], [0], [count])

    def value(self) -> Value:
        """The state as a tensor again."""
        return op.stack([self._seed, self._offset], 0)


def _as_tensor(value: ExprLike) -> Value:
    if isinstance(value, int):
        return _number(value)
    return op.reshape(op.shape_to_tensor((value,)), ())
