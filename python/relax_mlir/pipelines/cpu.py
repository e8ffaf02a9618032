# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect for a CPU: the phases in their order."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _relax
from ._generated import (
    CheckIndices,
    FuseOps,
    FuseTIR,
    InlineDataflow,
    InsertKills,
    Legalize,
    LiftWorkspace,
    LowerCallTIR,
    LowerToHost,
    PlanMemory,
    ReuseInPlace,
    UpdateInPlace,
)
from .passes import KernelsToLoops, LoopsToLLVM, Simplify, SymbolDCE
from .pipeline import Pipeline, Step


def make_kernels(many_threads: bool = False, dispatch: Sequence[Step] = ()) -> Pipeline:
    """Graph ops become kernels; equal kernels are created once. `many_threads`: legalize for parallel devices.

    Before that, `dispatch` maps ops to libraries. Indices are checked on the host; on devices (`many_threads`), kernels
    clamp or drop invalid indices instead.
    """
    checks = [] if many_threads else [CheckIndices()]
    return Pipeline([Simplify(), *dispatch, *checks, Legalize(many_threads=many_threads)])


def fuse_kernels(own: Sequence[Step] = ()) -> Pipeline:
    """Fuses consecutive kernels, as far as their loops allow.

    Before that, each private function marked `relax.primitive` becomes one kernel, which stays as it is: functions that
    the program marks, and those that the passes `own` make of calls of kernels.
    """
    return Pipeline(
        [
            *own,
            FuseTIR(final=True),
            FuseOps(),
            FuseTIR(),
            SymbolDCE(),  # kernels that are no longer called
        ]
    )


def make_destinations() -> Pipeline:
    """Gives each call the memory that it writes, which may be an input's memory."""
    return Pipeline(
        [
            InlineDataflow(),  # allocation is a side effect
            UpdateInPlace(),  # reads the loops of kernels, which must be in tensor form
            SymbolDCE(),  # kernels that copied, and copies that were not needed
            LowerCallTIR(),
            ReuseInPlace(),  # also reads kernels in tensor form
        ]
    )


def make_loops(vector_bits: int) -> Pipeline:
    """Kernels become vector loops over buffers; their callers provide their scratch memory."""
    return Pipeline([KernelsToLoops(vector_bits), LiftWorkspace()])


def plan_memory(use_bounds: bool = False) -> Pipeline:
    """Assigns storage to every tensor and every workspace, and ends the lifetime of that storage.

    With `use_bounds`, storage is sized for the declared bounds of symbols, so that a call allocates the same memory for
    all sizes; otherwise it is sized for each call.
    """
    return Pipeline([PlanMemory(use_bounds=use_bounds), InsertKills()])


def make_code(vector_bits: int) -> Pipeline:
    """Graph functions become host code, and everything the LLVM dialect."""
    return Pipeline(
        [
            LowerToHost(),
            KernelsToLoops(vector_bits),  # kernels that are still in tensor form
            LoopsToLLVM(),
        ]
    )


def default_pipeline(
    use_bounds: bool = False, vector_bits: int | None = None, *, own_fusion: Sequence[Step] = ()
) -> Pipeline:
    """From graph ops to calls of kernels in planned memory; `vector_bits` is this machine's by default.

    `own_fusion` are passes that fuse kernels before the default ones do (`fuse_kernels`).
    """
    vector_bits = vector_bits or _relax.vector_bits(*_relax.host_target())
    return Pipeline(
        [
            make_kernels(),
            fuse_kernels(own_fusion),
            make_destinations(),
            make_loops(vector_bits),
            plan_memory(use_bounds),
        ]
    )


def lower_for_cpu(vector_bits: int) -> Pipeline:
    """The whole pipeline, from graph ops to the LLVM dialect."""
    return Pipeline([default_pipeline(vector_bits=vector_bits), make_code(vector_bits)])
