# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `relax-mlir`. What a subcommand needs is imported when it runs."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn, TextIO


def main() -> None:
    """Runs the command line; an error of ours is one message and the exit status 1."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode))
        if name != "stdin":  # what the terminal's encoding lacks is shown by its number
            with contextlib.suppress(AttributeError):
                getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        status = _run()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        if error.filename is not None:  # streams have no names
            print(f"error: '{error.filename}': {error.strerror}", file=sys.stderr)
            sys.exit(1)
        _fail_to_write(error)
    sys.exit(status)


def _run() -> int | str | None:
    """The exit status of the command."""
    from ..errors import MissingPackageError, RelaxError

    try:
        try:
            from .app import app
        except ImportError as error:
            raise MissingPackageError(
                f"the command line needs a package that cannot be imported ({error}); "
                "install it with: pip install typer rich"
            ) from None
        app()
    except RelaxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: there is not enough memory", file=sys.stderr)
        return 1
    except SystemExit as end:  # typer ends all commands so
        return end.code
    return 0


def _fail_to_write(error: OSError) -> NoReturn:
    """Ends the command, whose output does not arrive: nobody reads it any more, or the disk is full."""
    if not isinstance(error, BrokenPipeError):
        with contextlib.suppress(OSError):
            print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        _drop(stream)
    sys.exit(1)


def _drop(stream: TextIO) -> None:
    """Leads what is left in a stream nowhere, as Python writes it when it ends, and would fail again."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
