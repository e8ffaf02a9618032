# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of what a compilation is doing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO, Union

from .errors import fail

Progress = Callable[[int, int, str], object]
"""`progress(done, total, name)` is called before each step, with its name, and with `done == total` at the end."""

ProgressLike = Union[bool, Progress, None]
"""True prints to stderr; None and False report nothing."""


def reporter(progress: ProgressLike) -> Progress | None:
    """The function that reports progress, or None.

    Raises:
      RelaxError: `progress` is neither a truth value nor callable.
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        return printer(sys.stderr)
    if not callable(progress):
        fail(f"progress is {progress!r}; expected True or a function of done, total and the name of the step")
    return progress


def printer(file: TextIO) -> Progress:
    """Prints progress: one line that is replaced on a terminal, and a line for each step elsewhere."""
    is_terminal = file.isatty()

    def report(done: int, total: int, name: str) -> None:
        if done == total:
            text = "\r\x1b[K" if is_terminal else ""
        elif is_terminal:
            text = f"\r\x1b[K[{done + 1}/{total}] {name}"
        else:
            text = f"[{done + 1}/{total}] {name}\n"
        file.write(text)
        file.flush()

    return report


def part_of(report: Progress | None, start: int, total: int) -> Progress | None:
    """The report of a part that begins at step `start` of `total` steps; the end of the part is not reported."""
    if report is None:
        return None

    def report_part(done: int, steps: int, name: str) -> None:
        if done < steps:
            report(start + done, total, name)

    return report_part
