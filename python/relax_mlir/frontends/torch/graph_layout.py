# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the elements of a result lie in memory.

Compiled functions give tensors whose elements lie in the order of their axes. A graph of PyTorch was traced with other
strides for some results, and what comes after it relies on them. Such a result is computed with its axes in the order
of memory, and is then shown with the axes in the order of the graph, which copies nothing:

    traced     sizes [a, b, c], strides [c, a*c, 1]
    computed   sizes [b, a, c], strides [a*c, c, 1]     shown by permute(1, 0, 2)

An axis of stride 0 is computed with one element. Only strides that leave gaps need a copy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ... import op
from ...values import Value

_USUAL = 8192
"""Taken for a size of which no example is known, where axes are put in order."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """How a result is computed, and how it is then shown.

    Attributes:
      order: the axes of the graph, in the order of memory.
      repeated: axes of stride 0, which are computed with one element.
      view: what shows the result as the graph has it: nothing (""), "permute", "as_strided", or "copy" where gaps
        between elements need other memory.
    """

    order: tuple[int, ...]
    repeated: tuple[int, ...] = ()
    view: str = ""

    @property
    def inverse(self) -> tuple[int, ...]:
        """For each axis of the graph, its place in memory."""
        return tuple(self.order.index(axis) for axis in range(len(self.order)))

    def arrange(self, value: Value) -> Value:
        """The tensor as it is computed: its axes in the order of memory."""
        if self.repeated:
            zeros, ones = [0] * len(self.repeated), [1] * len(self.repeated)
            value = op.strided_slice(value, list(self.repeated), zeros, ones)
        return value if self.order == tuple(range(len(self.order))) else op.permute_dims(value, list(self.order))


def layout_of(example: torch.Tensor) -> Layout:
    """The layout of a traced tensor."""
    sizes, strides = list(example.shape), list(example.stride())
    natural = tuple(range(len(sizes)))
    if all(map(_equal, strides, _contiguous(sizes))):
        return Layout(natural)
    repeated = tuple(axis for axis in natural if _equal(strides[axis], 0) and not _equal(sizes[axis], 1))
    order = tuple(sorted(natural, key=lambda axis: (-_hint(strides[axis]), _hint(sizes[axis]) != 1)))
    computed = [1 if axis in repeated else sizes[axis] for axis in order]
    dense = dict(zip(order, _contiguous(computed)))
    differing = [axis for axis in natural if axis not in repeated and not _equal(strides[axis], dense[axis])]
    if any(not _equal(sizes[axis], 1) for axis in differing):
        return Layout(natural, view="copy")
    return Layout(order, repeated, "as_strided" if repeated or differing else "permute")


def _contiguous(sizes: Sequence[Any]) -> list[Any]:
    strides: list[Any] = []
    stride: Any = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = stride * size
    return strides


def _equal(lhs: Any, rhs: Any) -> bool:
    """Whether two sizes are certainly equal, for tensors that have elements: strides of others have no meaning."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs == rhs
    if statically_known_true(lhs == rhs):
        return True
    return sympy.expand(_without_empty(lhs) - _without_empty(rhs)) == 0


def _without_empty(size: Any) -> sympy.Expr:
    """The expression of a size, with `Max(1, n)` as `n`."""
    expr = expression(size)
    return expr.replace(lambda part: type(part).__name__ == "Max" and sympy.Integer(1) in part.args, _other_of_max)


def _other_of_max(part: sympy.Expr) -> sympy.Expr:
    others = [argument for argument in part.args if argument != 1]
    return others[0] if len(others) == 1 else part.func(*others)


def expression(size: Any) -> sympy.Expr:
    """A size of a trace, or a number made of sizes, as sympy's expression."""
    return sympy.sympify(size.node.expr if hasattr(size, "node") else size)


def _hint(size: Any) -> int:
    """The value of a size in the example of the trace."""
    if isinstance(size, int):
        return size
    if size.node.has_hint():
        return int(size.node.hint)
    return int(size.node.expr.subs(dict.fromkeys(size.node.expr.free_symbols, _USUAL)))
