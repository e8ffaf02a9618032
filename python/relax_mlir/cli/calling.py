# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`relax-mlir run`: calls a function of a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import RelaxError
from .inputs import bind, fit, parse_inputs, require_all
from .notes import progress
from .programs import open_program
from .results import Destinations, show


@contextmanager
def call_errors() -> Iterator[None]:
    """Turns what a call raises into an error of one message."""
    try:
        yield
    except RelaxError:
        raise
    except (TypeError, ValueError, MemoryError, RuntimeError, OverflowError, KeyError) as error:
        raise RelaxError(error.args[0] if isinstance(error, KeyError) else str(error)) from None


def call(
    source: str,
    arguments: Sequence[str],
    *,
    function: str = "main",
    outputs: Sequence[str] = (),
    folder: Path | None = None,
    target: str | None = None,
) -> None:
    """Calls a program and shows its results.

    Args:
      arguments: inputs, as `parse_inputs` takes them.
      outputs, folder: where the results go, as `Destinations` takes them.

    Raises:
      RelaxError: an input is wrong, the program cannot be compiled or called, or a result cannot be written.
    """
    destinations = Destinations(outputs, folder)
    given = parse_inputs(arguments)
    program = open_program(source, target, function)
    bound = bind(given, program.inputs, program.function)
    require_all(bound, program.inputs, program.function)
    values, _ = fit(bound, program.inputs, program.ranges)
    if program.outputs is not None:
        destinations.check(program.outputs)
    with progress(f"compiling {source}"):
        run = program.prepare()
    with call_errors():
        results = run(values)
    named = dict(zip(program.outputs or map(str, range(len(results))), results))
    show(named)
    destinations.write(named)
