# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect and GPU code: the phases in their order.

The phases for the graph are the same as for the CPU (`relax_mlir.pipelines.cpu`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _relax
from ..runtime import device_of
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
from .pipeline import Pipeline, Step


def fuse_kernels(own: Sequence[Step] = ()) -> Pipeline:
    """Fuses as on the CPU, after `own` passes, and also matmuls of one operand with the producer of its rows, for a
    single launch."""
    return Pipeline(
        [
            *own,
            FuseTIR(final=True),
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
    """Kernels become launches on buffers, with invariants noted; their callers provide their scratch memory."""
    return Pipeline([KernelsToLaunches(chip), LiftWorkspace(), NoteInvariants()])


def dispatch(libraries: Sequence[str]) -> Pipeline:
    """Maps ops to libraries; "cublaslt:auto" only those that cuBLASLt is known to compute faster than our kernels."""
    steps = {"cublaslt": DispatchCublasLt(), "cublaslt:auto": DispatchCublasLt(only_where_faster=True)}
    return Pipeline([steps[name] for name in libraries])


def default_pipeline(
    use_bounds: bool = False, chip: str = "", libraries: Sequence[str] = (), *, own_fusion: Sequence[Step] = ()
) -> Pipeline:
    """From graph ops to calls of kernels in planned memory; kernels use chip-specific features if `chip` is given.

    `own_fusion` are passes that fuse kernels before the default ones do (`fuse_kernels`).
    """
    return Pipeline(
        [
            make_kernels(many_threads=True, dispatch=dispatch(libraries).steps),
            fuse_kernels(own_fusion),
            make_destinations(),
            make_launches(chip),
            plan_memory(use_bounds),
        ]
    )


def options_of(chip: str) -> dict[str, Any]:
    """The options for a Vulkan device: "subgroup_8_bound" has no buffer addresses, "_narrow" also no 64-bit integers;
    kernels for "_overlap" and "_matrices" can wait for other kernels, and "_matrices" has more push constants."""
    device_of(chip)  # raises for a name that is not one of a GPU
    return {name: value for name, value in (_relax.parse_chip(chip) or {}).items() if name != "device"}


def launches_to_code(chip: str) -> LaunchesToLLVM | LaunchesToVulkan:
    """Launched kernels become code for a chip, and host code the LLVM dialect."""
    return LaunchesToVulkan(**options_of(chip)) if device_of(chip) == "vulkan" else LaunchesToLLVM(chip)


def make_code(chip: str) -> Pipeline:
    """Graph functions become host code in the LLVM dialect, and launched kernels code for a chip: PTX for "sm_90",
    SPIR-V for "subgroup_8"."""
    return Pipeline(
        [
            LowerToHost(device=device_of(chip)),
            KernelsToLaunches(chip),  # kernels that are still in tensor form
            launches_to_code(chip),
        ]
    )
