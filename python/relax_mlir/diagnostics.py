# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors from the diagnostics of MLIR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mlir import ir

from . import _relax
from .errors import RelaxError, indent
from .location import SourceLocation


def format_diagnostic(diagnostic: Any) -> str:
    """The message with its position and source line, then the notes in the same form."""
    location = SourceLocation.from_mlir(diagnostic.location)
    text = diagnostic.message
    if location is not None:
        text += f"\n  {indent(location.show())}"
    for note in diagnostic.notes:
        if note.message.startswith("see current operation"):
            continue  # the source line is clearer
        text += f"\n  note: {indent(format_diagnostic(note))}"
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
