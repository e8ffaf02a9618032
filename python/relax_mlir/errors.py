# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's exception and its subclasses; `diagnostics` makes them from MLIR's diagnostics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from .location import SourceLocation, caller_location


class RelaxError(ValueError):
    """An invalid program, or an invalid use of this package.

    The message ends with the line of the user's program to which it refers, if known.
    `location` is that line; `diagnostics` are the compiler's messages, if any.
    """

    def __init__(
        self,
        message: str,
        location: SourceLocation | None = None,
        diagnostics: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.location = location
        self.diagnostics = tuple(diagnostics)


class ModelError(RelaxError):
    """A model that cannot be read or run: an unknown architecture, a wrong configuration, no file."""


class WeightError(ModelError):
    """Weights that are missing, truncated, of the wrong shape, or not finite."""


class TokenizerError(ModelError):
    """A tokenizer or a chat template that cannot be used."""


class FrontendError(RelaxError):
    """A program of another framework that cannot be imported as it is; the message names the op, input or guard."""


class UnsupportedOpError(FrontendError):
    """Ops that no converter is registered for, or a form of an op that its converter does not know.

    Attributes:
      ops: the names of the ops, each with the number of its uses in the program.
      node, attribute: the node and the attribute of an unknown form; None if it is not a single place.
    """

    def __init__(
        self,
        message: str,
        ops: Mapping[str, int],
        location: SourceLocation | None = None,
        *,
        node: str | None = None,
        attribute: str | None = None,
    ) -> None:
        super().__init__(message, location)
        self.ops = dict(ops)
        self.node = node
        self.attribute = attribute


class ContextLengthError(RelaxError):
    """More tokens than the context holds."""


class MissingPackageError(RelaxError, ImportError):
    """A package that an optional feature needs is not installed; the message has the install command."""


class DeviceError(RelaxError, RuntimeError):
    """A device that is missing, cannot run the code, or has failed."""


def fail(message: str) -> NoReturn:
    """Raises an error at the currently running line of the user's code, if any."""
    location = caller_location()
    if not location.line:
        raise RelaxError(message)
    raise RelaxError(f"{message}\n  {indent(location.show())}", location)


def indent(text: str) -> str:
    """Text that continues a line of a message."""
    return text.replace("\n", "\n  ")


def unpicklable(advice: str) -> Callable[[Any], NoReturn]:
    """A `__reduce__` that says that objects of the class cannot be pickled, and what to do."""

    def refuse(self: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} objects cannot be pickled: {advice}")

    return refuse


_POSITION = re.compile(r"\n  at (?P<file>[^\n]+):(?P<line>\d+):(?P<column>\d+)\Z")


def show_source_line(error: BaseException) -> None:
    """Adds the source line to an error of compiled code, whose message ends with the position in the user's program."""
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    if match := _POSITION.search(error.args[0]):
        location = SourceLocation(match["file"], int(match["line"]), int(match["column"]))
        error.args = (f"{error.args[0][: match.start()]}\n  {indent(location.show())}",)
