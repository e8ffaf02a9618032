# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: reading and writing them as text and as bytecode."""

from __future__ import annotations

import html
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

from mlir import ir

from . import _relax
from .context import resolve_context
from .diagnostics import collected_errors, error_from, verify
from .errors import RelaxError
from .files import write_whole

PathLike = Union[str, "os.PathLike[str]"]

_SHOWN_LINES = 200
_BYTECODE_MAGIC = b"ML\xefR"


class Module:
    """A program. `ir` is the `mlir` package's module; `str(module)` is its text."""

    def __init__(self, module: ir.Module) -> None:
        self.ir = module

    @property
    def context(self) -> ir.Context:
        return self.ir.context

    @property
    def functions(self) -> Sequence[str]:
        """The names of all functions, graph functions and kernels, in order."""
        return [
            operation.attributes["sym_name"].value
            for operation in self.ir.body.operations
            if "sym_name" in operation.attributes
        ]

    def __getitem__(self, name: str) -> ir.Operation:
        """The function of that name."""
        for operation in self.ir.body.operations:
            if "sym_name" in operation.attributes and operation.attributes["sym_name"].value == name:
                return operation.operation
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.functions

    def verify(self) -> None:
        """Raises `RelaxError` unless the module is valid."""
        verify(self.ir.operation)

    def clone(self) -> Module:
        """A copy that shares nothing with this module."""
        copy = ir.Module.create(self.ir.operation.location)
        attributes = self.ir.operation.attributes
        for name in attributes.keys():  # noqa: SIM118 - iteration differs between releases
            copy.operation.attributes[name] = attributes[name]
        for operation in self.ir.body.operations:
            copy.body.append(operation.operation.clone(ip=False))
        return Module(copy)

    def __copy__(self) -> Module:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.to_bytecode(),)  # in the default context of the process that unpickles it

    def to_text(self, *, locations: bool = False, large_elements_limit: int | None = None) -> str:
        """The module as text, with source locations if asked for.

        Constants with more than `large_elements_limit` elements are elided; such text cannot be parsed.
        """
        return self.ir.operation.get_asm(enable_debug_info=locations, large_elements_limit=large_elements_limit)

    def __str__(self) -> str:
        return str(self.ir)

    def __repr__(self) -> str:
        return f"Module({', '.join(self.functions)})"

    def _repr_html_(self) -> str:
        """The text for a notebook, without large constants and without what follows the first lines."""
        lines = self.to_text(large_elements_limit=16).splitlines()
        rest = [f"… and {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
        return f"<pre>{html.escape(chr(10).join(lines[:_SHOWN_LINES] + rest))}</pre>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.ir.operation == other.ir.operation

    # A module changes.
    __hash__ = None  # type: ignore[assignment]

    def to_bytecode(self) -> bytes:
        """The module as MLIR bytecode, which keeps source locations."""
        buffer = io.BytesIO()
        self.ir.operation.write_bytecode(buffer)
        return buffer.getvalue()

    def save(self, path: PathLike) -> None:
        """Writes text to a `.mlir` file, and bytecode to a file of any other name (`.mlirbc`).

        Raises:
          RelaxError: the file cannot be written. An existing file stays unchanged.
        """
        path = Path(path)
        data = str(self).encode() + b"\n" if path.suffix == ".mlir" else self.to_bytecode()
        try:
            write_whole(path, data)
        except OSError as error:
            raise RelaxError(f"cannot write '{path}': {error.strerror}") from None


def _parse(data: bytes, name: str, context: ir.Context) -> Module:
    if not data.startswith(_BYTECODE_MAGIC) and b"\0" in data:
        raise RelaxError("it is neither bytecode nor text: it holds a zero byte")
    with collected_errors(context) as errors:
        module = _relax.parse_module(context, data, name)
    if module is None:
        raise error_from(errors, "it holds no valid module")
    return Module(module)


def parse(source: str | bytes, *, context: ir.Context | None = None) -> Module:
    """Parses a module from text or bytecode. Raises `RelaxError` if it is not valid."""
    if not isinstance(source, (str, bytes)):
        raise RelaxError(f"parse takes text or bytecode, got {type(source).__name__}; for a file, load(path)")
    if isinstance(source, str):
        try:
            source = source.encode()
        except UnicodeEncodeError as error:
            raise RelaxError(f"the text of the module is not Unicode: {error}") from None
    return _parse(source, "-", resolve_context(context))


def load(path: PathLike, *, context: ir.Context | None = None) -> Module:
    """Reads a module from a file of text or bytecode."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RelaxError(f"cannot read '{path}': {error.strerror}") from None
    if not data.strip():
        raise RelaxError(f"'{path}' is empty; expected a module as text or bytecode")
    try:
        return _parse(data, os.fspath(path), resolve_context(context))
    except RelaxError as error:
        kind = "bytecode" if data.startswith(_BYTECODE_MAGIC) else "text"
        raise RelaxError(f"cannot load '{path}' as {kind}: {error}", error.location, error.diagnostics) from None
