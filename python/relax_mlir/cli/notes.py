# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What commands say next to their answers, on the standard error: notes, and the progress of long work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..progress import showing

# Answers go to the standard output, everything about them to the standard error. Paths, names and errors are text of
# others, in which "[x]" and ":x:" are just that.
notes = Console(stderr=True, highlight=False, markup=False, emoji=False)


def note(text: str, style: str | None = None) -> None:
    """Says something next to the answer, on one line of any length."""
    notes.print(text, style=style, soft_wrap=True)


Advance = Callable[[int], object]
"""Moves a bar to a number of finished steps."""


@contextmanager
def progress(text: str, total: int | None = None) -> Iterator[Advance]:
    """Shows how far the work of a block is, and the passes of compilations in it; gives what moves it on.

    On a terminal that is a bar, which disappears when the work is done or fails; elsewhere it is lines, which only work
    of more than half a second has.

    Args:
      total: the number of steps; unknown by default.
    """
    if not notes.is_terminal:
        lines = _Lines(text)
        with showing(lambda done, of, name: lines.say(f"[{done + 1}/{of}] {name}" if done < of else "")):
            yield lambda done: lines.say(f"{done} of {total}" if total else "")
        return
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=notes, transient=True) as bars:
        task = bars.add_task(text, total=total)

        def show_pass(done: int, of: int, name: str) -> None:
            bars.update(task, description=f"{text}: {name}" if done < of else text, completed=done, total=of)
            bars.refresh()  # a pass lets no other thread draw

        with showing(show_pass):
            yield lambda done: bars.update(task, description=text, completed=done, total=total)


class _Lines:
    """Lines about work that takes long, at most one in each period."""

    _PERIOD = 0.5  # seconds

    def __init__(self, text: str) -> None:
        self._text = text
        self._latest = time.monotonic()

    def say(self, step: str) -> None:
        now = time.monotonic()
        if step and now - self._latest >= self._PERIOD:
            note(f"{self._text}: {step}", style="dim")
            self._latest = now
