# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect and the code of a GPU: the phases in their order.

The graph's phases are those of the CPU (`relax_mlir.pipelines.cpu`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _relax
from ..errors import RelaxError
from ._generated import (
    DispatchCublasLt,
    FuseOps,
    FuseRowProducers,
    FuseSiblings,
    FuseTIR,
    LiftWorkspace,
    LowerToHost,
    NoteInvariants,
)
from .cpu import make_destinations, make_kernels, plan_memory
from .passes import KernelsToLaunches, LaunchesToLLVM, LaunchesToVulkan, SymbolDCE
from .pipeline import Pipeline


def fuse_kernels() -> Pipeline:
    """As on the CPU; products of one operand, and what makes its rows, become one kernel as well, for one launch."""
    return Pipeline(
        [
            FuseOps(share_operands=True),
            FuseTIR(),
            FuseSiblings(),
            FuseTIR(),
            FuseRowProducers(),
            FuseTIR(),
            SymbolDCE(),
        ]
    )


def make_launches(chip: str = "") -> Pipeline:
    """Kernels become launches on buffers, which know what is constant; their scratch comes from those who call them."""
    return Pipeline([KernelsToLaunches(chip), LiftWorkspace(), NoteInvariants()])


def dispatch(libraries: Sequence[str]) -> Pipeline:
    """Gives to libraries what they take; of "cublaslt:auto" what cuBLASLt is known to do faster than our kernels."""
    steps = {"cublaslt": DispatchCublasLt(), "cublaslt:auto": DispatchCublasLt(only_where_faster=True)}
    return Pipeline([steps[name] for name in libraries])


def default_pipeline(use_bounds: bool = False, chip: str = "", libraries: Sequence[str] = ()) -> Pipeline:
    """From graph ops to calls of kernels in planned memory; kernels use what `chip` alone has, where it is given."""
    return Pipeline(
        [
            make_kernels(many_threads=True, dispatch=dispatch(libraries).steps),
            fuse_kernels(),
            make_destinations(),
            make_launches(chip),
            plan_memory(use_bounds),
        ]
    )


def device_of(chip: str) -> str:
    """The kind of device that a chip is: "subgroup_8" is any of Vulkan with so many threads that exchange values."""
    return _parse(chip)["device"] if chip else ""


def options_of(chip: str) -> dict[str, Any]:
    """The options for a device of Vulkan: "subgroup_8_bound" has no addresses of buffers, "_narrow" no integers of
    64 bits beside; kernels for "_overlap" and "_matrices" can wait for others, those for the latter are pushed more."""
    return {name: value for name, value in _parse(chip).items() if name != "device"}


def _parse(chip: str) -> dict[str, Any]:
    parsed = _relax.parse_chip(chip)
    if parsed is None:
        raise RelaxError(f"there is no GPU {chip!r}; NVIDIA GPUs are named 'sm_90', Vulkan devices 'subgroup_32'")
    return parsed


def launches_to_code(chip: str) -> LaunchesToLLVM | LaunchesToVulkan:
    """What is launched becomes code of a chip, and host code the LLVM dialect."""
    return LaunchesToVulkan(**options_of(chip)) if device_of(chip) == "vulkan" else LaunchesToLLVM(chip)


def make_code(chip: str) -> Pipeline:
    """Graph functions become host code in the LLVM dialect, and what they launch code of a chip: PTX for "sm_90",
    SPIR-V for "subgroup_8"."""
    return Pipeline(
        [
            LowerToHost(device=device_of(chip)),
            KernelsToLaunches(chip),  # those that are on tensors still
            launches_to_code(chip),
        ]
    )
