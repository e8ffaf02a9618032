# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of ops run on.

A test module that has `RUNS_ON`, names of targets, runs each of its tests on each of them (conftest.py). A target that
is added here, with a function that loads a program for it, runs all that the others run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import relax_mlir
from relax_mlir.runtime import to_numpy

Call = Callable[..., Sequence[np.ndarray]]
"""`call("main", x, y)` gives the results as arrays."""


def _on_cpu(source: str) -> Call:
    executable = relax_mlir.compile(relax_mlir.parse(source))

    def call(name: str, *arguments: Any) -> list[np.ndarray]:
        results = to_numpy(executable[name](*arguments))
        return list(results) if isinstance(results, tuple) else [results]

    return call


def _interpreted(source: str) -> Call:
    from kernel_runner import Interpreter

    return Interpreter(source)


LOADERS: dict[str, Callable[[str], Call]] = {
    # Kernels by passes of MLIR alone, the rest by a small interpreter: what legalisation means.
    "interpreter": _interpreted,
    "cpu": _on_cpu,
}
COMPILED = tuple(name for name in LOADERS if name != "interpreter")
ALL = tuple(LOADERS)

current = "cpu"
"""The target of the test that runs; set by the fixture `target`."""


def load(source: str) -> Call:
    """A program for the current target."""
    return LOADERS[current](source)
