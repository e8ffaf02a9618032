# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The targets of the op tests.

A test module with `RUNS_ON`, a list of target names, runs each of its tests on each target (conftest.py). A target that
is added here, with a function that loads a program for it, runs the same tests as the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import relax_mlir
from relax_mlir.runtime import to_numpy

Call = Callable[..., Sequence[np.ndarray]]
"""`call("main", x, y)` returns the results as arrays."""


def _on_cpu(source: str) -> Call:
    executable = relax_mlir.compile(relax_mlir.parse(source))

    def call(name: str, *arguments: Any) -> list[np.ndarray]:
        results = to_numpy(executable[name](*arguments))
        return list(results) if isinstance(results, tuple) else [results]

    return call


def _on_emulated_gpu(source: str) -> Call:
    import emulated  # noqa: F401 - makes the emulator the driver

    return _on_device(source, "cuda", "cuda:emulated")


def _on_vulkan(source: str) -> Call:
    import vulkan  # chooses the driver, and reports why there is none

    vulkan.require()
    return vulkan.skipping(_on_device(source, "vulkan", "vulkan"))


def _on_bound_vulkan(source: str) -> Call:
    import vulkan

    vulkan.require()
    return _on_device(source, "vulkan", f"vulkan:subgroup_{relax_mlir.Device('vulkan').subgroup}_bound")


def _on_device(source: str, kind: str, target: str) -> Call:
    device = relax_mlir.Device(kind)
    executable = relax_mlir.compile(relax_mlir.parse(source), target=target)

    def put(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(map(put, value))
        return device.put(value) if isinstance(value, np.ndarray) else value

    def get(value: Any) -> Any:
        return device.get(value) if hasattr(value, "__dlpack__") else value

    def call(name: str, *arguments: Any) -> list[np.ndarray]:
        results = executable[name](*map(put, arguments))
        return list(map(get, results)) if type(results) is tuple else [get(results)]

    return call


def _interpreted(source: str) -> Call:
    from kernel_runner import Interpreter

    return Interpreter(source)


needs_linker = pytest.mark.skipif(not shutil.which("cc"), reason="model.so is linked by a C compiler; there is none")

LOADERS: dict[str, Callable[[str], Call]] = {
    # Kernels by MLIR's own passes, the rest by a small interpreter: the semantics of legalization.
    "interpreter": _interpreted,
    "cpu": _on_cpu,
    # GPU kernels by the same passes as for a real GPU, run by test/emulator.
    "cuda-emulated": _on_emulated_gpu,
    # SPIR-V on the first Vulkan device, or lavapipe without a GPU.
    "vulkan": _on_vulkan,
    # SPIR-V with buffers in descriptor sets, for devices without buffer addresses.
    "vulkan-bound": _on_bound_vulkan,
}
COMPILED = tuple(name for name in LOADERS if name != "interpreter")
ALL = tuple(LOADERS)
SAMPLED = {"interpreter": 16, "cuda-emulated": 20, "vulkan": 60, "vulkan-bound": 60}
"""Targets of which a normal run takes one in this number of cases (sample.py), since they compute the same as "cpu". On
"cpu", one in a module's `ONE_OF` cases runs, and all cases if the module has no `ONE_OF`. A larger `ONE_OF` also
applies to these targets."""
RARE = ("vulkan-bound",)
"""Targets of which a normal run need not include a case of each test."""

OFF_ON_LAVAPIPE = ("test_avg_pool[vulkan-shape3-windows3-", "test_avg_pool[vulkan-bound-shape3-windows3-")
"""Cases that Mesa's driver for the CPU gets wrong (docs/vulkan.md)."""

current = "cpu"
"""The target of the running test; set by the fixture `target`."""


def load(source: str) -> Call:
    """A program for the current target."""
    return LOADERS[current](source)
