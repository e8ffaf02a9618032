# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converters by the name of the op that they convert.

A front end has one registry, to which its users add converters of their own ops. What a program needs and nobody has
registered is reported at once, every op with its number of uses and the lines of the user that ask for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn, TypeVar

from ..errors import RelaxError, UnsupportedOpError
from ..location import SourceLocation

Converter = Callable[..., Any]
_F = TypeVar("_F", bound=Converter)

_LINES = 3
"""How many lines of the user are named for each missing op."""


class Use(NamedTuple):
    """One use of an op: its name, and the line of the user's program, where it is known."""

    op: str
    location: SourceLocation | None


@dataclasses.dataclass
class Registry:
    """The converters of a front end.

    Args:
      source: what ops belong to, for messages: "PyTorch".
      hint: how a user adds a converter, for messages.
    """

    source: str
    hint: str
    converters: dict[str, Converter] = dataclasses.field(default_factory=dict)

    def register(self, *names: str, replace: bool = False) -> Callable[[_F], _F]:
        """Registers a function as the converter of these ops.

        A name is an op with its overload (`aten::add.Tensor`), or without it for all overloads that have no converter
        of their own.

        Args:
          replace: take the place of a converter that is there.

        Raises:
          RelaxError: a name has a converter already, or is not a name.
        """
        for name in names:
            if not isinstance(name, str) or not name:
                raise RelaxError(f"expected the name of an op, such as 'mylib::op', got {name!r}")
            if name in self.converters and not replace:
                raise RelaxError(f"'{name}' has a converter already; replace=True takes its place")

        def add(function: _F) -> _F:
            for name in names:
                self.converters[name] = function
            return function

        return add

    def find(self, name: str) -> Converter | None:
        """The converter of an op, by its name with the overload, else without; None if there is none."""
        return self.converters.get(name) or self.converters.get(name.rpartition("::")[0] + "::" + _base(name))

    def require(self, uses: Iterable[Use]) -> None:
        """Checks that all of these ops have converters.

        Raises:
          UnsupportedOpError: some have none; the message lists all of them.
        """
        missing: dict[str, list[SourceLocation | None]] = {}
        for use in uses:
            if self.find(use.op) is None:
                missing.setdefault(use.op, []).append(use.location)
        if missing:
            self._fail(missing)

    def _fail(self, missing: dict[str, list[SourceLocation | None]]) -> NoReturn:
        count = len(missing)
        lines = [f"{count} {self.source} op{'s have' if count > 1 else ' has'} no converter:"]
        first = None
        for name, locations in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
            lines.append(f"  {name}, used {_times(len(locations))}")
            known = list(dict.fromkeys(location for location in locations if location))
            lines += [f"    at {location}: {location.text.strip()}".rstrip(": ") for location in known[:_LINES]]
            if len(known) > _LINES:
                lines.append(f"    and {len(known) - _LINES} more lines")
            first = first or next(iter(known), None)
        lines.append(self.hint)
        ops = {name: len(locations) for name, locations in missing.items()}
        raise UnsupportedOpError("\n".join(lines), ops, first)


def _base(name: str) -> str:
    return name.rpartition("::")[2].partition(".")[0]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
