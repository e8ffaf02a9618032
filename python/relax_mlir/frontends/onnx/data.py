# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a graph while it is imported.

Of a tensor the elements may be known: those of an initializer, and those of a small tensor of sizes, which are
expressions over the symbols of the program (`Sym`). So what a model computes of shapes becomes expressions, and nothing
of it is left in the program. A tensor whose elements are known becomes a value of the program where an op needs it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Union

import numpy as np

from ... import op
from ...annotations import Tensor
from ...scope import current_function
from ...symbolic import Sym
from ...values import Value
from ..conditions import Compare, Condition, Junction, build
from . import dtypes

_SMALL = 64
"""Tensors with at most this many elements are constants of the module, so that they fold; others are weights."""


class Data:
    """A tensor of the graph.

    Attributes:
      dtype: the element type, also one that no kernel has.
      elements: where they are known, the elements in the type that carries them. An array of objects has integers and
        `Sym` for a tensor of integers, truths and conditions for one of Booleans, and text for one of text.
      name: that of a weight with these elements.
      origins: the inputs of the model from which the elements follow.
    """

    __slots__ = ("dtype", "elements", "name", "origins", "_value", "_frame")

    def __init__(
        self,
        dtype: str,
        elements: np.ndarray | None = None,
        value: Value | None = None,
        name: str = "",
        origins: frozenset[str] = frozenset(),
    ) -> None:
        self.dtype = dtype
        # Any for None: rules are asked only where elements are known.
        self.elements: np.ndarray | Any = elements
        self.name = name
        self.origins = origins
        self._value = value
        self._frame: Any = None

    @property
    def is_constant(self) -> bool:
        """Whether all elements are known while importing."""
        elements = self.elements
        return elements is not None and (elements.dtype != object or self.dtype == dtypes.STRING)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: numbers and expressions."""
        if self.elements is not None:
            return self.elements.shape
        assert self._value is not None
        shape = self._value.shape
        assert shape is not None
        return shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def materialize(self, weights: dict[str, np.ndarray]) -> Value:
        """The tensor as a value where the program is being built now."""
        if self.elements is None:
            assert self._value is not None
            return self._value
        scope = current_function()
        if self._value is None or self._frame not in scope.frames:
            self._value, self._frame = _build(self, weights), scope.frame
        return self._value


@dataclasses.dataclass(frozen=True)
class Optional_:
    """A value of an optional type; `value` is None where it is left out."""

    value: Any


@dataclasses.dataclass(frozen=True)
class Maps:
    """A sequence of maps with the same keys: a tensor with a row for each map, and a column for each key."""

    rows: Data
    keys: list[int] | list[str]


Operand = Union[Data, list, Optional_, Maps, None]
"""What a name of the graph stands for; a list is a sequence, None an input that is left out."""


def simplify(elements: np.ndarray, dtype: str) -> np.ndarray:
    """Elements of objects as an array of numbers, if they are all numbers."""
    if elements.dtype != object or dtype == dtypes.STRING:
        return elements
    flat = [entry.value if isinstance(entry, Sym) and entry.is_constant else entry for entry in elements.reshape(-1)]
    if any(isinstance(entry, (Sym, Compare, Junction)) for entry in flat):
        found = np.empty(len(flat), object)
        found[:] = flat
        return found.reshape(elements.shape)
    return np.asarray(flat, dtypes.to_numpy(dtype)).reshape(elements.shape)


def _build(data: Data, weights: dict[str, np.ndarray]) -> Value:
    elements = data.elements
    assert elements is not None
    dtype = dtypes.carrier(data.dtype)
    if elements.dtype == object:
        return _expressions(elements, dtype)
    if elements.size <= _SMALL or not data.name:
        return op.constant(np.ascontiguousarray(elements).reshape(elements.shape), dtype)
    weights.setdefault(data.name, elements)
    return op.weight(data.name, Tensor(elements.shape, dtype))


def _expressions(elements: np.ndarray, dtype: str) -> Value:
    """A tensor of sizes or of conditions."""
    parts = [_element(entry, dtype) for entry in elements.reshape(-1)]
    if not parts:
        return op.constant(np.zeros(elements.shape, dtypes.to_numpy(dtype)))
    joined = op.concat(parts, 0) if len(parts) > 1 else parts[0]
    return op.reshape(joined, elements.shape)


def _element(entry: Any, dtype: str) -> Value:
    """One element, as a tensor of one."""
    if isinstance(entry, (Compare, Junction)):
        return truth(entry)
    if not isinstance(entry, Sym):
        return op.constant(np.asarray([entry], dtypes.to_numpy(dtype)))
    made = op.arange(entry, entry + 1, 1, "i64")
    return made if dtype == "i64" else op.astype(made, dtype)


def truth(condition: Condition) -> Value:
    """A condition on sizes as a tensor of one Boolean."""
    if isinstance(condition, bool):
        return op.constant(np.asarray([condition]))
    if isinstance(condition, Junction):
        join = op.logical_and if condition.kind == "and" else op.logical_or
        made, *others = map(truth, condition.operands)
        for other in others:
            made = join(made, other)
        return made
    compare = {
        "==": op.equal,
        "!=": op.not_equal,
        "<": op.less,
        "<=": op.less_equal,
        ">": op.greater,
        ">=": op.greater_equal,
    }[condition.predicate]
    return compare(_element(condition.lhs, "i64"), _element(condition.rhs, "i64"))


def as_branch(data: Data, weights: dict[str, np.ndarray]) -> Any:
    """A truth as what `bb.if_` takes."""
    if data.elements is not None and data.elements.dtype == object:
        return build(data.elements.reshape(-1)[0])
    return op.reshape(data.materialize(weights), ())


def count(shape: Any) -> Any:
    """The number of elements of a shape, a number or an expression."""
    return math.prod(shape, start=1)
