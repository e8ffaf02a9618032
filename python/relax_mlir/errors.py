# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's exception and its subclasses, and their construction from MLIR diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from mlir import ir

from . import _relax
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
    raise RelaxError(f"{message}\n  {_indent(location.show())}", location)


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


_POSITION = re.compile(r"\n  at (?P<file>[^\n]+):(?P<line>\d+):(?P<column>\d+)\Z")


def show_source_line(error: BaseException) -> None:
    """Adds the source line to an error of compiled code, whose message ends with the position in the user's program."""
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    if match := _POSITION.search(error.args[0]):
        location = SourceLocation(match["file"], int(match["line"]), int(match["column"]))
        error.args = (f"{error.args[0][: match.start()]}\n  {_indent(location.show())}",)


def format_diagnostic(diagnostic: Any) -> str:
    """The message with its position and source line, then the notes in the same form."""
    location = SourceLocation.from_mlir(diagnostic.location)
    text = diagnostic.message
    if location is not None:
        text += f"\n  {_indent(location.show())}"
    for note in diagnostic.notes:
        if note.message.startswith("see current operation"):
            continue  # the source line is clearer
        text += f"\n  note: {_indent(format_diagnostic(note))}"
    return text


def error_from(diagnostics: Sequence[Any], otherwise: str) -> RelaxError:
    """The error that reports these diagnostics, with the message `otherwise` if there are none."""
    if not diagnostics:
        return RelaxError(otherwise)
    locations = [SourceLocation.from_mlir(diagnostic.location) for diagnostic in diagnostics]
    return RelaxError(
        "\n".join(format_diagnostic(diagnostic) for diagnostic in diagnostics),
        next(filter(None, locations), None),
        [diagnostic.message for diagnostic in diagnostics],
    )


@contextmanager
def collected_errors(context: ir.Context) -> Iterator[list[Any]]:
    """Collects the errors that this thread causes in a context while the block runs."""
    errors: list[Any] = []
    scope = _relax.DiagnosticScope(context)
    try:
        yield errors
    finally:
        scope.close()
        errors += scope.diagnostics


def verify(operation: ir.Operation) -> None:
    """Raises an error unless the op and everything inside it are valid."""
    with collected_errors(operation.context) as errors:
        valid = _relax.verify(operation)
    if not valid:
        raise error_from(errors, "the program is not valid")


@contextmanager
def relax_errors(otherwise: str = "the program is not valid") -> Iterator[None]:
    """Turns the exception of MLIR's bindings into a `RelaxError`."""
    try:
        yield
    except ir.MLIRError as error:
        raise error_from(error.error_diagnostics, error.message or otherwise) from None
