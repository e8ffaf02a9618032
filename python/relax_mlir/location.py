# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source positions: from the Python stack to MLIR locations, and back to readable text."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import linecache
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlir import ir

_PACKAGE = __name__.partition(".")[0]


@dataclasses.dataclass(frozen=True)
class SourceLocation:
    """A position in a source file; lines and columns count from one, a column of zero is unknown."""

    file: str
    line: int
    column: int = 0
    function: str = ""

    @property
    def text(self) -> str:
        """The source line, or an empty string if the file cannot be read."""
        return linecache.getline(self.file, self.line).rstrip()

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        function = f" in {self.function}" if self.function else ""
        return f"{self.file}:{self.line}{column}{function}"

    def show(self) -> str:
        """The position, with the source line and a marker under it if the file can be read."""
        line = self.text
        code = line.strip()
        if not code:
            return f"at {self}"
        mark = ""
        if self.column:
            # Columns count bytes, as MLIR's do.
            before = line.encode()[: self.column - 1].decode(errors="replace")
            mark = "\n    " + " " * max(0, len(before) - (len(line) - len(line.lstrip()))) + "^"
        return f"at {self}\n    {code}{mark}"

    def to_mlir(self, context: ir.Context) -> ir.Location:
        """The MLIR location: the file position within the function's name; unknown if there is no line."""
        from mlir import ir  # compiled code has locations without the compiler

        if not self.line:
            return ir.Location.unknown(context=context)
        position = ir.Location.file(self.file, self.line, self.column, context=context)
        if not self.function:
            return position
        return ir.Location.name(self.function, childLoc=position, context=context)

    @staticmethod
    def from_mlir(location: ir.Location) -> SourceLocation | None:
        """The first file position in an MLIR location; None if it has none."""
        from . import _relax

        found = _relax.read_location(location)
        return None if found is None else SourceLocation(*found)


def caller_frame() -> FrameType | None:
    """The innermost frame of the user's code: the first one outside this package; None when called from the command
    line tool, which involves no user code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(f"{_PACKAGE}.cli"):
            return None
        if module.partition(".")[0] != _PACKAGE and module != "contextlib":
            return frame
        frame = frame.f_back
    return None


_thread = threading.local()


@contextmanager
def located(location: SourceLocation | None) -> Iterator[None]:
    """Gives ops that the block builds this location, for front ends that know the lines of another program.

    With None, ops get the caller's line as usual.
    """
    before = getattr(_thread, "location", None)
    _thread.location = location
    try:
        yield
    finally:
        _thread.location = before


def caller_location() -> SourceLocation:
    """The current location in the user's code, or the one that `located` set."""
    if location := getattr(_thread, "location", None):
        return location
    frame = caller_frame()
    if frame is None:
        return SourceLocation("<unknown>", 0)
    return _position(frame.f_code, frame.f_lasti, frame.f_lineno)


@functools.lru_cache(maxsize=4096)
def _position(code: CodeType, instruction: int, line: int) -> SourceLocation:
    column = 0
    if hasattr(code, "co_positions"):  # Python 3.11
        positions = itertools.islice(code.co_positions(), instruction // 2, None)
        start, _, offset, _ = next(positions, (None, None, None, None))
        if start is not None and offset is not None:
            line, column = start, offset + 1
    file = code.co_filename
    if not file.startswith("<"):
        file = os.path.abspath(file)
    function = "" if code.co_name == "<module>" else code.co_name
    return SourceLocation(file, line, column, function)
