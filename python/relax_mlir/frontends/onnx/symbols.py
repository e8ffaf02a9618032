# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The symbols of a program: sizes that the model names, sizes without a name, and sizes that only a run knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Union

from ...errors import FrontendError
from ...symbolic import ExprLike, Facts, Range, Sym
from .model import TensorType

Bounds = Mapping[str, Union[Range, tuple[int, Union[int, None]]]]
"""What is known of sizes, by the name that the model gives them: a `Range`, or the least and the greatest value."""

_MULTIPLE = re.compile(r"\s*(\d+)\s*\*\s*(\w+)\s*")


class SymbolTable:
    """The symbols of one import.

    Args:
      bounds: of sizes, by name.
      relations: sizes as expressions over others (`"past + sequence"`), or as multiples (`"4*h"`), by name.

    Attributes:
      ranges: declared bounds.
      sources: where each symbol is read, for reports.
      shapes: for a size of an input, that input.
      values: for a size that an operand says, the inputs from which that follows.
    """

    def __init__(self, bounds: Bounds, relations: Mapping[str, str]) -> None:
        self.ranges: dict[Sym, Range] = {}
        self.sources: dict[str, str] = {}
        self.shapes: dict[str, str] = {}
        self.values: dict[str, frozenset[str]] = {}
        self._bounds = dict(bounds)
        self._relations = dict(relations)
        self._named: dict[str, ExprLike] = {}
        self._used: set[str] = set()
        self._facts: Facts | None = None

    @property
    def facts(self) -> Facts:
        """What is declared of the symbols."""
        if self._facts is None:
            self._facts = Facts(self.ranges)
        return self._facts

    def define_inputs(self, inputs: Mapping[str, TensorType]) -> dict[str, tuple[ExprLike, ...]]:
        """The shapes of inputs, with one symbol for each name of a size, and one for each size without a name.

        Raises:
          FrontendError: bounds or relations are of a size that no input has, or a relation cannot be solved.
        """
        named = {size for type in inputs.values() for size in type.shape or () if isinstance(size, str)}
        for what, given in (("symbols", self._bounds), ("dims", self._relations)):
            unnamed = {f"{name}_dim{axis}" for name, type in inputs.items() for axis in range(len(type.shape or ()))}
            for name in given:
                if name not in named and name not in unnamed:
                    known = ", ".join(map(repr, sorted(named))) or "none"
                    raise FrontendError(f"{what} names the size '{name}', which no input has; the names are {known}")
        for name, type in inputs.items():
            for axis, size in enumerate(type.shape or ()):
                if isinstance(size, str) and size not in self._named and size not in self._relations:
                    self._named[size] = self._define(size, f"{name}.shape[{axis}]")
        shapes = {}
        for name, type in inputs.items():
            shapes[name] = tuple(self._dim(name, axis, size) for axis, size in enumerate(type.shape or ()))
        return shapes

    def _dim(self, name: str, axis: int, size: int | str | None) -> ExprLike:
        if isinstance(size, int):
            return size
        label = size if isinstance(size, str) else f"{name}_dim{axis}"
        if label not in self._named:
            where = f"{name}.shape[{axis}]"
            self._named[label] = self._related(label, where) if label in self._relations else self._define(label, where)
        return self._named[label]

    def _related(self, label: str, where: str) -> ExprLike:
        """A size that a relation gives: an expression over sizes of inputs, or a multiple of a size of its own."""
        text = str(self._relations[label])
        if (match := _MULTIPLE.fullmatch(text)) and match[2] not in self._named:
            return self._define(label, where, int(match[1]))
        try:
            expr = Sym.parse(text)
        except (ValueError, ArithmeticError) as error:
            raise FrontendError(f"dims: the relation '{text}' of '{label}' is not an expression: {error}") from None
        values = {}
        for symbol in expr.symbols:
            if symbol not in self._named:
                raise FrontendError(
                    f"dims: the relation '{text}' of '{label}' has the size '{symbol}', which no input has alone; "
                    "expected names of sizes, or a multiple such as 4*h"
                )
            values[symbol] = self._named[symbol]
        return expr.substitute(values)

    def _define(self, label: str, where: str, multiple_of: int = 1) -> Sym:
        bounds = self._bounds.get(label, Range())
        if not isinstance(bounds, Range):
            bounds = Range(*bounds)
        if multiple_of > 1:
            bounds = Range(bounds.lower, bounds.upper, multiple_of)
        symbol = Sym(self._unused(label))
        self.ranges[symbol] = bounds
        self.sources[symbol.name] = where
        self.shapes[symbol.name] = where.rpartition(".shape[")[0]
        self._facts = None
        return symbol

    def fresh(self, base: str, origins: frozenset[str] = frozenset()) -> Sym:
        """A symbol that no size has yet; `origins` are the inputs whose values decide it."""
        name = self._unused(base)
        if origins:
            self.values[name] = origins
        return Sym(name)

    def _unused(self, base: str) -> str:
        base = re.sub(r"\W", "_", base, flags=re.ASCII) or "size"
        base = f"d_{base}" if base[0].isdigit() else base
        name, number = base, 2
        while name in self._used or not _is_name(name):
            name, number = f"{base}_{number}", number + 1
        self._used.add(name)
        return name

    def report(self) -> list[str]:
        """A line for each size of the inputs."""
        lines = []
        for symbol, bounds in self.ranges.items():
            upper = "" if bounds.upper is None else f" <= {bounds.upper}"
            multiple = f", a multiple of {bounds.multiple_of}" if bounds.multiple_of > 1 else ""
            lines.append(f"{bounds.lower} <= {symbol}{upper}{multiple}: {self.sources[symbol.name]}")
        return lines


def _is_name(name: str) -> bool:
    """Whether an expression may have a symbol of that name; words of expressions, as `mod`, are not names."""
    try:
        return Sym.parse(name) == Sym(name)
    except (ValueError, ArithmeticError):
        return False
