# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules with functions on the host and on a GPU: each side has its own pipeline.

Both sides are merged again as host code, which is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ..module import Module
from ..runtime import device_of
from . import cpu, gpu
from ._generated import CheckDevices, LowerToHost, OnDevice
from .passes import Simplify
from .pipeline import Pipeline


def has_host_functions(module: Module) -> bool:
    """Whether a graph function is placed on the host (`relax.device = "host"`)."""
    return any(
        operation.operation.name == "relax.func" and runs_on_host(operation.operation)
        for operation in module.ir.body.operations
    )


def runs_on_host(function: ir.Operation) -> bool:
    """Whether a graph function is placed on the host."""
    place = function.attributes["relax.device"] if "relax.device" in function.attributes else None
    return place is not None and ir.StringAttr(place).value == "host"


def on_side(place: str, pipeline: Pipeline) -> OnDevice:
    """Runs compiler passes only on the functions of one side, "host" or "device"."""
    return OnDevice(place, f"{{{pipeline.to_text()}}}")


def default_pipeline(
    use_bounds: bool = False, chip: str = "", vector_bits: int | None = None, libraries: Sequence[str] = ()
) -> Pipeline:
    """From graph ops to calls of host and GPU kernels in planned memory."""
    return Pipeline(
        [
            CheckDevices(),  # as the user wrote it
            Simplify(),  # across the sides
            on_side("host", cpu.default_pipeline(use_bounds, vector_bits)),
            on_side("device", gpu.default_pipeline(use_bounds, chip, libraries)),
        ]
    )


def make_code(chip: str) -> Pipeline:
    """Graph functions become host code in the LLVM dialect, host kernels too, and launched kernels GPU code."""
    device = device_of(chip)
    return Pipeline([LowerToHost(device=device), gpu.launches_to_code(chip)])
