# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of what a compilation is doing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TextIO, Union

from .errors import fail

Progress = Callable[[int, int, str], object]
"""`progress(done, total, name)` is called before each step, with its name, and with `done == total` at the end."""

ProgressLike = Union[bool, Progress, None]
"""True shows a bar on a terminal, and prints a line for each step elsewhere, to stderr. False reports nothing, and so
does None outside of `showing`."""

_shown: ContextVar[ProgressLike] = ContextVar("_shown", default=None)


@contextlib.contextmanager
def showing(progress: ProgressLike = True) -> Iterator[None]:
    """Reports each compilation in a block that does not say `progress=` itself, whatever starts it in this thread.

    >>> with showing():
    ...     program = from_exported_program(exported).compile()
    """
    _check(progress)
    token = _shown.set(progress)
    try:
        yield
    finally:
        _shown.reset(token)


@contextlib.contextmanager
def reporting(progress: ProgressLike) -> Iterator[Progress | None]:
    """The function that reports the progress of a block, or None. A bar is gone after the block, also if it fails.

    Raises:
      RelaxError: `progress` is neither a truth value nor callable.
    """
    _check(progress)
    progress = _shown.get() if progress is None else progress
    if progress is True:
        with printer(sys.stderr) as report:
            yield report
    else:
        yield progress or None


def _check(progress: ProgressLike) -> None:
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        fail(f"progress is {progress!r}; expected True or a function of done, total and the name of the step")


@contextlib.contextmanager
def printer(file: TextIO) -> Iterator[Progress]:
    """Prints progress: a line for each step, or on a terminal a bar; without `rich`, one line that is replaced."""
    if not file.isatty():
        yield lambda done, total, name: _print_line(file, done, total, name)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars
    except ModuleNotFoundError:
        try:
            yield lambda done, total, name: _replace_line(file, done, total, name)
        finally:
            _replace_line(file, 0, 0, "")
        return
    columns = [BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()]
    with Bars(*columns, console=Console(file=file), transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, total, name: bars.update(task, completed=done, total=total, description=name, refresh=True)


def _print_line(file: TextIO, done: int, total: int, name: str) -> None:
    if done < total:
        file.write(f"[{done + 1}/{total}] {name}\n")
        file.flush()


def _replace_line(file: TextIO, done: int, total: int, name: str) -> None:
    file.write("\r\x1b[K" + (f"[{done + 1}/{total}] {name}" if done < total else ""))
    file.flush()


def part_of(report: Progress | None, start: int, total: int) -> Progress | None:
    """The report of a part that begins at step `start` of `total` steps; the end of the part is not reported."""
    if report is None:
        return None

    def report_part(done: int, steps: int, name: str) -> None:
        if done < steps:
            report(start + done, total, name)

    return report_part
