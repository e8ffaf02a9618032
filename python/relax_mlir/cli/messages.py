# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The messages that a user enters in `relax-mlir chat`, of one line or of several."""

from __future__ import annotations

import functools
import sys

from rich.console import Console
from rich.text import Text

_QUOTES = '"""'
"""What a message of several lines begins and ends with."""


def read_message(console: Console) -> str:
    """The next message, without spaces around it.

    A message is a line, or several lines that were pasted into a terminal, or what lies between three quotes at the
    beginning of a line and three quotes at the end of one.

    Raises:
      EOFError: the input is over.
    """
    line = _read_line(console, "> ").strip()
    if not line.startswith(_QUOTES):
        return line
    text = line[len(_QUOTES) :]
    while not text.rstrip().endswith(_QUOTES):
        try:
            text += "\n" + _read_line(console, ". ")
        except EOFError:
            return text.strip()
    return text.rstrip().removesuffix(_QUOTES).strip()


def _read_line(console: Console, mark: str) -> str:
    return input(mark) if _has_readline() else console.input(Text(mark, style="bold"))


@functools.cache
def _has_readline() -> bool:
    """Whether GNU readline reads the lines. It takes the lines of a pasted text as one, where a terminal marks them."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        import readline
    except ImportError:
        return False
    if "libedit" in (readline.__doc__ or ""):
        return False
    readline.parse_and_bind("set enable-bracketed-paste on")
    return True
