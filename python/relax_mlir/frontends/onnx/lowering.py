# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a converter is given: the node with its attributes, and what is known of operands."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import op
from ...annotations import Shape
from ...errors import FrontendError, UnsupportedOpError
from ...symbolic import ExprLike, Facts, Sym
from ...values import Value
from ..conditions import Compare, Condition, Junction, prove, require
from . import dtypes
from .data import Data, Optional_
from .errors import ValueRequiredError
from .model import Graph, Node, TensorAttribute

_MISSING: Any = object()


class Lowering:
    """The node that is converted, and what converters ask of it.

    Attributes:
      version: of the domain of the node, as the model imports it.
      weights: what the program brings along, by name.
      scope: what the names of the graph stand for, for graphs in the node.
    """

    def __init__(self, importer: Any, node: Node, version: int, operands: Sequence[Any]) -> None:
        self.importer = importer
        self.node = node
        self.version = version
        self.operands = operands
        self.weights: dict[str, np.ndarray] = importer.weights
        self.facts: Facts = importer.symbols.facts
        self.scope: Any = {}

    # --- attributes

    def attribute(self, name: str, default: Any = _MISSING) -> Any:
        """An attribute as it is; the default where the node has none."""
        if name in self.node.attributes:
            return self.node.attributes[name]
        if default is _MISSING:
            raise FrontendError(f"{self.node} has no attribute '{name}', which the op needs")
        return default

    def int(self, name: str, default: Any = _MISSING) -> Any:
        return self._typed(name, default, int, "an integer")

    def ints(self, name: str, default: Any = _MISSING) -> Any:
        return self._typed(name, default, list, "a list of integers")

    def float(self, name: str, default: Any = _MISSING) -> Any:
        return self._typed(name, default, (int, float), "a number")

    def text(self, name: str, default: Any = _MISSING) -> Any:
        return self._typed(name, default, str, "text")

    def graph(self, name: str) -> Graph:
        return self._typed(name, _MISSING, Graph, "a graph")

    def tensor(self, name: str) -> Data:
        """An attribute that is a tensor."""
        value: TensorAttribute = self._typed(name, _MISSING, TensorAttribute, "a tensor")
        label = self.node.outputs[0] if self.node.op == "Constant" else f"{self.node.outputs[0]}.{name}"
        return Data(value.dtype, value.array, name=self.importer.weight_name(value.array, label))

    def dtype(self, name: str, default: Any = _MISSING) -> Any:
        """An attribute that is an element type, under our short name; 0 stands for None where that is the default."""
        value = self.int(name, default)
        if name not in self.node.attributes or (value == 0 and default is None):
            return value
        return dtypes.from_code(value, f"the attribute '{name}' of {self.node}")

    def _typed(self, name: str, default: Any, kind: Any, expected: str) -> Any:
        value = self.attribute(name, default)
        if name in self.node.attributes and not isinstance(value, kind):
            raise FrontendError(f"the attribute '{name}' of {self.node} is {type(value).__name__}; expected {expected}")
        return value

    def uses_output(self, index: builtins.int) -> bool:
        """Whether the node names a result."""
        return index < len(self.node.outputs) and bool(self.node.outputs[index])

    # --- operands

    def value(self, data: Any) -> Any:
        """An operand as a value of the builder; None where it is left out."""
        if data is None:
            return None
        if isinstance(data, Optional_):
            data = data.value
        if not isinstance(data, Data):
            self.fail("an input is a sequence or an empty optional; expected a tensor")
        if data.dtype == dtypes.STRING:
            raise self.unsupported("tensors of text exist only where their elements are known while importing")
        return data.materialize(self.weights)

    def elements(self, data: Data, what: str) -> np.ndarray:
        """The elements of an operand that must be numbers while importing.

        Raises:
          ValueRequiredError: they are not known.
        """
        if not data.is_constant:
            self._require_value(data, what)
        assert data.elements is not None
        return data.elements

    def numbers(self, data: Data, what: str) -> list[Any]:
        """The elements as a list of Python's numbers, which must be known while importing."""
        return self.elements(data, what).reshape(-1).tolist()

    def number(self, data: Data, what: str) -> Any:
        """The one element of a tensor, which must be known while importing."""
        return self._one(self.numbers(data, what), what)

    def integers(self, data: Data, what: str) -> list[ExprLike]:
        """The elements of an operand as integers or expressions.

        Raises:
          ValueRequiredError: they are not known.
        """
        if data.elements is None:
            self._require_value(data, what)
        return _as_exprs(data.elements)

    def integer(self, data: Data, what: str) -> ExprLike:
        return self._one(self.integers(data, what), what)

    def sizes(self, data: Data, what: str) -> list[ExprLike]:
        """The elements of an operand that are sizes: where only a run knows them, they become symbols.

        The program fails where one is negative.

        Raises:
          ValueRequiredError: not even their number is known.
        """
        if data.elements is not None:
            return _as_exprs(data.elements)
        length = data.shape[0] if data.ndim else 1
        if data.ndim > 1 or not isinstance(length, int):
            self._require_value(data, what)
        if not length:
            return []
        value = op.reshape(op.astype(self.value(data), "i64"), (length,))
        found = [
            self.importer.symbols.fresh(what.removeprefix("the ").replace(" ", "_"), data.origins)
            for _ in range(length)
        ]
        op.match_cast(op.tensor_to_shape(value), Shape(tuple(found)))
        return list(found)

    def fixed(self, size: ExprLike, what: str) -> builtins.int:
        """A size that must be a number while importing.

        Raises:
          ValueRequiredError: it is not; the error has the inputs whose shapes or values decide it.
        """
        if isinstance(size, int):
            return size
        self._require_sizes(size.symbols, f"{what} as a number", str(size))

    def _require_sizes(self, names: Iterable[str], what: str, text: str) -> NoReturn:
        """Asks for the inputs whose shapes or values decide what must be known while importing."""
        table, names = self.importer.symbols, set(names)
        message = f"{self.node} needs {what} while the model is imported, and it is {text}"
        if any(name not in table.shapes and name not in table.values for name in names):
            raise UnsupportedOpError(
                f"{message}, which only a run knows", {self.node.kind: 1}, node=self.node.name or self.node.outputs[0]
            )
        shapes = {table.shapes[name] for name in names if name in table.shapes}
        values = {origin for name in names for origin in table.values.get(name, ())}
        raise ValueRequiredError(
            f"{message}: give shapes, values or bounds of sizes of {', '.join(map(repr, sorted(shapes | values)))}, or "
            "use InferenceSession, which makes a program for each",
            values,
            shapes,
        )

    def size(self, data: Data, what: str) -> ExprLike:
        return self._one(self.sizes(data, what), what)

    def _one(self, values: list[Any], what: str) -> Any:
        if len(values) != 1:
            self.fail(f"{what} has {len(values)} elements; expected one")
        return values[0]

    def _require_value(self, data: Data, what: str) -> NoReturn:
        message = f"{self.node} needs the value of {what} while the model is imported"
        if data.elements is not None:
            entries = data.elements.reshape(-1)
            self._require_sizes(set().union(*map(symbols_in, entries)), what, ", ".join(map(str, entries)))
        if not data.origins:
            raise UnsupportedOpError(
                f"{message}; the model computes it from {self._show_origins(data)}, and only a run knows it",
                {self.node.kind: 1},
                node=self.node.name or self.node.outputs[0],
            )
        names = ", ".join(map(repr, sorted(data.origins)))
        raise ValueRequiredError(
            f"{message}, which follows from {names}: give values={{name: array}} to make a program for one value, or "
            "use InferenceSession, which makes one for each",
            data.origins,
        )

    def _show_origins(self, data: Data) -> str:
        return ", ".join(map(repr, sorted(data.origins))) or "sizes"

    # --- building

    def cast(self, value: Value, dtype: str) -> Value:
        """The tensor with elements of that type."""
        return value if value.dtype == dtype else op.astype(value, dtype)

    def scalar(self, number: Any, dtype: str) -> Value:
        """A number as a tensor of rank 0; a float beyond the range of the type is infinite."""
        if isinstance(number, Sym):
            return op.reshape(self.cast(op.arange(number, number + 1, 1, "i64"), dtype), ())
        with np.errstate(over="ignore"):
            return op.constant(np.asarray(number).astype(dtypes.to_numpy(dtype)), dtype)

    def axis(self, axis: builtins.int, rank: builtins.int) -> builtins.int:
        """An axis that counts from the first."""
        if not -rank <= axis < max(rank, 1):
            self.fail(f"axis {axis} of a tensor of rank {rank}")
        return axis % rank if rank else 0

    def axes(self, axes: Sequence[builtins.int], rank: builtins.int) -> list[builtins.int]:
        return [self.axis(int(axis), rank) for axis in axes]

    def is_one(self, size: ExprLike) -> bool:
        """Whether a size is certainly 1."""
        return isinstance(size, int) and size == 1

    def equal(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether two sizes are certainly equal."""
        return bool(lhs == rhs or self.facts.equal(lhs, rhs))

    def require(self, condition: Condition, message: str) -> None:
        """Checks a condition on sizes: while importing where it can be decided, else where the program runs."""
        if prove(condition, self.facts) is False:
            self.fail(message)
        require(condition, f"{self.node}: {message}", self.facts)

    def expand(self, value: Value, axes: Sequence[builtins.int]) -> Value:
        """The tensor with axes of size 1 at these places; the same where there are none."""
        return op.expand_dims(value, list(axes)) if axes else value

    def broadcast(self, *shapes: Sequence[ExprLike]) -> list[ExprLike]:
        """The shape that several are broadcast to."""
        rank = max(map(len, shapes))
        padded: list[list[ExprLike]] = [[*[1] * (rank - len(shape)), *shape] for shape in shapes]
        return [_broadcast_sizes(sizes) for sizes in zip(*padded)]

    # --- errors

    def fail(self, message: str) -> NoReturn:
        """Refuses the node."""
        raise FrontendError(f"{self.node}: {message}")

    def unsupported(self, what: str, attribute: str | None = None) -> UnsupportedOpError:
        """The error for a form of an op that its converter does not know, to be raised."""
        place = f", attribute '{attribute}'" if attribute else ""
        return UnsupportedOpError(
            f"{self.node}{place}: {what}",
            {self.node.kind: 1},
            node=self.node.name or next(iter(self.node.outputs), ""),
            attribute=attribute,
        )


def _broadcast_sizes(sizes: Sequence[ExprLike]) -> ExprLike:
    others = [size for size in dict.fromkeys(sizes) if not (isinstance(size, int) and size == 1)]
    if len(others) <= 1:
        return others[0] if others else 1
    made = Sym.broadcast(*others)
    return made.value if made.is_constant else made


def _as_exprs(elements: np.ndarray) -> list[ExprLike]:
    return [entry if isinstance(entry, Sym) else int(entry) for entry in elements.reshape(-1).tolist()]


def symbols_in(entry: Any) -> set[str]:
    """The names of the symbols in a size or a condition."""
    if isinstance(entry, Compare):
        return symbols_in(entry.lhs) | symbols_in(entry.rhs)
    if isinstance(entry, Junction):
        return set().union(*map(symbols_in, entry.operands))
    return set(entry.symbols) if isinstance(entry, Sym) else set()
